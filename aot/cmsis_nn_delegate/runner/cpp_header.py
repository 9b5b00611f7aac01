"""Generates runtime/runner/job_format.h from `job`.

Usage:

    python -m cmsis_nn_delegate.runner.cpp_header OUTPUT
"""

from __future__ import annotations

import sys

from ..format import generated
from ..format.cpp import struct_lines
from . import job

_BANNER = """\
// Generated from aot/cmsis_nn_delegate/runner/job.py. Do not edit.
//
// The job that the firmware runner reads from its mailbox; see that file.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::runner {
"""


def generate() -> str:
    """Returns the text of the header."""
    lines = [
        "",
        f"inline constexpr std::uint32_t kJobMagic = 0x{job.MAGIC:08x};",
        f"inline constexpr std::uint32_t kJobVersion = {job.VERSION};",
        f"inline constexpr std::uint32_t kJobAlignment = {job.ALIGNMENT};",
        "",
        "/// What the runner does besides running.",
        "enum JobFlag : std::uint32_t {",
    ]
    for flag in job.JobFlag:
        if flag:
            name = "".join(part.capitalize() for part in str(flag.name).lower().split("_"))
            lines.append(f"  kJob{name} = {int(flag)},")
    lines += ["};", ""]
    lines += struct_lines(job.JOB_HEADER)
    lines += struct_lines(job.JOB_LAYER)
    lines += ["}  // namespace cmsis_nn_delegate::runner", ""]
    return _BANNER + "\n".join(lines)


if __name__ == "__main__":
    sys.exit(generated.write(sys.argv, __doc__, generate))
