"""Where the maximum or minimum along a dimension is, of float32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand
from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Refusal
from ..format.record import F32
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from . import arg_extremum, reduction
from .arg_extremum import ArgExtremumAttrs, ArgExtremumOp
from .case import Case
from .float_op import FloatOp
from .layouts import Layouts


def _draw(d: Case) -> Value:
    x, dims = reduction.draw(d, Element.FLOAT32)
    x.retype(layout=Layout.ROW_MAJOR)
    attrs = ArgExtremumAttrs(d.pick(dims[0], dims[0], None), d.pick(False, True), d.pick(False, True))
    output = d.node("arg_extremum_float32", [x], attrs, None)
    output.retype(element=Element.INT64, layout=Layout.ROW_MAJOR)
    return output


class ArgExtremumFloat32(FloatOp, ArgExtremumOp):
    """The index of the first of the largest or smallest numbers. NaN is never larger or smaller than a number, so that
    it counts only where it comes first; PyTorch takes the first NaN."""

    name = "arg_extremum_float32"
    targets = arg_extremum.TARGETS
    kernels = tuple(
        arg_extremum.kernel(name, what, F32) for name, what in (("argmax", "maximum"), ("argmin", "minimum"))
    )
    draws = (_draw,)
    elements = (Element.FLOAT32,)
    limits = (
        "along one dimension or of all elements; the index is int64 and leaves the delegate; NaN counts only where it "
        "comes first",
    )
    shapeless_input = False
    shapeless_output = False

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return first(
            lambda: context.refuse_floats(operand(node)),
            lambda: self.refuse_size(node),
        )

    def layouts_of(self, node: Node) -> Layouts:
        return Layouts.ROW_MAJOR

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x = inputs[0].reshape(self.sizes(node))
        best, index = x[:, 0], np.zeros(x[:, 0].shape, np.int64)
        for i in range(1, x.shape[1]):
            found = x[:, i] > best if node.attrs.largest else x[:, i] < best
            best, index = np.where(found, x[:, i], best), np.where(found, i, index)
        return index.reshape(node.output.storage_shape)

    def fields(self, node: Node) -> Mapping[str, Any]:
        return dict(zip(("outer", "axis", "inner"), self.sizes(node)))
