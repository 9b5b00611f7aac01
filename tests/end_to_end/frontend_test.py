"""What stands before and after a network is part of its call: the bytes of the reference, in ExecuTorch's runtime on
the host and on a simulated core without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.frontend import (
    BoxDecoder,
    CtcGreedyDecoder,
    DetectionSmoother,
    NonMaxSuppression,
    Pcen,
    Rgb565ToRgb,
    YuyvToGray,
    frame_of,
)
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.end_to_end.vectors import firmware

make_torch_faster()

LIBRARY = "runtime/libcmsis_nn_delegate.so"
CORE = "cortex-m4"
CALIBRATION, RUNS = 12, 8
HEIGHT, WIDTH = 30, 40


class Model(NamedTuple):
    """A model, its inputs by seed, and what its call is to consist of."""

    make: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[torch.Tensor, ...]]
    ops: Sequence[str]
    io: str = "int8"


def frames(seed: int) -> tuple[torch.Tensor, ...]:
    """Any bytes."""
    return (frame_of(np.random.default_rng(seed).bytes(2 * HEIGHT * WIDTH), HEIGHT, WIDTH),)


def photo(camera: nn.Module, channels: int) -> nn.Module:
    return nn.Sequential(camera, nn.Conv2d(channels, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 5 * 7, 3))


class Detector(nn.Module):
    """A score and a box for each of 48 places; it returns both, and the places of those that are kept."""

    def __init__(self) -> None:
        super().__init__()
        y, x = torch.meshgrid(torch.arange(6.0), torch.arange(8.0), indexing="ij")
        anchors = torch.stack([x - 1, y - 1, x + 2, y + 2], -1).reshape(-1, 4)
        self.layer, self.decoder = nn.Conv2d(3, 5, 3, padding=1), BoxDecoder(anchors, (10.0, 10.0, 5.0, 5.0))
        self.nms = NonMaxSuppression(iou=0.3, score=0.4, most=8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = self.layer(x).permute(0, 2, 3, 1).flatten(1, 2)
        boxes, scores = self.decoder(found[..., :4]), torch.sigmoid(3 * found[..., 4])
        return boxes, scores, self.nms(boxes, scores)


def noise(*shape: int) -> Callable[[int], tuple[torch.Tensor, ...]]:
    return lambda seed: (torch.randn(shape, generator=torch.Generator().manual_seed(seed)),)


MODELS = {
    "detector": Model(Detector, noise(1, 3, 6, 8), ("conv2d", "nms")),
    "words": Model(
        lambda: nn.Sequential(nn.Linear(10, 3), nn.Sigmoid(), DetectionSmoother(3, fresh=0.7, threshold=0.6, quiet=2)),
        noise(1, 10),
        ("fully_connected", "leaky_sum"),
    ),
    # Two frames of eight bands, whose means go on.
    "bands": Model(
        lambda: nn.Sequential(nn.Linear(10, 8), Pcen(8, smooth=0.2, keep=True), nn.Linear(8, 3)),
        noise(1, 2, 10),
        ("fully_connected", "pcen"),
        io="quantized",  # int16 in front of it
    ),
    "text": Model(
        lambda: nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 6), CtcGreedyDecoder(blank=5)),
        noise(2, 20, 10),
        ("fully_connected", "ctc_greedy"),
    ),
    "RGB565": Model(
        lambda: photo(
            Rgb565ToRgb(
                *(HEIGHT, WIDTH), big_endian=True, crop=(2, 3, 27, 36), size=(12, 16), mode="bilinear",
                mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225),
            ),
            3,
        ),
        frames,
        ("camera_image", "conv2d", "fully_connected"),
    ),
    "YUV 4:2:2 to gray": Model(
        lambda: photo(YuyvToGray(HEIGHT, WIDTH, order="uyvy", size=(12, 16)), 1),
        frames,
        ("camera_image", "conv2d", "fully_connected"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_bytes_are_those_of_the_reference(name):
    torch.manual_seed(0)
    model = MODELS[name]
    samples = [model.inputs(seed) for seed in range(CALIBRATION)]
    compiled = compile_model(model.make(), samples[0], CORE, samples, io=model.io, strict=True)
    (part,) = compiled.parts
    assert set(model.ops) <= {node.op for node in part.graph.nodes}
    integers = [value.element.is_index for value in part.graph.inputs]
    inputs = [
        [
            x.numpy() if integer else value.type.quantize(x.numpy())
            for x, integer, value in zip(model.inputs(CALIBRATION + seed), integers, part.graph.inputs)
        ]
        for seed in range(RUNS)
    ]
    states = reference.initial_states(part.graph)
    expected = [reference.run(part.graph, given, states=states) for given in inputs]
    assert len({b"".join(output.tobytes() for output in outputs) for outputs in expected}) > 1
    host = HostProgram(compiled.pte, LIBRARY)
    found = {"host": [host.run(given) for given in inputs]}
    found["device"] = simulate.run(part.payload, inputs, firmware(CORE)).outputs
    for where, runs in found.items():
        for outputs, wanted in zip(runs, expected, strict=True):
            assert [output.tobytes() for output in outputs] == [output.tobytes() for output in wanted], where
