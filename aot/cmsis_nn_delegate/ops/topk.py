"""Code shared by the operators that find the largest or smallest steps along a dimension, in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import shape_of
from ..edge.program_types import EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from . import reduction, storage
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for
from .op import Op


def kernel(int8: str, what: str, element: Scalar, output: Scalar, where: str) -> KernelSpec:
    """Returns the kernel of int8's name, or as it is called for `element`, that writes `what`, an `output` each."""
    name = named_for(int8, element)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{what} of the `count` largest or smallest of {element.element} numbers along the middle one of three "
            "dimensions, in order; of equal numbers, the first one comes first. Beyond `axis`, the last one again.",
            (
                reduction.operands(element)[0],
                blocks.output(output, "outer", "count", "inner", doc=where),
                *reduction.SIZES,
                Field("count", I32),
                Field("largest", I32, "1, or 0 for the smallest", low=0, high=1),
            ),
        ),
        priced_as="" if name == int8 else int8,
    )


@dataclass(frozen=True)
class TopkAttrs:
    """The `count` largest, or smallest, along the logical dimension `dim`."""

    dim: int
    count: int
    largest: bool


def draw(d: Case) -> tuple[Value, TopkAttrs]:
    """Draws an input, in which some numbers may be equal, and what is chosen from it."""
    x, (dim, *_) = reduction.draw(d, d.pick(*KERNEL_ELEMENTS))
    count = d.pick(1, x.shape[dim], d.integer(1, x.shape[dim]))
    return x, TopkAttrs(dim, count, d.pick(False, True))


class TopkOp(Op):
    """The base of both operators."""

    attrs = TopkAttrs
    computes = False
    elements = KERNEL_ELEMENTS

    def refuse_numbers(self, node: EdgeNode) -> Optional[Refusal]:
        """Refuses a node without elements."""
        if math.prod(shape_of(node)) > 0:
            return None
        return Refusal(Reason.UNSUPPORTED_SHAPE, f"its result is empty: shape {list(shape_of(node))}")

    def attrs_of(self, node: EdgeNode, context: ImportContext) -> TopkAttrs:
        """Returns the attributes of the graph node for `node`."""
        source, count, dim, largest = context.arguments(node)
        return TopkAttrs(dim % len(shape_of(source)), count, bool(largest))

    def output_shape(self, inputs: Sequence[Value], attrs: TopkAttrs) -> tuple[int, ...]:
        return tuple(attrs.count if dim == attrs.dim else size for dim, size in enumerate(inputs[0].shape))

    def features(self, node: Node) -> Features:
        outer, axis, inner = _sizes(node)
        return reduction.reduced(outer * node.attrs.count, axis, inner)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        sizes = dict(zip(("outer", "axis", "inner"), _sizes(node)))
        return {**refs, **sizes, "count": node.attrs.count, "largest": int(node.attrs.largest)}


def places(node: Node, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns `x` as [outer, axis, inner], and where its largest or smallest are, int64 [outer, count, inner]."""
    lines = x.reshape(_sizes(node)).astype(np.int64)
    order = np.argsort(-lines if node.attrs.largest else lines, axis=1, kind="stable")
    return lines, order[:, : node.attrs.count].astype(np.int64)


def _sizes(node: Node) -> tuple[int, int, int]:
    """(outer, axis, inner) of the input in memory."""
    source = node.inputs[0]
    found = reduction.sizes(source.shape, (node.attrs.dim,), storage.effective_layout(source))
    assert found is not None  # one dimension is never apart from itself
    return found
