"""Images of ExecuTorch's executor with the kernels of given models alone: they run these, refuse others, and are
smaller than the one with all kernels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.files.artifacts import Artifacts
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.job import JobFlag, build_program_job
from cmsis_nn_delegate.runner.result import RunnerError, parse_report
from cmsis_nn_delegate.support.errors import UserError
from sim.boards import cores
from tests.executorch.executor import needs_executor
from tools.executors.running import image
from tools.executors.running import simulate as simulate_job

pytestmark = needs_executor

CORES = ("cortex-m4", "cortex-m55")

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
FOLDERS = {"digits": EXAMPLES / "firmware", "linear": EXAMPLES / "two_models"}


def own_image(core: str, models: str) -> Path:
    return Path(__file__).parent / f"{core.replace('-', '_')}_{models}.elf"


def artifacts(core: str, model: str) -> Artifacts:
    return Artifacts(FOLDERS[model] / cores()[core].isa, model)


def differing(core: str, model: str, elf: Path) -> int:
    """Returns in how many of the output bytes for four random inputs the .pte in `elf` differs from the reference."""
    files = artifacts(core, model)
    graph, _ = files.graph()
    random = np.random.default_rng(0)
    inputs = [[random.integers(-128, 128, value.shape, np.int8) for value in graph.inputs] for _ in range(4)]
    run = simulate.run(files.payload().data, inputs, elf, program=files.read(".pte"))
    assert run.info.executor == "executorch"
    expected = np.stack([reference.run(graph, x)[0] for x in inputs])
    outputs = np.stack([outputs[0] for outputs in run.outputs])
    assert outputs.shape == expected.shape and len(np.unique(outputs)) > 9
    return int((outputs != expected).sum())


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("model, models", [("linear", "linear"), ("linear", "both"), ("digits", "both")])
def test_the_programs_that_the_image_is_for(core, model, models):
    assert differing(core, model, own_image(core, models)) == 0


@pytest.mark.parametrize("core", CORES)
def test_a_program_that_needs_another_kernel_is_refused(core):
    with pytest.raises(UserError, match=r"load_method\(\) refused the program"):
        differing(core, "digits", own_image(core, "linear"))


def test_null_kernels_are_not_there():
    files = artifacts("cortex-m4", "linear")
    job = build_program_job(files.read(".pte"), [], JobFlag.NULL_KERNELS)
    with pytest.raises(RunnerError, match="an image for given models has no null kernels"):
        parse_report(simulate_job(own_image("cortex-m4", "linear"), job).uart)


def flash(elf: Path) -> int:
    return json.loads(elf.with_suffix(".size.json").read_text())["flash"]["total"]


@pytest.mark.parametrize("core", CORES)
def test_flash(core):
    linear, both, everything = (
        flash(elf) for elf in (own_image(core, "linear"), own_image(core, "both"), image(core, "_executorch"))
    )
    print(f"{core}: {linear:,} bytes with the kernels of one model, {both:,} of two, {everything:,} with all")
    assert linear < both < everything / 2
