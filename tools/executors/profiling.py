"""Profiles a network for ExecuTorch's Inspector, with an ETRecord, in the host runtime or on a simulated core.

    bazel run //tools/executors:profile -- NETWORK CORE [FOLDER]

runs NETWORK on CORE's profile image, prints the Inspector's table of the instructions (or ticks, if the
simulator does not count) of every call, and writes FOLDER/NETWORK.{pte,etrecord,etdump}.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import torch
from executorch.devtools import Inspector
from executorch.devtools.inspector import TimeScale

from cmsis_nn_delegate import compile_model
from cmsis_nn_delegate.payload.decode import Payload, decode
from cmsis_nn_delegate.runner import etdump
from cmsis_nn_delegate.runner.job import build_job, build_program_job
from cmsis_nn_delegate.runner.result import RunResult, parse_report
from examples.mlperf_tiny.networks import NETWORKS
from tools.executors.running import image, simulate


@dataclass(frozen=True)
class Recorded:
    """A compiled network; the .pte and the ETRecord are in `folder`."""

    payload: Payload
    input: torch.Tensor
    pte: Path
    etrecord: Path


def compile_with_record(network: str, core: str, folder: Path) -> Recorded:
    samples = [x[None] for x in NETWORKS[network].random_inputs(4, 1)]
    calibration = [(x,) for x in samples]
    options = {"strict": True, "etrecord": True, "name": network}
    compiled = compile_model(NETWORKS[network].random(), calibration[0], core, calibration, **options)
    compiled.write(folder)
    return Recorded(decode(compiled.payload), samples[0], folder / f"{network}.pte", folder / f"{network}.etrecord")


def profile_on_device(
    recorded: Recorded, core: str, *, program: bool = False
) -> tuple[RunResult, list[list[int]] | None, str]:
    """Returns the report of one execution on `core`'s profile image, the instructions of the whole and of each call,
    and what the device printed. `program`: use ExecuTorch's executor instead of the standalone runner."""
    inputs = [[recorded.input.contiguous().numpy().tobytes()]]
    if program:
        result = simulate(image(core, "_executorch_profile"), build_program_job(recorded.pte.read_bytes(), inputs))
    else:
        result = simulate(image(core, "_profile"), build_job(recorded.payload.data, inputs))
    report = parse_report(result.uart)
    if result.regions is None:
        return report, None, result.uart
    _, execution = result.regions
    return report, [[execution.instructions] + [call.instructions for call in execution.children]], result.uart


def inspector(recorded: Recorded, dump: Path, scale: TimeScale = TimeScale.CYCLES) -> Inspector:
    return Inspector(
        etdump_path=str(dump),
        etrecord=str(recorded.etrecord),
        source_time_scale=scale,
        target_time_scale=scale,
    )


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3) or arguments[0] not in NETWORKS:
        print(__doc__, file=sys.stderr)
        return 2
    network, core, *rest = arguments
    folder = Path(rest[0] if rest else tempfile.mkdtemp())
    recorded = compile_with_record(network, core, folder)
    report, counts, _ = profile_on_device(recorded, core)
    dump = folder / f"{network}.etdump"
    dump.write_bytes(etdump.from_report(report, counts))
    print("instructions" if counts else "ticks")
    inspector(recorded, dump).print_data_tabular()
    print(f"written to {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
