"""Greedy CTC decoding: the best class of each step, without repetitions and blanks."""

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
from ..format.schema import MAX_DIM
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

_TARGET = "cmsis_nn_delegate.ctc_greedy.default"


def _kernel(element: Scalar) -> KernelSpec:
    name, kind = named_for("ctc_greedy", element), element.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"The class with the largest of {kind} scores, the first one of equals, of each step; of steps in a row "
            "with the same class only the first, and none with the class `blank`. Of the first `seen` steps nothing is "
            "written. -1 behind the last class.",
            (
                blocks.input(
                    "input", element, "outer", "steps", "classes", doc=f"{kind} [outer, seen + steps, classes]"
                ),
                blocks.output(I64, "outer", "written", doc="int64 [outer, written], of any alignment"),
                Field("outer", I32),
                Field("steps", I32, low=1, high=MAX_DIM),
                Field("classes", I32, low=1, high=MAX_DIM),
                Field("written", I32, "steps - seen", low=1, high=MAX_DIM),
                Field("blank", I32, "a class"),
                Field("seen", I32, "from 0 to steps - 1"),
            ),
            geometry="ctc_greedy",
        ),
    )


@dataclass(frozen=True)
class CtcGreedyAttrs:
    """Input: scores [..., steps, classes]. `seen` is how many of the first steps belong to an earlier call."""

    blank: int
    seen: int


def _draw(d: Case, element: Element) -> Value:
    """Scores of few classes, so that the same one comes again, and of many."""
    shape = d.pick((), (), (d.integer(1, 3),))
    steps, classes = d.integer(1, 12), d.pick(d.integer(1, 3), d.integer(2, 30))
    x = d.input(*shape, steps, classes, element=element)
    attrs = CtcGreedyAttrs(d.integer(0, classes - 1), d.pick(0, d.integer(0, steps - 1)))
    output = d.node("ctc_greedy", [x], attrs, None)
    output.retype(element=Element.INT64, layout=Layout.ROW_MAJOR)
    return output


class CtcGreedy(Op):
    """Decodes by the numbers that steps stand for, whose order is that of the steps."""

    name = "ctc_greedy"
    targets = (_TARGET,)
    whole = targets
    annotation = IndexOutput(targets)
    attrs = CtcGreedyAttrs
    kernels = (_kernel(I8), _kernel(I16))
    draws = (lambda d: _draw(d, Element.INT8), lambda d: _draw(d, Element.INT16))
    elements = KERNEL_ELEMENTS
    limits = ("scores with the classes in the last dimension; the classes are int64 and leave the delegate",)
    gives_index = True
    layouts = Layouts.ROW_MAJOR

    def refuse(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return alone(
            super().refuse(node, context),
            "ctc_greedy",
            "quantize the scores, or return their argmax and leave repetitions and blanks out in the application",
        )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(source),
            lambda: self._refuse_numbers(node, context),
            lambda: context.refuse_input_quant(node, source),
        )

    def _refuse_numbers(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        shape = shape_of(operand(node))
        if len(shape) < 2 or len(shape) > 3:
            return Refusal(
                Reason.UNSUPPORTED_SHAPE,
                f"its scores {list(shape)} are not [steps, classes] or [batch, steps, classes]: reshape them",
            )
        _, blank, seen = context.arguments(node)
        if not (0 <= blank < shape[-1] and 0 <= seen < shape[-2]):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"blank {blank} is not one of {shape[-1]} classes, or seen {seen} not less than the {shape[-2]} steps",
            )
        return None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, blank, seen = context.arguments(node)
        found = context.node(node, self.name, [context.value(operand(node))], CtcGreedyAttrs(int(blank), int(seen)))
        found.output.retype(element=Element.INT64)
        return [found]

    def output_shape(self, inputs: Sequence[Value], attrs: CtcGreedyAttrs) -> tuple[int, ...]:
        *outer, steps, _ = inputs[0].shape
        return (*outer, steps - attrs.seen)

    def features(self, node: Node) -> Features:
        *outer, steps, classes = node.inputs[0].shape
        return reduction.reduced(math.prod(outer) * steps, classes, 1)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs, shape = node.attrs, node.inputs[0].shape
        best = inputs[0].reshape(-1, *shape[-2:]).argmax(-1)
        found = np.full((len(best), shape[-2] - attrs.seen), -1, np.int64)
        for row, classes in zip(found, best):
            kept = [
                number
                for step, number in enumerate(classes)
                if step >= attrs.seen and number != attrs.blank and (step == 0 or number != classes[step - 1])
            ]
            row[: len(kept)] = kept
        return found.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        *outer, steps, classes = node.inputs[0].shape
        return {
            **refs,
            "outer": math.prod(outer),
            "steps": steps,
            "classes": classes,
            "written": steps - node.attrs.seen,
            "blank": node.attrs.blank,
            "seen": node.attrs.seen,
        }
