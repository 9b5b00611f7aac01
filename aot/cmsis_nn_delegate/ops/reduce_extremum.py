"""Maximum and minimum over dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import reduction
from .annotation import SameScale
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for

_MAXIMUM = "aten.amax.default"
_MINIMUM = "aten.amin.default"


def _kernel(what: str, element: Scalar) -> KernelSpec:
    int8 = f"reduce_{what}"
    name = named_for(int8, element)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{element.element} {what}imum over the middle one of three dimensions; input and output share scale and "
            "zero point.",
            (*reduction.operands(element), *reduction.SIZES),
        ),
        variant=int8,
        priced_as="" if name == int8 else int8,
    )


@dataclass(frozen=True)
class ReduceExtremumAttrs:
    """reduce_extremum over the logical dimensions `dims`, which the output keeps with size 1."""

    dims: tuple[int, ...]
    largest: bool


def _draw(d: Case) -> Value:
    x, dims = reduction.draw(d, d.pick(*KERNEL_ELEMENTS))
    return d.node("reduce_extremum", [x], ReduceExtremumAttrs(dims, d.pick(False, True)), x.quant)


class ReduceExtremum(reduction.ReductionOp):
    """The largest or the smallest step: with one scale and zero point, steps are in the order of the numbers that they
    stand for, and nothing is requantized.

    A maximum over height and width is a maximum pooling (`max_pool2d`).
    """

    name = "reduce_extremum"
    targets = (_MAXIMUM, _MINIMUM)
    annotation = SameScale(targets)
    attrs = ReduceExtremumAttrs
    kernels = tuple(_kernel(what, element) for element in (I8, I16) for what in ("max", "min"))
    draws = (_draw,)
    elements = KERNEL_ELEMENTS
    limits = (
        "over any dimensions; also max, min, aminmax and topk(1), whose indices, if they are read, come from argmax",
    )
    keeps_quant = True

    def features(self, node: Node) -> Features:
        outer, axis, inner = reduction.sizes_of(node)
        one_by_one = reduction.reduced(outer, axis, inner)
        # Kernels take a vector or, of bytes, a word of the elements that lie together, and then the rest.
        count, runs = (axis, outer) if inner == 1 else (inner, outer * axis)
        vector = 128 // node.output.element.bits
        blocks = {
            "vectors": runs * (count // vector),
            "last vectors": runs * min(count % vector, 1),
            "columns of vectors": outer * -(-inner // vector) if inner > 1 else 0,
        }
        if node.output.element is Element.INT8:
            blocks["words"] = runs * (count // 4)
            blocks["elements beside words"] = runs * (count % 4 if inner > 1 or count < 4 else 0)
            blocks["columns of words"] = outer * (inner // 4)
            blocks["columns beside words"] = outer * (inner % 4) if inner > 1 else 0
        return Features({**one_by_one.counts, **blocks}, one_by_one.path)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: context.refuse_quant(node, [source], same=True),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source = operand(node)
        shape, value = shape_of(source), context.value(source)
        largest = target_name(node) == _MAXIMUM
        steps = _steps(shape, reduction.dims_of(node))
        nodes: list[Node] = []
        for index, dims in enumerate(steps):
            shape = reduction.kept(shape, dims)
            attrs = ReduceExtremumAttrs(dims, largest)
            if index == len(steps) - 1 and shape == shape_of(node):
                return [*nodes, context.node(node, self.name, [value], attrs)]
            suffix = f"_kept{index}"
            nodes.append(context.node(node, self.name, [value], attrs, shape, suffix))
            value = nodes[-1].output
        return [*nodes, context.node(node, "reshape", [value])]

    def variant(self, node: Node) -> str:
        return "reduce_max" if node.attrs.largest else "reduce_min"

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        choose = np.max if node.attrs.largest else np.min
        result: np.ndarray = choose(inputs[0].reshape(reduction.sizes_of(node)), axis=1)
        return result.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **reduction.size_fields(node)}


def _steps(shape: Sequence[int], dims: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Returns the dimensions to reduce one after the other: all at once, or first the first neighbours among them."""
    if reduction.fits(shape, dims):
        return [dims]
    runs = itertools.groupby(enumerate(dims), key=lambda at: at[1] - at[0])
    return [tuple(dim for _, dim in run) for _, run in runs]
