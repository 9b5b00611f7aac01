"""The result of the last step of each of several sequences, of which each has its own number of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .annotation import SameScale
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Op
from .recurrent import checked_lengths, lengths_of, refuse_lengths


def _kernel(number: Scalar) -> KernelSpec:
    name, kind = named_for("last_step", number), number.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"Copies the {kind} numbers of the last step of each sequence. Lengths are data, so that run() checks them:"
            " one that is not in [1, steps] ends the execution with InvalidArgument, and the output is then undefined.",
            (
                blocks.input("input", number, "steps", "batch", "width", doc=f"{kind} [steps, batch, width]"),
                blocks.lengths(),
                blocks.output(number, "batch", "width", doc=f"{kind} [batch, width]"),
                Field("steps", I32, "at least 1"),
                Field("batch", I32, "at least 1"),
                Field("width", I32, "at least 1"),
                blocks.length_bytes(),
                Field("batch_first", I32, "1: the input is [batch, steps, width]", low=0, high=1),
            ),
            geometry="last_step",
        ),
        priced_as="embedding",  # which copies the rows that integers choose
    )


@dataclass(frozen=True)
class LastStepAttrs:
    """Inputs: x, lengths (integers [batch], from 1 to steps). `batch_first`: x is [batch, steps, width], not
    [steps, batch, width]."""

    batch_first: bool = False


class Sizes(NamedTuple):
    steps: int
    batch: int
    width: int


def _draw(d: Case, element: Element = Element.INT8) -> Value:
    steps, batch, width = d.integer(1, 9), d.integer(1, 5), d.pick(d.integer(1, 9), d.integer(1, 40))
    attrs = LastStepAttrs(d.pick(False, True))
    x = d.input(*((batch, steps, width) if attrs.batch_first else (steps, batch, width)), element=element)
    lengths = d.input(batch, element=d.pick(Element.INT64, Element.INT32))
    return d.node("last_step", [x, lengths], attrs, x.quant)


def _draw_int16(d: Case) -> Value:
    return _draw(d, Element.INT16)


class LastStep(Op):
    """output[b] = x[lengths[b] - 1, b]: the last hidden states of recurrent layers."""

    name = "last_step"
    targets = ("cmsis_nn_delegate.last_step.default",)
    whole = targets
    annotation = SameScale(targets)
    attrs = LastStepAttrs
    kernels = (_kernel(I8), _kernel(I16))
    draws = (_draw, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "the last states of recurrent layers with VariableLength; a length that is not from 1 to the number of "
        "steps ends the execution with an error",
    )
    computes = False
    keeps_quant = True
    layouts = Layouts.ROW_MAJOR

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: refuse_lengths(operand(node, 1), shape_of(node)[0], context),
            lambda: context.refuse_quant(node, [source], same=True),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs = LastStepAttrs(context.arguments(node)[2])
        lengths = lengths_of(node, operand(node, 1), context)
        return [context.node(node, self.name, [context.value(operand(node)), *lengths], attrs)]

    def output_shape(self, inputs: Sequence[Value], attrs: LastStepAttrs) -> tuple[int, ...]:
        _, batch, width = _sizes(inputs[0], attrs)
        return batch, width

    def index_range(self, node: Node, value: Value) -> Optional[tuple[int, int]]:
        return (1, _sizes(node.inputs[0], node.attrs).steps) if value is node.inputs[1] else None

    def features(self, node: Node) -> Features:
        return Features({"rows": node.output.shape[0], "outputs": node.output.numel})

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        steps, batch, _ = _sizes(node.inputs[0], node.attrs)
        x = inputs[0].reshape(node.inputs[0].shape)
        last = checked_lengths(node, inputs[1], steps, batch) - 1
        chosen: np.ndarray = x[np.arange(batch), last] if node.attrs.batch_first else x[last, np.arange(batch)]
        return chosen

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        x, lengths = node.inputs
        return {
            **refs,
            **_sizes(x, node.attrs)._asdict(),
            "length_bytes": lengths.nbytes,
            "batch_first": int(node.attrs.batch_first),
        }


def _sizes(x: Value, attrs: LastStepAttrs) -> Sizes:
    steps, batch = (x.shape[1], x.shape[0]) if attrs.batch_first else x.shape[:2]
    return Sizes(steps, batch, x.shape[2])
