"""Runs one of the networks of tests/end_to_end on a simulated core, with either executor."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np

from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.tensor_data import from_bytes, to_bytes
from cmsis_nn_delegate.runner.job import JobFlag, build_job, build_program_job
from cmsis_nn_delegate.runner.result import RunResult, parse_report
from sim import simulator
from sim.boards import cores
from tests.end_to_end.vectors import artifact, load_vectors

_RUNTIME = Path(__file__).parent.parent.parent / "runtime"

# Set by the BUILD file if ExecuTorch's sources are unavailable.
UNAVAILABLE = os.environ.get("EXECUTOR_UNAVAILABLE", "")


def image(core: str, suffix: str = "") -> Path:
    """Returns the runner for `core` ("cortex-m4"); `suffix` is "" or "_executorch"."""
    return _RUNTIME / f"{core.replace('-', '_')}{suffix}.elf"


def simulate(elf: Path, job: bytes) -> simulator.Result:
    result = simulator.run(str(elf), job=job)
    assert result.status == "exit", result.explain()
    return result


@dataclass(frozen=True)
class Measured:
    """The results of `count` executions of a network."""

    outputs: np.ndarray  # int8 (count, ...)
    expected: np.ndarray  # by the integer reference
    arena_bytes: int  # of the payload
    report: RunResult
    load: Optional[int]  # instructions; None if not counted
    execute: Optional[list[int]]
    flash: int  # of the image, without the model, which is in the mailbox


def run_network(network: str, core: str, *, program: bool, count: int = 16) -> Measured:
    """Runs a .pte in ExecuTorch's executor if `program`, else a payload in the standalone runner."""
    isa = cores()[core].isa
    payload = artifact(network, isa, "payload")
    view, vectors = decode(payload), load_vectors(network)
    sets = [[to_bytes(x, view.inputs[0])] for x in vectors.inputs[:count]]
    if program:
        job = build_program_job(artifact(network, isa, "pte"), sets, JobFlag.PRINT_OUTPUTS)
    else:
        job = build_job(payload, sets, JobFlag.PRINT_OUTPUTS)
    elf = image(core, "_executorch" if program else "")
    result = simulate(elf, job)
    report = parse_report(result.uart)
    assert len(report.executions) == len(sets)
    outputs = [from_bytes(e.outputs[0].data, view.outputs[0]) for e in report.executions]
    regions = result.regions and [region.instructions for region in result.regions]
    return Measured(
        outputs=np.stack(outputs),
        expected=vectors.expected[:count],
        arena_bytes=view.header["arena_bytes"],
        report=report,
        load=regions and regions[0],
        execute=regions and regions[1:],
        flash=json.loads(elf.with_suffix(".size.json").read_text())["flash"]["total"],
    )
