"""Non-maximum suppression: which boxes of a detector are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, I64, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from . import reduction
from .alone import alone
from .annotation import IndexOutput
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Op

_TARGET = "cmsis_nn_delegate.nms.default"
_CORNERS = 4
# Of the threshold.
_IOU_BITS = 15
_ONE = 1 << _IOU_BITS
# Boxes of one image, and results: the kernel looks at each box for each result.
_MOST_BOXES = 1 << 16


def _kernel(element: Scalar) -> KernelSpec:
    name, kind = named_for("nms", element), element.element
    steps = Element(kind)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"Places of the boxes that are kept, of {kind} corners and scores: of those with a score of at least "
            "`least`, the best, the first one of equals, then the best of those that no kept box covers too much, and "
            "so on; -1 behind the last. One covers another too much if intersection * 2^15 > iou * union; a box whose "
            "second corner is before the first has no area.",
            (
                blocks.input("boxes", element, "outer", "count", "corners", doc=f"{kind} [outer, count, x1 y1 x2 y2]"),
                blocks.input("scores", element, "outer", "count", doc=f"{kind} [outer, count]"),
                blocks.output(I64, "outer", "most", doc="int64 [outer, most], of any alignment"),
                blocks.scratch(),
                Field("scratch_bytes", I32),
                Field("outer", I32),
                Field("count", I32, low=1, high=_MOST_BOXES),
                Field("corners", I32, low=_CORNERS, high=_CORNERS),
                Field("most", I32, low=1, high=_MOST_BOXES),
                Field("iou", I32, f"in 2^-{_IOU_BITS}", low=0, high=_ONE),
                Field("least", I32, "score that counts", low=steps.low, high=steps.high + 1),
            ),
        ),
    )


@dataclass(frozen=True)
class NmsAttrs:
    """Inputs: boxes [..., count, 4], scores [..., count] of the same type. `iou` is in 2^-15, `score` what a score has
    to be above of, as a real number, `most` how many places the output has."""

    iou: int
    score: float
    most: int


def _draw(d: Case, element: Element) -> Value:
    """Boxes of which many overlap, and scores of which many are equal."""
    shape = d.pick((), (), (d.integer(1, 3),), (d.integer(1, 2), d.integer(1, 3)))
    count = d.pick(1, d.integer(2, 12), d.integer(10, 60))
    quant = d.quant(element=element)
    scores = d.input(*shape, count, element=element, quant=quant)
    boxes = d.input(*shape, count, _CORNERS, element=element)
    boxes.retype(layout=Layout.ROW_MAJOR)
    low, high = ((bound - quant.zero_point) * quant.scale[0] for bound in (element.low - 2, element.high + 2))
    attrs = NmsAttrs(
        d.pick(0, _ONE, d.integer(1, _ONE // 4), d.integer(0, _ONE)),
        float(d.random.uniform(low, high)),
        d.integer(1, 12),
    )
    output = d.node("nms", [boxes, scores], attrs, None)
    output.retype(element=Element.INT64, layout=Layout.ROW_MAJOR)
    return output


class Nms(Op):
    """As torchvision.ops.nms, of boxes with one scale, by integers: neither the scale nor the zero point changes which
    box covers how much of another."""

    name = "nms"
    targets = (_TARGET,)
    whole = targets
    annotation = IndexOutput(targets, operands=2)
    attrs = NmsAttrs
    kernels = (_kernel(I8), _kernel(I16))
    draws = (lambda d: _draw(d, Element.INT8), lambda d: _draw(d, Element.INT16))
    elements = KERNEL_ELEMENTS
    limits = (
        f"boxes and scores of one type, up to {_MOST_BOXES} of an image; the places are int64 and leave the delegate",
    )
    gives_index = True
    layouts = Layouts.ROW_MAJOR

    def refuse(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return alone(
            super().refuse(node, context),
            "nms",
            "quantize boxes and scores, both in int8 or both in int16, or return them and choose in the application",
        )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        boxes, scores = operand(node), operand(node, 1)
        return first(
            lambda: context.refuse_tensors(boxes, scores),
            lambda: self._refuse_numbers(node, context),
            lambda: context.refuse_input_quant(node, boxes),
            lambda: context.refuse_input_quant(node, scores),
        )

    def _refuse_numbers(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        boxes, scores = (tuple(shape_of(operand(node, index))) for index in (0, 1))
        if not scores or boxes != (*scores, _CORNERS):
            return Refusal(
                Reason.UNSUPPORTED_SHAPE,
                f"its boxes {list(boxes)} and scores {list(scores)} are not [..., count, 4] and [..., count]: give "
                "each box four corners and one score, and call it for each class",
            )
        _, _, iou, _, most = context.arguments(node)
        if not 0 <= iou <= 1 or not 1 <= most <= _MOST_BOXES or scores[-1] > _MOST_BOXES:
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"iou {iou} has to be from 0 to 1, and most {most} and the {scores[-1]} boxes from 1 to {_MOST_BOXES}: "
                "give it fewer boxes",
            )
        return None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, _, iou, score, most = context.arguments(node)
        attrs = NmsAttrs(round(iou * _ONE), float(score), int(most))
        inputs = [context.value(operand(node, index)) for index in (0, 1)]
        found = context.node(node, self.name, inputs, attrs)
        found.output.retype(element=Element.INT64)
        return [found]

    def output_shape(self, inputs: Sequence[Value], attrs: NmsAttrs) -> tuple[int, ...]:
        return (*inputs[1].shape[:-1], attrs.most)

    def scratch_bytes(self, node: Node) -> int:
        count: int = node.inputs[1].shape[-1]  # whether each is left
        return count

    def features(self, node: Node) -> Features:
        *outer, count = node.inputs[1].shape
        # All boxes are read twice for each that is kept; how many are depends on the data, and so this is an estimate.
        return reduction.reduced(2 * math.prod(outer) * min(count, node.attrs.most), count, 1)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs = node.attrs
        shape = node.inputs[1].shape
        boxes = inputs[0].reshape(-1, shape[-1], _CORNERS).astype(np.int64)
        scores = inputs[1].reshape(-1, shape[-1]).astype(np.int64)
        found = np.full((len(scores), attrs.most), -1, np.int64)
        least = _least(node)
        for image, (corners, values) in enumerate(zip(boxes, scores)):
            kept: list[int] = []
            for place in np.argsort(-values, kind="stable"):
                if len(kept) == attrs.most or values[place] < least:
                    break
                if not any(_covers(corners[other], corners[place], attrs.iou) for other in kept):
                    kept.append(int(place))
            found[image, : len(kept)] = kept
        return found.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        *outer, count = node.inputs[1].shape
        return {
            **refs,
            "scratch_bytes": scratch_bytes,
            "outer": math.prod(outer),
            "count": count,
            "corners": _CORNERS,
            "most": node.attrs.most,
            "iou": node.attrs.iou,
            "least": _least(node),
        }


def _least(node: Node) -> int:
    """Returns the least score that is above the threshold, in steps; beyond the type if none is."""
    scores = node.inputs[1]
    above: int = math.floor(node.attrs.score / scores.scale) + scores.zero_point + 1
    return max(scores.element.low, min(above, scores.element.high + 1))


def _covers(a: np.ndarray, b: np.ndarray, iou: int) -> bool:
    """Returns whether box `a` covers too much of `b`."""
    ax1, ay1, ax2, ay2 = map(int, a)
    bx1, by1, bx2, by2 = map(int, b)
    intersection = max(min(ax2, bx2) - max(ax1, bx1), 0) * max(min(ay2, by2) - max(ay1, by1), 0)
    areas = max(ax2 - ax1, 0) * max(ay2 - ay1, 0) + max(bx2 - bx1, 0) * max(by2 - by1, 0)
    return intersection * _ONE > iou * (areas - intersection)
