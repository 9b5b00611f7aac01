"""float32 to int8 at the border of the graph, with the change to channels-last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import QUANTIZE, first, operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.record import F32, I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout, Quant
from . import storage
from .annotation import NotAnnotated
from .case import Case
from .features import Features, elements, runs
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Op


def _kernel(element: Scalar, doc: str) -> KernelSpec:
    name, kind = named_for("quantize", element), element.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            doc,
            (
                blocks.input(
                    "input", F32, "batch", "channels", "pixels", doc="float32 [batch, channels, pixels], 4-byte aligned"
                ),
                blocks.output(element, "batch", "channels", "pixels", doc=f"{kind} [batch, pixels, channels]"),
                Field("batch", I32),
                Field("channels", I32),
                Field("pixels", I32),
                Field("inverse_scale", F32, "float32(1 / scale)"),
                blocks.zero_point(Element(kind)),
            ),
        ),
    )


KERNEL = _kernel(
    I8,
    "float32 to int8: q = clamp(round_half_even(x * inverse_scale) + zero_point); NaN gives the zero point. [batch, "
    "channels, pixels] is transposed to [batch, pixels, channels] on the way; channels = 1 keeps the order.",
)
STATE_KERNEL = _kernel(I16, "The same to int16, whose zero point is 0.")


def _draw(d: Case) -> Value:
    shape = d.batch(), d.channels(), *d.pair(1, 5)
    return d.quantize(d.input(*shape, element=Element.FLOAT32))


def _draw_state(d: Case) -> Value:
    """No output of a model has 16 bits."""
    x = d.input(d.batch(), d.integer(1, 40), element=Element.FLOAT32)
    return d.dequantize(d.quantize(x, Quant((2.0 ** -d.integer(9, 15),), 0), Element.INT16))


class Quantize(Op):
    """q = clamp(round_half_even(x * float32(1 / scale)) + zero point); NaN gives the zero point."""

    name = "quantize"
    targets = (QUANTIZE,)
    annotation = NotAnnotated("quantization adds it")
    kernels = (KERNEL, STATE_KERNEL)
    draws = (_draw, _draw_state)
    limits = (
        "float32 to int8 or int16, per tensor, at the border of what is delegated",
        "int8 and int16 to each other, or to another scale and zero point, anywhere",
    )
    elements = None
    computes = False
    only_moves = True
    shapeless_output = True
    layouts = Layouts.ANY

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return first(
            lambda: context.refuse_tensors(operand(node)),
            lambda: context.refuse_parameters(node),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return [context.node(node, self.name, [context.value(operand(node))])]

    def write_reshaped(self, node: Node, reshape: Node) -> bool:
        # From row-major floats it gets to any order, from channels-last ones only to the same.
        source, output = reshape.inputs[0], reshape.output
        return not storage.moves(source, output) or storage.effective_layout(node.inputs[0]) is Layout.ROW_MAJOR

    def moved_bytes(self, node: Node) -> int:
        # No copy of its own: the elements are only converted in another order, which takes longer.
        _, rows, _ = storage.reorder(node.inputs[0], node.output)
        return 0 if rows == 1 else node.output.nbytes // 4

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        q = node.output.type.quantize(inputs[0])
        order = storage.reorder(node.inputs[0], node.output)
        return storage.reordered(q, order).reshape(node.output.storage_shape)

    def features(self, node: Node) -> Features:
        batch, channels, pixels = storage.reorder(node.inputs[0], node.output)
        return Features({**elements(node), **runs(batch * channels, pixels, shortest=4)})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        batch, channels, pixels = storage.reorder(node.inputs[0], node.output)
        return {
            **refs,
            "batch": batch,
            "channels": channels,
            "pixels": pixels,
            "inverse_scale": float(node.output.type.per_tensor.inverse_scale),
            "zero_point": node.output.zero_point,
        }
