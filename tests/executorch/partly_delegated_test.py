"""Runs a program with an operator outside the delegate on images with and without a kernel for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.runner.job import JobFlag, build_program_job
from cmsis_nn_delegate.runner.result import RunnerError, parse_report
from cmsis_nn_delegate.support.quiet import quiet
from tests.executorch.executor import needs_executor
from tools.executors.running import UNAVAILABLE, image, simulate

pytestmark = needs_executor

CORES = ("cortex-m4", "cortex-m55")

if not UNAVAILABLE:  # importing takes seconds, which are wasted if all tests are skipped
    quiet()

    import torch
    from torch import nn
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

    from cmsis_nn_delegate.compile import compile_model
    from cmsis_nn_delegate.partition.lower import lower
    from cmsis_nn_delegate.quantization.convert import convert_calibrated
    from cmsis_nn_delegate.quantization.prepare import quantizable_module
    from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer

    INPUTS = [torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(seed)) for seed in range(5)]


def convolution() -> nn.Module:
    torch.manual_seed(0)
    return nn.Conv2d(3, 5, 3, padding=1).eval()


def compiled(module: nn.Module, core: str) -> bytes:
    return compile_model(module, (INPUTS[0],), core, [(x,) for x in INPUTS]).pte


def with_float_sigmoid(core: str) -> bytes:
    """The convolution with a sigmoid that nobody has quantized, so that it stays outside of the delegate."""

    class Quantizer(CmsisNnQuantizer):
        def annotate(self, model):
            super().annotate(model)
            for node in model.graph.nodes:
                if node.target is torch.ops.aten.sigmoid.default:
                    node.meta.pop("quantization_annotation")
            return model

    module = nn.Sequential(convolution(), nn.Sigmoid())
    prepared = prepare_pt2e(quantizable_module(torch.export.export(module, (INPUTS[0],))), Quantizer())
    for x in INPUTS:
        prepared(x)
    program = torch.export.export(convert_calibrated(prepared), (INPUTS[0],))
    return bytes(lower(program, core).to_executorch().buffer)


def with_two_states(core: str) -> bytes:
    """Two recurrent cells, each in a delegate call of its own, with a float sigmoid between them."""

    class Remembers(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.middle, self.second = nn.GRUCell(4, 8), nn.Sigmoid(), nn.GRUCell(8, 4)
            self.register_buffer("h", torch.zeros(1, 8))
            self.register_buffer("g", torch.zeros(1, 4))

        def forward(self, x):
            self.h.copy_(self.first(x, self.h))
            self.g.copy_(self.second(self.middle(self.h), self.g))
            return self.g

    torch.manual_seed(0)
    quantizer = CmsisNnQuantizer()
    quantizer.set_module_name("middle", None)
    samples = [(torch.randn(1, 4, generator=torch.Generator().manual_seed(seed)),) for seed in range(20)]
    model = compile_model(Remembers().eval(), samples[0], core, samples, quantizer=quantizer)
    assert [len(part.graph.states()) for part in model.parts] == [1, 1]
    return model.pte


def run(elf: Path, pte: bytes, inputs=None, flags=JobFlag.NONE):
    sets = [[x.contiguous().numpy().tobytes()] for x in inputs or INPUTS]
    result = simulate(elf, build_program_job(pte, sets, JobFlag.PRINT_OUTPUTS | flags))
    report = parse_report(result.uart)
    return np.stack([np.frombuffer(e.outputs[0].data, np.float32) for e in report.executions]), report


@pytest.mark.parametrize("core", CORES)
def test_a_kernel_beside_the_delegate(core):
    module = convolution()
    # The convolution alone is fully delegated, and shows the input of sigmoid.
    logits, alone = run(image(core, "_executorch"), compiled(module, core))
    outputs, report = run(
        Path(__file__).parent / f"{core.replace('-', '_')}_sigmoid.elf",
        with_float_sigmoid(core),
    )
    assert outputs.shape == (len(INPUTS), 5 * 8 * 8)
    # The convolution has the same quantization with and without the sigmoid.
    np.testing.assert_allclose(outputs, 1 / (1 + np.exp(-logits)), rtol=1e-5)
    assert np.ptp(outputs) > 0.1
    # Another tensor and another call.
    assert alone.memory.method < report.memory.method <= 400


@pytest.mark.parametrize("core", CORES)
def test_states_of_all_calls_begin_anew(core):
    """With the same input in each execution, states are all that can make outputs differ."""
    elf, pte = Path(__file__).parent / f"{core.replace('-', '_')}_sigmoid.elf", with_two_states(core)
    inputs = [torch.full((1, 4), 0.7)] * 4
    kept, _ = run(elf, pte, inputs)
    assert len({row.tobytes() for row in kept}) == 4
    reset, _ = run(elf, pte, inputs, JobFlag.RESET)
    assert reset.tobytes() == kept[0].tobytes() * 4


@pytest.mark.parametrize("core", CORES)
def test_a_missing_kernel_is_named(core):
    pte = with_float_sigmoid(core)
    with pytest.raises(RunnerError, match=r"lacks the kernels of aten::sigmoid\.out: a program with") as info:
        run(image(core, "_executorch"), pte)
    assert info.value.error == 0x14


def test_the_wrong_runner_says_so():
    pte = compiled(convolution(), "cortex-m4")
    job = bytearray(build_program_job(pte, []))
    job[8:12] = bytes(4)  # flags: a payload
    with pytest.raises(RunnerError, match="the job holds a payload, this image runs a .pte"):
        parse_report(simulate(image("cortex-m4", "_executorch"), bytes(job)).uart)


def test_no_program():
    with pytest.raises(RunnerError, match=r"Program::load\(\) refused the program"):
        parse_report(simulate(image("cortex-m4", "_executorch"), build_program_job(bytes(4096), [])).uart)


def test_another_core():
    pte = compiled(convolution(), "cortex-m55")
    with pytest.raises(RunnerError, match="load_method") as info:
        parse_report(simulate(image("cortex-m4", "_executorch"), build_program_job(pte, [])).uart)
    assert info.value.error == 0x30


def test_inputs_of_another_size():
    pte = compiled(convolution(), "cortex-m4")
    job = build_program_job(pte, [[bytes(16)]])
    with pytest.raises(RunnerError, match="input sets have another size than the program's"):
        parse_report(simulate(image("cortex-m4", "_executorch"), job).uart)
