"""Models in several memories, in an image of ExecuTorch's executor: the same bytes as in one."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.job import JobFlag, build_program_job
from cmsis_nn_delegate.runner.result import RunnerError, parse_report
from cmsis_nn_delegate.support.quiet import quiet
from tests.executorch.executor import needs_executor
from tools.executors.running import UNAVAILABLE, image
from tools.executors.running import simulate as simulate_job

pytestmark = needs_executor

CORES = ("cortex-m4", "cortex-m55")

if not UNAVAILABLE:  # importing takes seconds, which are wasted if all tests are skipped
    quiet()

    import torch
    from torch import nn

    from cmsis_nn_delegate import reference
    from cmsis_nn_delegate.compile import compile_model
    from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
    from cmsis_nn_delegate.targets.memory import Memory

    INPUTS = [torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(seed)) for seed in range(4)]


def network() -> nn.Module:
    torch.manual_seed(0)
    layers = {"first": nn.Conv2d(3, 8, 3, padding=1), "middle": nn.Sigmoid(), "second": nn.Conv2d(8, 4, 3, padding=1)}
    return nn.Sequential(OrderedDict(layers)).eval()


def compiled(core, memories, *, in_two_parts=False, io="float"):
    quantizer = CmsisNnQuantizer()
    if in_two_parts:
        quantizer.set_module_name("middle", None)
    return compile_model(
        network(),
        (INPUTS[0],),
        core,
        [(x,) for x in INPUTS],
        io=io,
        memories=[Memory.of(memory) for memory in memories],
        quantizer=quantizer,
    )


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(
    "memories", [["dtcm=1K", "sram=64K"], ["itcm=256", "dtcm=512:activations,weights", "sram=64K"]]
)
def test_one_call_gives_what_the_reference_gives(core, memories):
    model = compiled(core, memories, io="int8")
    encoded = model.encoded
    assert encoded is not None and any(encoded.plan.region_bytes)
    assert bool(encoded.copies.nbytes) == any("weights" in memory for memory in memories)
    random = np.random.default_rng(0)
    inputs = [[random.integers(-128, 128, (1, 3, 8, 8), np.int8)] for _ in range(4)]
    run = simulate.run(encoded.payload, inputs, image(core, "_executorch"), program=model.pte)
    expected = np.stack([reference.run(encoded.graph, x)[0] for x in inputs])
    assert np.array_equal(np.stack([outputs[0] for outputs in run.outputs]), expected)


def program_outputs(core, pte):
    sets = [[x.numpy().tobytes()] for x in INPUTS]
    elf = Path(__file__).parent / f"{core.replace('-', '_')}_sigmoid.elf"
    result = simulate_job(elf, build_program_job(pte, sets, JobFlag.PRINT_OUTPUTS))
    return np.stack([np.frombuffer(e.outputs[0].data, np.float32) for e in parse_report(result.uart).executions])


@pytest.mark.parametrize("core", CORES)
def test_parts_share_regions(core):
    spread = compiled(core, ["itcm=1K", "sram=64K"], in_two_parts=True)
    regions = [part.plan.region_bytes[0] for part in spread.parts]
    assert len(regions) == 2 and all(regions)
    alone = compiled(core, [], in_two_parts=True)
    outputs = program_outputs(core, spread.pte)
    assert np.ptp(outputs) > 0.1
    assert np.array_equal(outputs, program_outputs(core, alone.pte))


def test_regions_that_the_board_has_no_room_for():
    model = compiled("cortex-m4", ["dtcm=1K", "sram=64K"])
    payload = model.encoded.payload
    program = bytearray(model.pte)
    start = program.index(payload)
    size = model.encoded.plan.region_bytes[0].to_bytes(4, "little")
    at = program.index(size, start + 64)
    program[at : at + 4] = (1 << 28).to_bytes(4, "little")
    with pytest.raises(RunnerError, match=r"load_method\(\) refused the program"):
        parse_report(simulate_job(image("cortex-m4", "_executorch"), build_program_job(bytes(program), [])).uart)
