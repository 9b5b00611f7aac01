"""Elementwise minimum and maximum of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import broadcast, elementwise
from .annotation import JoinedScale
from .attrs import Shapes
from .case import Case
from .features import Features, blocks_of, elements
from .kernel import KernelSpec, named_for

_MINIMUM = "aten.minimum.default"
_MAXIMUM = "aten.maximum.default"


def _kernel(what: str, element: Scalar = I8) -> KernelSpec:
    name = named_for(what, element)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{element.element} elementwise {what} of two tensors, which may be repeated along some dimensions. All "
            "tensors share scale and zero point. The output may be an input of its size.",
            (*broadcast.operands(element), *broadcast.DIMS),
            geometry=broadcast.GEOMETRY,
        ),
        variant=what,
        priced_as="" if name == what else what,
    )


MINIMUM, MAXIMUM = _kernel("minimum"), _kernel("maximum")
_INT16 = _kernel("minimum", I16), _kernel("maximum", I16)


@dataclass(frozen=True)
class ExtremumAttrs:
    """extremum: the larger or the smaller number of each pair. Inputs: a, b. `lay_out_operands` sets `shapes`."""

    largest: bool
    shapes: Optional[Shapes] = None


def _draw_extremum(d: Case, a: Value, b: Value, shapes: Optional[Shapes] = None) -> Value:
    b.retype(quant=a.quant)
    return d.node("extremum", [a, b], ExtremumAttrs(d.pick(False, True), shapes), a.quant)


def _draw(d: Case) -> Value:
    return _draw_extremum(d, *elementwise.draw_two(d))


def _draw_twice_itself(d: Case) -> Value:
    return _draw_extremum(d, *elementwise.draw_twice_itself(d))


def _draw_broadcast(d: Case) -> Value:
    return _draw_extremum(d, *broadcast.draw_two(d))


def _draw_int16(d: Case) -> Value:
    return _draw_extremum(d, *broadcast.draw_two(d, Element.INT16))


class Extremum(elementwise.PairOp):
    """The smaller or the larger one of both steps: with one scale and zero point, steps are in the order of the numbers
    that they stand for, and nothing is requantized [TFLite kernels/internal/reference/maximum_minimum.h].

    The output may be stored over either input.
    """

    name = "extremum"
    targets = (_MINIMUM, _MAXIMUM)
    annotation = JoinedScale((_MINIMUM, _MAXIMUM, "aten.min.other", "aten.max.other"), operands=2)
    attrs = ExtremumAttrs
    kernels = (MINIMUM, MAXIMUM, *_INT16)
    draws = (_draw, _draw_twice_itself, _draw_broadcast, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "the minimum or maximum of two tensors of which at most one is constant; both and the result have one scale",
        *broadcast.LIMITS,
        "clamp to tensors; cummax and cummin, and sort, topk, median and kthvalue of at most 8 numbers, if nothing "
        "reads the indices",
    )
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        a, b = context.arguments(node)
        return elementwise.refuse(node, a, b, context) or self._refuse_scales(node, a, b, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        nodes, inputs = elementwise.build_operands(node, context)
        attrs = ExtremumAttrs(largest=target_name(node) == _MAXIMUM)
        return [*nodes, context.node(node, self.name, inputs, attrs)]

    def variant(self, node: Node) -> str:
        return "maximum" if node.attrs.largest else "minimum"

    def features(self, node: Node) -> Features:
        """Kernels compare a word or a vector at a time in each call for a row; shorter rows one after the other."""
        nbytes = node.output.element.bits // 8
        if node.attrs.shapes is None:
            counts, calls = dict(elements(node)), 1
        else:
            counts = dict(broadcast.counts(node.attrs.shapes, nbytes))
            calls = counts["calls"]
        size = node.output.numel // calls  # of most calls
        words, vectors = calls * (size * nbytes // 4), calls * blocks_of(size * nbytes, 16)
        alone = node.output.numel if size * nbytes < 4 else 0
        counts |= {"words": words, "vectors": vectors, "outputs without words": alone}
        return Features(counts, "" if node.attrs.shapes is None else broadcast.VARIANT)

    def _refuse_scales(self, node: EdgeNode, a: EdgeNode, b: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        activations = [x for x in (a, b) if context.constant_float(x) is None]
        refusal = context.refuse_quant(node, activations, same=True)
        if refusal is not None or all(context.operand_quant(x) == context.output_quant(node) for x in (a, b)):
            return refusal
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "its constant operand has another scale or zero point than its output, but the kernel does not rescale; "
            f"{context.requantize}, which shares them",
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        choose = np.maximum if node.attrs.largest else np.minimum
        result: np.ndarray = choose(*broadcast.in_memory(node, inputs))
        return result.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **broadcast.dims(node)}
