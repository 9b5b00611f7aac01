"""Generates suite_format.h from `suite`.

Usage:

    python -m tests.conformance.cpp_header OUTPUT
"""

from __future__ import annotations

import sys

from cmsis_nn_delegate.format import generated
from cmsis_nn_delegate.format.cpp import struct_lines
from tests.conformance import suite

_TEXT = """\
// Generated from tests/conformance/suite.py. Do not edit.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::conformance {{

inline constexpr std::uint32_t kSuiteMagic = 0x{magic:08x};
inline constexpr std::uint32_t kSuiteVersion = {version};
inline constexpr std::uint32_t kSuiteAlignment = {alignment};

{structs}
}}  // namespace cmsis_nn_delegate::conformance
"""


def generate() -> str:
    """Returns the text of the header."""
    return _TEXT.format(
        magic=suite.MAGIC,
        version=suite.VERSION,
        alignment=suite.ALIGNMENT,
        structs="\n".join(struct_lines(suite.SUITE_HEADER) + struct_lines(suite.CASE_HEADER)),
    )


if __name__ == "__main__":
    sys.exit(generated.write(sys.argv, __doc__, generate))
