"""Rows of a constant table, chosen by integers from outside of the delegate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.constant import Constant
from ..edge.nodes import argument, first, operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS, MOVED_ELEMENTS, named
from ..format.record import F32, I4, I8, I16, I32, I64, Field, Role, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout, Quant, TensorType
from . import constant_weights, storage
from .annotation import LookUp
from .case import Case
from .features import Features
from .float_op import reals
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .loops import Loops, find_loops, through
from .op import Op

_EMBEDDING = "aten.embedding.default"
_SELECT = "aten.index_select.default"
_INDEX = "aten.index.Tensor"
_GATHER = "aten.gather.default"
_TAKE = "aten.take.default"
# PyTorch counts negative indices of these from the end, and refuses them elsewhere.
_FROM_END = frozenset({_INDEX, _TAKE})


# Of tables of 4 bits: all rows are shifted by as much as makes the largest of their multipliers fit 16 bits.
_MULTIPLIER_BITS = 15
_MAX_SHIFT = 30


def _kernel(int8: str, element: Scalar, number: Scalar) -> KernelSpec:
    """Returns the kernel called `int8`, or as it is called for the `number` in the table; indices are `element`."""
    name, kind = named_for(int8, number), number.element
    packed = number is I4
    given = I8 if packed else number
    what, result = "Copies", ""
    if packed:
        what = "Unpacks and requantizes"
        result = (
            " Two numbers share a byte, the first in the lower half, without gaps; the output is filter * scales[row] "
            "/ 2^shift, rounded half up, + output_offset, limited to int8."
        )
    requantized = (
        Field("shift", I32, "to the right", low=0, high=_MAX_SHIFT),
        blocks.output_offset(),
    )
    return KernelSpec(
        name,
        Struct(
            f"{''.join(map(str.capitalize, name.split('_')))}Args",
            f"{what} the rows of an {kind} table that {element.element} indices choose. Row [i, j] of the output is "
            "that of index first + i * outer_step + j * inner_step. Indices are data, so that run() checks them: one "
            "that is not in [0, rows) ends the execution with InvalidArgument, and the output is then undefined."
            f"{result}",
            (
                blocks.input("input", element, "input_count", doc=f"{element.element} [input_count], of any alignment"),
                blocks.filter("rows", "depth", doc=f"{kind} [rows, depth], the table", element=number),
                *([blocks.operand(Role.FILTER, "scales", I16, ("rows",), "int16 [rows], >= 0")] * packed),
                blocks.output(given, "outer", "inner", "depth", doc=f"{given.element} [outer, inner, depth]"),
                Field("input_count", I32, "indices"),
                Field("rows", I32),
                Field("depth", I32),
                Field("outer", I32),
                Field("inner", I32),
                Field("first", I32),
                Field("outer_step", I32, "not negative"),
                Field("inner_step", I32, "not negative"),
                Field("from_end", I32, "whether -1 is the last row, -2 the one before it ...", low=0, high=1),
                *(requantized * packed),
            ),
            geometry="embedding",
        ),
        priced_as="" if packed or name == int8 else int8,
    )


@dataclass(frozen=True)
class EmbeddingAttrs:
    """embedding: inputs: indices (integers), table [rows, depth]. The indices are those elements of
    their input, in memory order, that at most two loops of `sizes` and `strides` touch, from element `first` on.
    `shape` is the logical shape of the output. `from_end` says that negative indices count from the table's end."""

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    first: int = 0
    from_end: bool = False

    @property
    def loops(self) -> Loops:
        return Loops(self.sizes, self.strides, self.first)


class _Choice(NamedTuple):
    """How an edge node chooses rows: `loops` go through the indices in `source`, a tensor that the delegate gets."""

    source: EdgeNode
    loops: Loops


def _attrs(shape: tuple[int, ...], loops: Loops, from_end: bool) -> EmbeddingAttrs:
    return EmbeddingAttrs(shape, loops.sizes, loops.strides, loops.offset, from_end)


def _draw(d: Case) -> Value:
    """All indices of a tensor of any rank, which also go to the ends of the table; depths of single bytes and of long
    rows."""
    shape = tuple(d.integer(1, 4) for _ in range(d.integer(0, 3)))
    return _look_up(d, shape, through(math.prod(shape)), shape)


def _draw_part(d: Case) -> Value:
    """A part of a matrix of indices, in steps, also repeated or across."""
    rows, columns = d.integer(1, 6), d.integer(1, 9)
    first, step = d.integer(0, columns - 1), d.integer(1, 3)
    inner = d.integer(1, (columns - 1 - first) // step + 1)
    loops = ((rows, columns), (inner, step))
    (outer, outer_step), (inner, inner_step) = d.pick(loops, loops[::-1], ((d.integer(1, 3), 0), (inner, step)))
    return _look_up(d, (rows, columns), Loops((outer, inner), (outer_step, inner_step), first), (outer, inner))


def _draw_int4(d: Case) -> Value:
    """Also rows of odd length, of which every other one begins within a byte."""
    shape = tuple(d.integer(1, 4) for _ in range(d.integer(0, 3)))
    return _look_up(d, shape, through(math.prod(shape)), shape, small=True)


def _look_up(d: Case, shape: tuple[int, ...], loops: Loops, looked_up: tuple[int, ...], small: bool = False) -> Value:
    rows = d.pick(1, d.integer(2, 40), d.integer(100, 300))
    depth = d.pick(1, d.integer(2, 9), d.integer(10, 70))
    from_end = d.pick(False, True)
    indices = d.input(*shape, element=d.pick(Element.INT64, Element.INT32))
    element = Element.INT4 if small else d.pick(*MOVED_ELEMENTS)
    quant = d.quant(element=element) if element.is_activation else None
    if small:
        quant = d.quant()
        # Some rows are so small that all become the zero point, and some so large that they are limited.
        scales = quant.scale[0] * 20 * 2.0 ** d.random.uniform(d.pick(-3, -12, -22), 1, d.pick(1, rows))
        rows_quant = Quant(tuple(map(float, scales)), 0, None if len(scales) == 1 else 0)
        table = d.constant((rows, depth), element, element.low, element.high, rows_quant)
    elif quant is None:
        table = reals(d, rows, depth)
    else:
        table = d.constant((rows, depth), element, element.low, element.high, quant)
    output = d.node("embedding", [indices, table], _attrs((*looked_up, depth), loops, from_end), quant)
    output.retype(element=COMMON_ELEMENT if small else element, layout=Layout.ROW_MAJOR)
    return output


class Embedding(Op):
    """output[..., :] = table[indices[...]]. Table and output have one scale, so that the look-up is exact.

    A table of 4 bits may have a scale for each row, and its output has another, with 8 bits: what a row is multiplied
    with has 16 bits, of which the rows share the exponent. That is within 1/250 of a step of the exact number if the
    largest row spans 8 bits, and takes two bytes a row.
    """

    name = "embedding"
    targets = (_EMBEDDING, _SELECT, _INDEX, _GATHER)
    annotation = LookUp((*targets, _TAKE))
    attrs = EmbeddingAttrs
    kernels = tuple(
        _kernel(name, element, number)
        for number in (I8, I16, F32, I4)
        for name, element in (("embedding", I64), ("embedding_int32", I32))
    )
    elements = MOVED_ELEMENTS
    draws = (_draw, _draw_part, _draw_int4)
    limits = (
        "rows of a constant table, chosen by int64 or int32 indices that come from outside of the delegate: "
        "nn.Embedding, index_select along the first dimension, table[indices], and gather and take of a vector",
        "index_select, x[:, indices] and gather of activations by an input, or by argmax and argmin, are a product "
        "with rows of a unit matrix: up to 128 elements along the dimension, and 16384 times indices",
        "indices may be reshaped, sliced, transposed and expanded before; an index outside of the table ends the "
        "execution with an error",
        f"{constant_weights.INT4_LIMIT} with int8 activations: with a scale for each row, or one for the table",
    )
    computes = False
    layouts = Layouts.ROW_MAJOR

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return first(
            lambda: context.refuse_tensors(node),
            lambda: self._refuse_table(node, context),
            lambda: self._refuse_form(node),
            lambda: self._refuse_indices(node, context),
            lambda: context.refuse_quant(node, []),
            lambda: self._refuse_scales(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        found = context.constant_float(operand(node))
        chosen = _choice(node, context)
        if found is None or chosen is None:
            raise ValueError(f"{node.name} does not look rows of a constant table up")
        rows = found.shape[0]
        name, shape = f"{node.name}_table", (rows, math.prod(found.shape[1:]))
        if _is_small(found):
            table = _small_table(found, name, shape)
        else:
            read = context.operand if found.quantized else context.real_operand
            table = read(operand(node), name, shape)
        attrs = _attrs(shape_of(node), chosen.loops, target_name(node) in _FROM_END)
        return [context.node(node, self.name, [context.value(chosen.source), table], attrs)]

    def _refuse_table(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        found = context.constant_float(operand(node))
        if found is None:
            return Refusal(
                Reason.NOT_CONSTANT,
                "what it chooses from is not constant, and the delegate looks up in constant tables only. Indices of "
                "activations are constant, or an input for one dimension, and become slices or a product with a "
                "matrix, up to 16384 elements times indices: choose in parts, in an order with a pattern, or let the "
                "layer before compute them in this order. For an index that is computed, multiply by "
                "(torch.arange(n) == index).float() and sum; at the place of a maximum, take amax; the last steps of "
                "sequences are the states that VariableLength returns",
            )
        if not found.shape or math.prod(found.shape) == 0:
            return Refusal(Reason.UNSUPPORTED_SHAPE, f"its table is empty: shape {list(found.shape)}")
        if found.quantized and found.quant is None and not _is_small(found):
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"its table is {found.dtype} with {_scales_of(found)}; the kernels take "
                f"{named(*KERNEL_ELEMENTS)} with one scale, or 4 bits with one or one for each row, and zero "
                f"points of 0: {context.requantize}",
            )
        return None

    def _refuse_form(self, node: EdgeNode) -> Optional[Refusal]:
        target, table = target_name(node), operand(node)
        rank = len(shape_of(table))
        if target in (_SELECT, _GATHER) and argument(node, 1) % rank != 0:
            instead = "transpose the table beforehand, where it is made"
        elif target == _GATHER and rank != 1:
            instead = "nn.Embedding and table[indices] choose whole rows"
        elif target == _INDEX and (len(argument(node, 1)) != 1 or argument(node, 1)[0] is None):
            instead = "index the first dimension alone, and the others of the result"
        else:
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER, f"it does not choose along the first dimension of its table alone; {instead}"
        )

    def _refuse_indices(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        indices = _indices(node)
        refusal = context.refuse_indices(indices)
        if refusal is not None:
            return refusal
        if _choice(node, context) is not None:
            return None
        return Refusal(
            Reason.UNSUPPORTED_SHAPE,
            f"its indices {indices.name} are taken from a tensor in more than two loops; look up the whole tensor, and "
            "move the result",
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        # Scales per row are data.
        return first(lambda: self._refuse_table(node, context), lambda: self._refuse_scales(node, context))

    def _refuse_scales(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        found = context.constant_float(operand(node))
        table, output = context.operand_quant(operand(node)), context.output_quant(node)
        if found is not None and _is_small(found):
            refusal = context.refuse_elements(node, (COMMON_ELEMENT,), [])
            if refusal is not None or found.scales is None:
                return refusal  # `check_data` sees scales per row
            try:
                _multipliers(found.scales, context.output_scale(node))
            except ValueError as error:
                return Refusal(Reason.UNSUPPORTED_QUANTIZATION, str(error))
            return None
        if table == output:
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "its table and its output have different scales, but the kernel does not rescale; "
            f"{context.requantize}, which shares them",
        )

    def output_shape(self, inputs: Sequence[Value], attrs: EmbeddingAttrs) -> tuple[int, ...]:
        return attrs.shape

    def index_range(self, node: Node, value: Value) -> Optional[tuple[int, int]]:
        rows = len(node.inputs[1].constant)
        return (-rows if node.attrs.from_end else 0, rows - 1) if value is node.inputs[0] else None

    def features(self, node: Node) -> Features:
        depth = node.inputs[1].shape[1]
        return Features({"rows": node.output.numel // depth, "outputs": node.output.numel})

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        table, attrs = _rows(node), node.attrs
        rows = len(table)
        indices = inputs[0].reshape(-1)[attrs.loops.elements()].astype(np.int64)
        if attrs.from_end:
            indices = np.where(indices < 0, indices + rows, indices)
        outside = (indices < 0) | (indices >= rows)
        if outside.any():
            raise ValueError(f"{node.name}: index {indices[outside][0]} is not in a table of {rows} rows")
        return np.ascontiguousarray(table[indices]).reshape(node.output.storage_shape)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        table = node.inputs[1]
        if table.element is not Element.INT4:
            return {"filter": table.constant}
        return {"filter": table.type.packed(table.constant), "scales": _multipliers_of(node)[0].astype(np.int16)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        (rows, depth), attrs = node.inputs[1].shape, node.attrs
        unused = [(1, 0)] * (2 - len(attrs.sizes))
        (outer, outer_step), (inner, inner_step) = unused + list(zip(attrs.sizes, attrs.strides))
        requantized = {}
        if node.inputs[1].element is Element.INT4:
            requantized = {"shift": _multipliers_of(node)[1], "output_offset": node.output.zero_point}
        return {
            **refs,
            **requantized,
            "input_count": node.inputs[0].numel,
            "rows": rows,
            "depth": depth,
            "outer": outer,
            "inner": inner,
            "first": attrs.first,
            "outer_step": outer_step,
            "inner_step": inner_step,
            "from_end": int(attrs.from_end),
        }


def _is_small(table: Constant) -> bool:
    """Returns whether the kernels for 4 bits take a table, with a scale for each row, or one."""
    if not table.quantized or table.element is not Element.INT4 or table.axis not in (None, 0):
        return False
    return table.zero_points is None or not np.any(table.zero_points)


def _scales_of(table: Constant) -> str:
    """Returns what scales a table has, for people."""
    if table.axis is None:
        return "one scale"
    symmetric = table.zero_points is None or not np.any(table.zero_points)
    return f"a scale for each index of dimension {table.axis}" + (" and zero points" * (not symmetric))


def _small_table(table: Constant, name: str, shape: tuple[int, int]) -> Value:
    if table.data is None or table.scales is None:
        raise ValueError(f"{name} has no data")
    quant = Quant(tuple(map(float, table.scales)), 0, None if len(table.scales) == 1 else 0)
    return Value(name, TensorType(Element.INT4, shape, quant=quant), np.ascontiguousarray(table.data.reshape(shape)))


def _multipliers(scales: np.ndarray, output_scale: float) -> tuple[np.ndarray, int]:
    """Returns (int64 [rows], shift): row * multiplier / 2^shift is a row in steps of the output. ValueError if that
    exceeds 16 bits."""
    if not (np.all(np.isfinite(scales)) and np.all(scales > 0)):
        raise ValueError("a scale of its table is not a positive number; calibrate and convert the model again")
    factors = scales / output_scale
    _, exponent = math.frexp(float(factors.max()))
    shift = min(_MULTIPLIER_BITS - exponent, _MAX_SHIFT)
    if shift < 0:
        raise ValueError(
            f"the scale of its output, {output_scale:g}, is too small next to that of its table, {scales.max():g}; "
            "calibrate with representative data"
        )
    # A factor just below a power of two would be rounded to it.
    return np.minimum(np.rint(factors * 2.0**shift), 2**_MULTIPLIER_BITS - 1).astype(np.int64), shift


def _multipliers_of(node: Node) -> tuple[np.ndarray, int]:
    table = node.inputs[1]
    if table.quant is None:
        raise ValueError(f"{node.name}: its table {table.name} is not quantized")
    return _multipliers(np.broadcast_to(np.array(table.quant.scale), table.shape[:1]), node.output.scale)


def _rows(node: Node) -> np.ndarray:
    """Returns the rows [rows, depth] as the output has them."""
    table, output = node.inputs[1].constant, node.output
    if node.inputs[1].element is not Element.INT4:
        return table
    multipliers, shift = _multipliers_of(node)
    rounded = (table * multipliers[:, None] + ((1 << shift) >> 1)) >> shift
    return output.type.clamp(rounded + output.zero_point)


def _indices(node: EdgeNode) -> EdgeNode:
    """Returns the argument of a target that has the indices."""
    if target_name(node) == _INDEX:
        found: EdgeNode = next(index for index in argument(node, 1) if index is not None)
        return found
    return operand(node, 1 if target_name(node) == _EMBEDDING else 2)


def _choice(node: EdgeNode, context: EdgeContext) -> Optional[_Choice]:
    """Returns where the indices lie; None if two loops do not reach them in their order."""
    source, elements = context.moved_indices(_indices(node))
    places = np.argsort(storage.memory_order(context.index_type(source)), kind="stable")[elements]
    loops = find_loops(places)
    if loops is None or len(loops.sizes) > 2 or any(step < 0 for step in loops.strides):
        return None
    return _Choice(source, loops)
