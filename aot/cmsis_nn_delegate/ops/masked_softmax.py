"""Softmax of the elements of each row that a constant mask leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import argument, first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant, TensorType
from . import softmax, softmax_int16, storage
from .annotation import FixedOutput
from .case import Case
from .features import Features
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op

KERNEL = KernelSpec(
    "masked_softmax",
    Struct(
        "MaskedSoftmaxArgs",
        "SoftmaxArgs for rows of any size, with a mask: where it is not 0, elements do not count, and become 0. Row i "
        "has row i % mask_rows of the mask.",
        (
            blocks.input("input", I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            blocks.filter("mask_rows", "row_size", doc="int8 [mask_rows, row_size], the mask"),
            blocks.output(I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32),
            Field("mask_rows", I32),
            *softmax.SCALING_FIELDS,
        ),
        values="softmax",
    ),
)
INT16 = KernelSpec(
    "masked_softmax_int16",
    Struct(
        "MaskedSoftmaxInt16Args",
        "SoftmaxInt16Args with a mask, as MaskedSoftmaxArgs.",
        (
            blocks.input("input", I16, "rows", "row_size", doc="int16 [rows, row_size]"),
            blocks.filter("mask_rows", "row_size", doc="int8 [mask_rows, row_size], the mask"),
            blocks.output(I16, "rows", "row_size", doc="int16 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32, low=1, high=softmax_int16.MAX_ROW),
            Field("mask_rows", I32),
            *softmax_int16.SCALING_FIELDS,
        ),
        values=softmax_int16.VALUES,
    ),
    priced_as="masked_softmax",
)


@dataclass(frozen=True)
class MaskedSoftmaxAttrs:
    """masked_softmax along the last dimension. Inputs: x, mask (int8 [mask rows, row size], 0 where x counts)."""


def _draw(d: Case) -> Value:
    """Causal masks, masks of parts of a row and any; some of them hide whole rows."""
    return _masked(d, d.quant(float(2.0 ** d.random.uniform(-8, 3))), Element.INT8, softmax.OUTPUT)


def _draw_int16(d: Case) -> Value:
    return _masked(d, Quant((float(2.0 ** d.random.uniform(-20, 3)),), 0), Element.INT16, softmax_int16.OUTPUT)


def _masked(d: Case, quant: Quant, element: Element, output: Quant) -> Value:
    mask_rows, row_size = d.integer(1, 5), d.pick(d.integer(1, 20), d.integer(20, 600))
    x = d.input(d.integer(1, 3), mask_rows, row_size, element=element, quant=quant)
    mask = d.constant((mask_rows, row_size), Element.INT8, 0, 1)
    kind = d.pick("any", "causal", "parts")
    if kind == "causal":
        mask.data = np.triu(np.ones((mask_rows, row_size), np.int8), d.pick(1, d.integer(1, row_size)))
    elif kind == "parts":
        parts = np.arange(row_size) // d.integer(1, 40) + np.arange(mask_rows)[:, None]
        mask.data = (parts % 2).astype(np.int8)
    return d.node("masked_softmax", [x, mask], MaskedSoftmaxAttrs(), output)


class MaskedSoftmax(Op):
    """What `softmax` computes, of the elements of a row that the mask leaves. A row of which it leaves nothing becomes
    zeros.

    An added mask of minus infinity would not do: the scores would share its scale. `quantization.masks` finds masks.
    """

    name = "masked_softmax"
    targets = ("aten._masked_softmax.default",)
    annotation = FixedOutput(targets, softmax.OUTPUT.scale[0], softmax.OUTPUT.zero_point)
    attrs = MaskedSoftmaxAttrs
    kernels = (KERNEL, INT16)
    draws = (_draw, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "softmax along the last dimension of what a constant mask hides parts of: causal attention, a mask of true and "
        "false, minus infinity or at most -100 added or filled in",
        "in each row of the mask at least one element counts",
    )
    shapeless_input = True
    shapeless_output = True
    layouts = Layouts.ROW_MAJOR

    def takes(self, node: EdgeNode, element: Element) -> bool:
        return softmax.takes_row(node, element, -1)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_mask(node, context),
            lambda: context.refuse_quant(node, [source]),
            lambda: softmax.refuse_scales(node, context, -1),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        found = context.constant_float(operand(node, 1))
        if found is None or found.data is None:
            raise ValueError(f"{node.name} has a mask without data")
        mask = smallest_mask(found.data.astype(np.int8))
        constant = Value(f"{node.name}_mask", TensorType(Element.INT8, mask.shape), mask)
        return [context.node(node, self.name, [context.value(operand(node)), constant], MaskedSoftmaxAttrs())]

    def _refuse_mask(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        mask, rank = context.constant_float(operand(node, 1)), len(shape_of(node))
        dim = argument(node, 2) if len(node.args) > 2 else None
        if mask is not None and mask.shape == shape_of(node) and rank and dim in (-1, rank - 1):
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            "its mask is no constant of its shape, or it does not work along the last dimension; register the mask as "
            "a buffer",
        )

    def features(self, node: Node) -> Features:
        mask_rows, row_size = node.inputs[1].shape
        outputs = node.output.numel
        seen = outputs // (mask_rows * row_size) * int((node.inputs[1].constant == 0).sum())
        counts = {"rows": outputs // row_size, "outputs": outputs, "seen": seen}
        return Features({**counts, **softmax.exponential_counts(node, seen)})

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        mask = node.inputs[1].constant
        data = inputs[0].reshape(-1, mask.shape[1])
        hidden = mask[np.arange(len(data)) % len(mask)] != 0
        return softmax.probabilities_of(node, data, hidden).reshape(node.output.storage_shape)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"filter": node.inputs[1].constant}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        mask_rows, row_size = node.inputs[1].shape
        return {
            **refs,
            "rows": storage.rows_of(node.inputs[0], row_size),
            "row_size": row_size,
            "mask_rows": mask_rows,
            **softmax.fields_of(node),
        }


def smallest_mask(mask: np.ndarray) -> np.ndarray:
    """Returns the rows of a mask of any rank, once for all batches that have the same."""
    rows = mask.reshape(-1, mask.shape[-1])
    count = next(
        count
        for count in np.cumprod([1, *mask.shape[-2::-1]])
        if (rows.reshape(-1, count, mask.shape[-1]) == rows[:count]).all()
    )
    return np.ascontiguousarray(rows[:count])
