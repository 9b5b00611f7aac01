"""Writes the files that are generated for every operator of the format: `write_sources.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from codegen.operator_checks import check_function

from cmsis_nn_delegate.emit import c_header, cpp_calls
from cmsis_nn_delegate.format.cpp import struct_lines
from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import TARGETS
from tests.extension import network
from tests.extension.running_peak import KERNEL

ARGS = """\
#pragma once

#include "runtime/payload/operators.h"

namespace cmsis_nn_delegate {{
namespace payload {{

{struct}
}}  // namespace payload
namespace operators {{

bool check_running_peak(const CallCheck& call, const void* args);
inline constexpr Operator kRunningPeak = {{
    payload::Opcode::kMul, sizeof(payload::RunningPeakArgs), check_running_peak}};

}}  // namespace operators
}}  // namespace cmsis_nn_delegate
"""

CHECK = """\
#include "runtime/payload/call_check.h"
#include "tests/extension/running_peak_args.h"

namespace cmsis_nn_delegate::operators {{

using bounds::volume;

{check}
}}  // namespace cmsis_nn_delegate::operators
"""


def array(name: str, data: bytes) -> str:
    return f"alignas(16) inline constexpr unsigned char {name}[] = {{{', '.join(map(str, data))}}};\n"


def write_calls(folder: Path, payload: bytes) -> None:
    """Writes the model as C++ calls: peaks.h, peaks.model.h and peaks.model.cc."""
    (folder / "peaks.h").write_text(c_header.generate_header("peaks", payload))
    (folder / "peaks.model.h").write_text(cpp_calls.generate_header("peaks", payload))
    (folder / "peaks.model.cc").write_text(cpp_calls.generate_source("peaks", payload))


def main(folder: str) -> None:
    (Path(folder) / "running_peak_args.h").write_text(ARGS.format(struct="\n".join(struct_lines(KERNEL.args))))
    (Path(folder) / "running_peak_check.cc").write_text(CHECK.format(check=check_function(KERNEL.name, KERNEL.args)))
    with network.registered():
        graph = network.graph()
        # A payload for each instruction set; they differ in nothing else.
        payloads = {t.isa: encode(graph, t, PayloadOptions(IoPlacement.CALLER)).payload for t in TARGETS.values()}
        expected = b"".join(output.tobytes() for run in network.outputs(graph) for output in run)
        write_calls(Path(folder), payloads[Isa.DSP])
    text = "#pragma once\n\n"
    text += "".join(array(f"k{isa.name.capitalize()}Payload", payload) for isa, payload in payloads.items())
    text += array("kInputs", network.inputs().tobytes()) + array("kOutputs", expected)
    text += f"inline constexpr unsigned kCount = {network.COUNT};\n"
    text += f"inline constexpr unsigned kExecutions = {network.EXECUTIONS};\n"
    (Path(folder) / "data.h").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
