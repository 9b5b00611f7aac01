"""Product of matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Scalar, Struct
from ..format.schema import MAX_PRODUCTS
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, elementwise
from .annotation import Elementwise
from .attrs import Clamp
from .case import Case
from .features import Features, row_products
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .loops import find_loops
from .op import Op
from .quantized_math import quantize_multiplier, reduced_multiplier, requantize, requantize_long, to_output
from .rearrange import RearrangeAttrs

_OFFSETS = (
    blocks.scratch(),
    Field("scratch_bytes", I32),
    blocks.input_offset("input1_offset"),
    blocks.input_offset("input2_offset"),
    blocks.output_offset(),
)
_MAX_WIDE_SHIFT = 14  # what arm_nn_requantize_s64 shifts to the right by is not negative


def _kernel(element: Scalar, more: tuple[Field, ...], shift: Field, activation: Struct) -> KernelSpec:
    name = named_for("batch_matmul", element)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{element.element} products of the rows of two batches of matrices: output[n][h][i][j] is the product of "
            "row i of input1[n][h] and row j of input2[n][h]. A batch of size 1 is used for every batch of the other "
            "input.",
            (
                blocks.input("input1", element, "input1_dims", doc=f"{element.element} [n, h, w, c]"),
                blocks.input("input2", element, "input2_dims", doc=f"{element.element} [n, h, w, c]"),
                blocks.output(element, "output_dims", doc=f"{element.element} [n, h, w of input1, w of input2]"),
                *more,
                blocks.multiplier("multiplier"),
                shift,
                Field("activation", activation),
                Field("input1_dims", blocks.DIMS),
                Field("input2_dims", blocks.DIMS, "the same c"),
                Field("output_dims", blocks.DIMS),
            ),
            geometry="batch_matmul",
        ),
        priced_as="" if element is I8 else "batch_matmul",
    )


KERNEL = _kernel(I8, _OFFSETS, blocks.shift("shift"), blocks.ACTIVATION)
INT16 = _kernel(I16, (), blocks.shift("shift", high=_MAX_WIDE_SHIFT), blocks.ACTIVATION_INT16)


class Matrices(NamedTuple):
    """Two axes of batches, the rows of a matrix, and the elements of a row."""

    n: int
    h: int
    rows: int
    row_size: int


@dataclass(frozen=True)
class BatchMatmulAttrs:
    """batch_matmul. Inputs: a, b, in memory batches of matrices. The result has a row for every row of a, and in it an
    element for every row of b. A batch of 1 stands for as many as the other input has."""

    a: Matrices
    b: Matrices
    clamp: Clamp = Clamp()

    @property
    def output(self) -> Matrices:
        return Matrices(max(self.a.n, self.b.n), max(self.a.h, self.b.h), self.a.rows, self.b.rows)


def matrices(a: Sequence[int], b: Sequence[int]) -> Optional[tuple[Matrices, Matrices]]:
    """Returns how the kernel sees a @ b of these shapes, at least of rank 2, once b is transposed. None if that takes
    more than two axes of batches, because they are broadcast in turns."""
    *batches_a, rows, row_size = a
    *batches_b, _, columns = b
    rank = max(len(batches_a), len(batches_b))
    pairs = list(
        zip([1] * (rank - len(batches_a)) + batches_a, [1] * (rank - len(batches_b)) + batches_b),
    )
    axes: list[tuple[int, int]] = []
    for pair in pairs:
        if pair == (1, 1):
            continue
        if axes and all((size == 1) == (last == 1) for size, last in zip(pair, axes[-1])):
            axes[-1] = axes[-1][0] * pair[0], axes[-1][1] * pair[1]
        else:
            axes.append(pair)
    if axes and axes[-1][1] == 1:
        # One matrix for all: the rows of all batches are those of one.
        rows *= axes.pop()[0]
    if len(axes) > 2:
        return None
    (n_a, n_b), (h_a, h_b) = [(1, 1)] * (2 - len(axes)) + axes
    return Matrices(n_a, h_a, rows, row_size), Matrices(n_b, h_b, columns, row_size)


def _draw(d: Case) -> Value:
    """Batches of both, or of one. Sometimes one is a constant."""
    n, h = d.integer(1, 3), d.integer(1, 3)
    a, b = [(d.pick(n, n, 1), d.pick(h, h, 1)) for _ in range(2)]
    return draw_product(d, a, b, d.integer(1, 6), d.integer(1, 9), d.integer(1, 20))


def _draw_long(d: Case) -> Value:
    """Rows beyond the widths that kernels work in."""
    return draw_product(d, (1, 1), (1, 1), d.integer(1, 4), d.integer(1, 12), d.integer(20, 300))


def draw_product(
    d: Case,
    a: tuple[int, int],
    b: tuple[int, int],
    rows: int,
    columns: int,
    row_size: int,
    element: Optional[Element] = None,
) -> Value:
    """A product of batches of matrices of these sizes, of int16 now and then if `element` is None."""
    attrs = BatchMatmulAttrs(Matrices(*a, rows, row_size), Matrices(*b, columns, row_size), d.clamp())
    # Sometimes without an offset, for which kernels have loops of their own.
    element = element or d.pick(Element.INT8, Element.INT8, Element.INT16)
    inputs = [
        d.input(
            *(m.n * m.h, m.rows, m.row_size),
            element=element,
            quant=d.quant(zero_point=d.pick(None, None, 0), element=element),
        )
        for m in (attrs.a, attrs.b)
    ]
    constant = d.pick(None, None, 0, 1)
    if constant is not None:
        of = d.inputs.pop(constant)
        inputs[constant] = d.constant(of.shape, of.element, of.element.low, of.element.high, of.quant)
    # Of uniform numbers; products of int16 are 2^16 times as large, for outputs with 2^8 times as many steps.
    spread = 74 * 74 * math.sqrt(row_size) * 2.0 ** (element.bits - 8)
    scale = inputs[0].scale * inputs[1].scale * spread / 50 * float(d.random.uniform(0.7, 2.5))
    return d.node("batch_matmul", inputs, attrs, d.quant(scale, element=element))


class BatchMatmul(Op):
    """acc = (row of a - zero point) @ (row of b - zero point), requantized by scale a * scale b / output scale.

    CMSIS-NN: arm_batch_matmul_s8, whose second input is transposed, as in TensorFlow Lite Micro. Products of int16 have
    sums of 64 bits, requantized with multipliers of 16 bits [arm_batch_matmul_s16].
    """

    name = "batch_matmul"
    targets = ("aten.matmul.default", "aten.bmm.default", "aten.mm.default")
    whole = ("aten.matmul.default",)
    annotation = Elementwise(("aten.matmul.default", "aten.bmm.default", "aten.mm.default"), operands=2)
    attrs = BatchMatmulAttrs
    kernels = (KERNEL, INT16)
    draws = (_draw, _draw_long)
    elements = KERNEL_ELEMENTS
    limits = (
        "products of two tensors of which at most one is constant; one constant matrix for all batches makes a linear "
        "layer; also einsum of any number of tensors, and the like",
        "broadcasting that alternates between the operands at most once",
    )
    shapeless_input = True
    shapeless_output = True
    layouts = Layouts.ROW_MAJOR

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        # A linear layer, as programs have it that no quantizer of ours has seen.
        return target_name(node) != "aten.mm.default" or context.constant_float(operand(node, 1)) is None

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        a, b = operand(node, 0), operand(node, 1)
        return first(
            lambda: context.refuse_tensors(node, a, b),
            lambda: self._refuse_shapes(shape_of(a), shape_of(b)),
            lambda: elementwise.refuse_constants(context, a, b),
            lambda: context.refuse_quant(node, [x for x in (a, b) if context.constant_float(x) is None]),
            lambda: self._refuse_scales(node, a, b, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        a, b = (context.operand(operand(node, index), f"{node.name}_operand{index}") for index in (0, 1))
        sizes = matrices(a.shape, b.shape)
        if sizes is None:
            raise ValueError(f"{node.name} is broadcast in turns")
        # The kernel wants the rows of the transposed matrix. If PyTorch transposed it too, nothing is left of that.
        swapped = np.arange(b.numel).reshape(b.shape).swapaxes(-1, -2)
        if b.is_constant:
            data = np.ascontiguousarray(b.constant.swapaxes(-1, -2))
            rows = Value(f"{b.name}_rows", b.type.of(shape=data.shape), data)
            return [context.node(node, self.name, [a, rows], BatchMatmulAttrs(*sizes))]
        loops = find_loops(swapped.reshape(-1))
        if loops is None:
            raise ValueError(f"{node.name}: no loops transpose {b.shape}")
        attrs = RearrangeAttrs(loops, swapped.shape)
        turn = context.node(node, "rearrange", [b], attrs, swapped.shape, "_rows")
        return [turn, context.node(node, self.name, [a, turn.output], BatchMatmulAttrs(*sizes))]

    def _refuse_shapes(self, a: Sequence[int], b: Sequence[int]) -> Optional[Refusal]:
        if min(len(a), len(b)) < 2:
            return Refusal(
                Reason.UNSUPPORTED_SHAPE,
                f"operands {list(a)} and {list(b)}: a vector is no matrix; give it rank 2 with unsqueeze",
            )
        sizes = matrices(a, b)
        if sizes is None:
            return Refusal(
                Reason.UNSUPPORTED_SHAPE,
                f"operands {list(a)} and {list(b)} are broadcast in turns; expand one of them to the batches of the "
                "other before the product",
            )
        if sizes[0].row_size > MAX_PRODUCTS:
            return Refusal(
                Reason.TOO_LARGE,
                f"operands {list(a)} and {list(b)}: sums of {sizes[0].row_size} products may exceed 32 bits; the "
                f"kernel takes at most {MAX_PRODUCTS}: split the rows, and add the products of the parts",
            )
        return None

    def _refuse_scales(self, node: EdgeNode, a: EdgeNode, b: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        inputs = [context.operand_scale(x) for x in (a, b)]
        output = context.output_scale(node)
        try:
            element = context.operand_element(a) or COMMON_ELEMENT
            _multiplier(inputs[0] * inputs[1] / output, element, shape_of(a)[-1])
        except ValueError:
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"output scale {output:g} is too small for inputs of scales {inputs[0]:g} and {inputs[1]:g}; calibrate "
                "with data that reaches the product's range",
            )
        return None

    def output_shape(self, inputs: Sequence[Value], attrs: BatchMatmulAttrs) -> tuple[int, ...]:
        """[batches, rows, columns]; the importer gives the batches the dimensions that they have in PyTorch."""
        n, h, rows, columns = attrs.output
        return n * h, rows, columns

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        # float64 is exact below 2^53, which no sum reaches, and has a fast product.
        a, b = (
            data.reshape(sizes).astype(np.float64) - value.zero_point
            for value, data, sizes in zip(node.inputs, inputs, (node.attrs.a, node.attrs.b))
        )
        acc = (a @ b.swapaxes(2, 3)).astype(np.int64)
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        element = node.output.element
        scaled = (requantize_long if element is Element.INT16 else requantize)(acc, *self._multiplier(node))
        return to_output(scaled, node.output.zero_point, lo, hi, element).reshape(node.output.storage_shape)

    def macs(self, node: Node) -> int:
        attrs: BatchMatmulAttrs = node.attrs
        return math.prod(attrs.output) * attrs.a.row_size

    def features(self, node: Node) -> Features:
        n, h, rows, columns = node.attrs.output
        found = row_products(n * h * rows, columns, node.attrs.a.row_size)
        counts = {"products": n * h, "sums of b": node.inputs[1].numel, "rows of b": n * h * columns}
        return Features({**found.counts, **counts})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        multiplier, shift = self._multiplier(node)
        attrs = node.attrs
        offsets = elementwise.offsets(node)
        return {
            **refs,
            **({"scratch_bytes": scratch_bytes, **offsets} if offsets else {}),
            "multiplier": multiplier,
            "shift": shift,
            "activation": block_values.activation(attrs.clamp, node.output.type),
            "input1_dims": block_values.dims(*attrs.a),
            "input2_dims": block_values.dims(*attrs.b),
            "output_dims": block_values.dims(*attrs.output),
        }

    def _multiplier(self, node: Node) -> tuple[int, int]:
        """(mantissa, shift) of the product."""
        a, b = (value.scale for value in node.inputs)
        return _multiplier(a * b / node.output.scale, node.output.element, node.attrs.a.row_size)


def _multiplier(real: float, element: Element, row_size: int) -> tuple[int, int]:
    """Returns (mantissa, shift) of sums of `row_size` products. ValueError if the kernel does not take it: requantized
    sums of int16, and twice as much, have at most 32 bits."""
    multiplier, shift = quantize_multiplier(real)
    if element is Element.INT16:
        most = row_size * element.low**2 * reduced_multiplier(multiplier)
        if shift > _MAX_WIDE_SHIFT or most >> (14 - shift) >= 1 << 31:
            raise ValueError(f"sums of {row_size} products times {real:g} may exceed 32 bits")
    return multiplier, shift
