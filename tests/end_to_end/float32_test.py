"""A network that computes in float32 in places: one call with the bytes of the reference, on a core with an FPU
and on one without."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig, reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.end_to_end.vectors import firmware

make_torch_faster()

CORES = ("cortex-m0plus", "cortex-m4")
WITHOUT_FPU = CORES[0]


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.norm, self.last = nn.Linear(72, 24), nn.LayerNorm(24), nn.Linear(24, 6)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.norm(nn.functional.gelu(self.hidden(x.flatten(1))))
        coordinates = self.last(1 - y * 0.5)
        return coordinates, torch.softmax(torch.cat((coordinates, y), 1), 1)


class Network(nn.Module):
    """Integers, float32, integers and float32 again."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.middle, self.body = nn.Conv2d(2, 4, 3), nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 8, 1)
        self.head = Head()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.relu(self.middle(torch.relu(self.stem(x))))
        return self.head(nn.functional.max_pool2d(self.body(y), 2))


@pytest.fixture(scope="module")
def compiled() -> dict[str, Compiled]:
    torch.manual_seed(0)
    quantizer = CmsisNnQuantizer("minmax")
    for name in ("middle", "head"):
        quantizer.set_module_name(name, QuantizationConfig(format="float32"))
    data = [(torch.randn(1, 2, 8, 8),) for _ in range(4)]
    found = compile_for_targets(Network().eval(), data[0], CORES, data, quantizer=quantizer, strict=True)
    return {one.target.name: one for one in found}


def inputs() -> list[list[np.ndarray]]:
    draw = np.random.default_rng(1)
    return [[draw.normal(size=(1, 2, 8, 8)).astype(np.float32)] for _ in range(4)]


@pytest.mark.parametrize("core", CORES)
def test_bytes_are_those_of_the_reference(compiled, core):
    (part,) = compiled[core].parts
    kinds = [node.outputs[0].element is Element.FLOAT32 for node in part.graph.nodes]
    assert sum(a != b for a, b in zip(kinds, kinds[1:])) == 3
    samples = inputs()
    expected = [reference.run(part.graph, sample) for sample in samples]
    run = simulate.run(part.payload, samples, firmware(core))
    for outputs, wanted in zip(run.outputs, expected, strict=True):
        for a, b in zip(outputs, wanted, strict=True):
            assert a.tobytes() == b.tobytes()


def test_soft_float_is_priced_and_warned_of(compiled):
    for core, one in compiled.items():
        prices = [call.choice.instructions(one.target) for call in one.parts[0].calls]
        assert None not in prices
        assert any(f"{core} has no FPU" in warning for warning in one.warnings) == (core == WITHOUT_FPU)
