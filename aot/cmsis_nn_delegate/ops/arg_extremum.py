"""Where the maximum or minimum along a dimension is, as int64 at the border of the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I64, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from . import reduction, storage
from .annotation import IndexOutput
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Op

_MAXIMUM = "aten.argmax.default"
_MINIMUM = "aten.argmin.default"
TARGETS = (_MAXIMUM, _MINIMUM)


def kernel(int8: str, what: str, element: Scalar) -> KernelSpec:
    """Returns the kernel of int8's name, or as it is called for `element`, that finds `what`."""
    name = named_for(int8, element)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"Index of the first {what} of {element.element} numbers along the middle one of three dimensions, as "
            "int64.",
            (
                reduction.operands(element)[0],
                blocks.output(I64, "outer", "inner", doc="int64 [outer, inner], of any alignment"),
                *reduction.SIZES,
            ),
        ),
        variant=int8,
        priced_as="" if name == int8 else int8,
    )


@dataclass(frozen=True)
class ArgExtremumAttrs:
    """arg_extremum along the logical dimension `dim`, or of all elements in logical order if it is None. `kept` says
    whether the output keeps what is reduced with size 1."""

    dim: Optional[int]
    kept: bool
    largest: bool


def _draw(d: Case) -> Value:
    """Of few different numbers, so that some come twice, and of any."""
    x, dims = reduction.draw(d, d.pick(*KERNEL_ELEMENTS))
    dim = d.pick(dims[0], dims[0], None)
    if dim != 1 and x.layout is Layout.CHANNELS_LAST:
        x.retype(layout=Layout.ROW_MAJOR)
    output = d.node("arg_extremum", [x], ArgExtremumAttrs(dim, d.pick(False, True), d.pick(False, True)), None)
    output.retype(element=Element.INT64, layout=Layout.ROW_MAJOR)
    return output


class ArgExtremumOp(Op):
    """Gives the index of an extremum. Its result is int64, as in PyTorch, so that nothing in the delegate reads it."""

    attrs = ArgExtremumAttrs
    computes = False
    gives_index = True

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, dim, kept = context.arguments(node)
        source = operand(node)
        dim = None if dim is None else dim % max(len(shape_of(source)), 1)
        attrs = ArgExtremumAttrs(dim, bool(kept), target_name(node) == _MAXIMUM)
        found = context.node(node, self.name, [context.value(source)], attrs)
        found.output.retype(element=Element.INT64)
        return [found]

    def refuse_size(self, node: EdgeNode) -> Optional[Refusal]:
        """Refuses a node without elements."""
        if math.prod(shape_of(node)) > 0:
            return None
        return Refusal(Reason.UNSUPPORTED_SHAPE, f"its result is empty: shape {list(shape_of(node))}")

    def output_shape(self, inputs: Sequence[Value], attrs: ArgExtremumAttrs) -> tuple[int, ...]:
        shape = inputs[0].shape
        dims = range(len(shape)) if attrs.dim is None else (attrs.dim,)
        if attrs.kept:
            return reduction.kept(shape, tuple(dims))
        return tuple(size for dim, size in enumerate(shape) if dim not in dims)

    def variant(self, node: Node) -> str:
        return "argmax" if node.attrs.largest else "argmin"

    def features(self, node: Node) -> Features:
        return reduction.reduced(*self.sizes(node))

    def sizes(self, node: Node) -> tuple[int, int, int]:
        """(outer, axis, inner) of the input in memory."""
        source, dim = node.inputs[0], node.attrs.dim
        if dim is None or not source.shape:
            return 1, source.numel, 1
        found = reduction.sizes(source.shape, (dim,), storage.effective_layout(source))
        assert found is not None  # one dimension is never apart from itself
        return found


class ArgExtremum(ArgExtremumOp):
    """The index of the largest or smallest step, the first one if there are several, as PyTorch's argmax and argmin of
    the numbers that the steps stand for."""

    name = "arg_extremum"
    targets = TARGETS
    annotation = IndexOutput(TARGETS)
    kernels = tuple(
        kernel(name, what, element)
        for element in (I8, I16)
        for name, what in (("argmax", "maximum"), ("argmin", "minimum"))
    )
    draws = (_draw,)
    elements = KERNEL_ELEMENTS
    limits = ("along one dimension or of all elements; the index is int64 and leaves the delegate",)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(source),
            lambda: context.refuse_input_quant(node, source),
            lambda: self.refuse_size(node),
        )

    def layouts_of(self, node: Node) -> Layouts:
        # Without the channels, what is left of an image has the same order in both layouts.
        return Layouts.SAME if node.attrs.dim == 1 else Layouts.ROW_MAJOR

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        choose = np.argmax if node.attrs.largest else np.argmin
        found: np.ndarray = np.asarray(choose(inputs[0].reshape(self.sizes(node)), axis=1))
        return found.astype(np.int64).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **dict(zip(("outer", "axis", "inner"), self.sizes(node)))}
