"""Which boxes are kept, by integers and by PyTorch's floats, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.edge.detection_ops import NMS
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.frontend import BoxDecoder, NonMaxSuppression
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import Function, lower_program, lowered, steps_apart
from cmsis_nn_delegate.testing.networks import random_inputs
from cmsis_nn_delegate.testing.random_case import RandomCase


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_integers_keep_what_pytorch_keeps(seed):
    """Of the numbers that the integers stand for. How much a box covers depends on no scale, so that whole numbers are
    compared, exactly; both choose in different ways."""
    case = RandomCase(seed)
    op = OPS["nms"]
    op.draws[seed % len(op.draws)](case)
    (node,), graph = case.nodes, case.graph(case.nodes[0].output)
    data = dict(zip(graph.inputs, random_inputs(graph, seed)))
    (found,) = reference.run(graph, list(data.values()))
    boxes, scores = node.inputs
    reals = (data[scores].astype(np.float64) - scores.zero_point) * scores.scale
    wanted = NMS(
        torch.from_numpy(data[boxes].astype(np.float64)), torch.from_numpy(reals), node.attrs.iou / 2**15,
        node.attrs.score, node.attrs.most,
    )  # fmt: skip
    assert np.array_equal(found, wanted.numpy())


def test_an_example():
    boxes = torch.tensor(
        [[0, 0, 10, 10], [1, 0, 11, 10], [0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 10, 5], [5, 5, 5, 9]]
    )
    scores = torch.tensor([0.7, 0.9, 0.7, 0.1, 0.8, 0.6])
    # 4 covers 50 of 110 of the best, 0 and 2 cover 90 of it; the last one has no area, and the one before it no score.
    assert NonMaxSuppression(0.5, 0.2, 5)(boxes.float(), scores).tolist() == [1, 4, 5, -1, -1]
    assert NonMaxSuppression(0.85, 0.2, 3)(boxes.float(), scores).tolist() == [1, 4, 0]
    assert NonMaxSuppression(0.0, 0.0, 9)(boxes.float(), scores).tolist() == [1, 5, 3, *[-1] * 6]
    # No more than the threshold is not too much: an intersection of 50 in a union of 100.
    halves = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 5]])
    assert NonMaxSuppression(0.5, 0.0, 2)(halves, torch.tensor([0.5, 0.5])).tolist() == [0, 1]
    assert NonMaxSuppression(0.4999, 0.0, 2)(halves, torch.tensor([0.5, 0.5])).tolist() == [0, -1]


def grid(size: int) -> torch.Tensor:
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    return torch.stack([x - 1.0, y - 1.0, x + 2.0, y + 2.0], -1).reshape(-1, 4)


def test_boxes_are_those_of_their_anchors():
    anchors = torch.tensor([[2.0, 4.0, 10.0, 8.0]])
    decoder = BoxDecoder(anchors, (10.0, 10.0, 5.0, 5.0))
    assert torch.allclose(decoder(torch.zeros(2, 1, 4)), anchors.expand(2, 1, 4))
    moved = decoder(torch.tensor([[5.0, -10.0, 5 * math.log(2), 5 * math.log(0.5)]]))
    # The center (6, 6) goes half a width and a height away, and the sides are 16 and 2.
    assert torch.allclose(moved, torch.tensor([[10.0 - 8, 2.0 - 1, 10.0 + 8, 2.0 + 1]]))
    assert torch.allclose(decoder(torch.tensor([[0.0, 0, 1000, 0]]))[0, 2] - 6, torch.tensor(4 * 62.5))


class Detector(nn.Module):
    """A layer with a score and a box for each of 36 places."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer = nn.Conv2d(3, 5, 3, padding=1)
        self.decoder, self.nms = BoxDecoder(grid(6), (10.0, 10.0, 5.0, 5.0)), NonMaxSuppression(0.3, 0.4, 6)

    def forward(self, x):
        found = self.layer(x).permute(0, 2, 3, 1).flatten(1, 2)
        boxes, scores = self.decoder(found[..., :4]), torch.sigmoid(3 * found[..., 4])
        return boxes, scores, self.nms(boxes, scores)


IMAGE = torch.randn(1, 3, 6, 6, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("format", ["int8", "int16"])
def test_a_detector_is_one_call(format):
    """The places are those of the boxes and scores that the call itself returns."""
    quantizer = CmsisNnQuantizer("minmax").set_global(QuantizationConfig(format=format))
    graph = lowered(Detector().eval(), IMAGE, quantizer=quantizer).graph()
    (node,) = (node for node in graph.nodes if node.op == "nms")
    assert {value.element.value for value in node.inputs} == {format}
    boxes, scores, kept = reference.run(graph, [IMAGE.numpy()])
    wanted = NonMaxSuppression(0.3, 0.4, 6)(torch.from_numpy(boxes), torch.from_numpy(scores))
    assert np.array_equal(kept, wanted.numpy()) and (kept >= 0).sum() > 2


def test_boxes_that_are_inputs():
    nms = NonMaxSuppression(0.3, 0.0, 4)
    distances, _ = steps_apart(Function(nms), grid(3), torch.linspace(-1, 1, 9))
    assert distances == [0]


def mixed(boxes, scores):
    return NonMaxSuppression()(boxes * 2, torch.sigmoid(scores))


@pytest.mark.parametrize(
    "make, reason, part",
    [
        (
            lambda: lower_program(torch.export.export(Function(mixed), (grid(3), torch.randn(9)))),
            Reason.NOT_QUANTIZED,
            "prepare the model with CmsisNnQuantizer",
        ),
        (
            lambda: lowered(Function(lambda b, s: NMS(b * 2, torch.sigmoid(s), 1.5, 0.0, 3)), grid(3), torch.randn(9)),
            Reason.UNSUPPORTED_PARAMETER,
            "iou 1.5 has to be from 0 to 1",
        ),
        (
            lambda: lowered(
                Function(lambda b, s: NMS(b * 2, torch.sigmoid(s), 0.5, 0.0, 3)), grid(3)[None], torch.randn(9)
            ),
            Reason.UNSUPPORTED_SHAPE,
            "give each box four corners and one score",
        ),
    ],
)
def test_what_is_not_delegated_says_why_and_what_to_do(make, reason, part):
    (report,) = (report for report in make().reports if "nms" in report.target)
    assert report.reason is reason and part in report.message, report
    assert "ExecuTorch has no kernel for nms" in report.message


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda: NonMaxSuppression(iou=1.1), "it must be from 0 to 1"),
        (lambda: NonMaxSuppression(most=0), "at least one box"),
        (lambda: NonMaxSuppression(score=-math.inf), "must be finite"),
        (lambda: NonMaxSuppression()(torch.zeros(3, 4), torch.zeros(2)), r"have to be \[..., N, 4\] and \[..., N\]"),
        (lambda: BoxDecoder(torch.zeros(3, 4)), "x1 < x2"),
        (lambda: BoxDecoder(grid(2), (1.0, 1.0, 0.0, 1.0)), "4 numbers above 0"),
    ],
)
def test_what_does_not_fit_together_is_an_error(make, part):
    with pytest.raises(UserError, match=part):
        make()
