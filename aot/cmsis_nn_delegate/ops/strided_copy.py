"""Copy between two tensors that are walked in steps; created by passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from ..format import blocks
from ..format.record import F32, I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .annotation import NotAnnotated
from .case import Case
from .features import Features, blocks_of
from .kernel import KernelSpec
from .layouts import Layouts
from .loops import Loops, row_major_strides
from .op import Op

MAX_AXES = 6

_AXIS = Struct(
    "CopyAxis",
    "A loop of a strided copy: `size` steps through both tensors, in elements.",
    (
        Field("size", I32),
        Field("input_stride", I32, "0 repeats an element, a negative one reverses the order"),
        Field("output_stride", I32, "not negative"),
    ),
)


def _fields(element: Scalar) -> tuple[Field, ...]:
    return (
        blocks.input("input", element, "input_count", doc=f"{element.element} [input_count]"),
        blocks.output(element, "output_count", doc=f"{element.element} [output_count]"),
        Field("input_count", I32, "elements"),
        Field("output_count", I32, "elements"),
        Field("input_offset", I32, "of the first element read"),
        Field("output_offset", I32, "of the first element written"),
        *(Field(f"axis{index}", _AXIS) for index in range(MAX_AXES)),
    )


KERNEL = KernelSpec(
    "strided_copy",
    Struct(
        "StridedCopyArgs",
        "Copies int8 elements in nested loops, the first axis outermost; unused axes have size 1 and come first. The "
        "input starts at input_offset, the output at output_offset. Every step stays inside both tensors. The copy may "
        "leave elements of the output as they are.",
        _fields(I8),
        geometry="strided_copy",
    ),
)
KERNEL_INT16 = KernelSpec(
    "strided_copy_int16",
    Struct("StridedCopyInt16Args", "The same of int16 elements.", _fields(I16), geometry="strided_copy"),
    priced_as="strided_copy",
)
KERNEL_FLOAT32 = KernelSpec(
    "strided_copy_float32",
    Struct("StridedCopyFloat32Args", "The same of float32 elements.", _fields(F32), geometry="strided_copy"),
    priced_as="strided_copy",
)


@dataclass(frozen=True)
class StridedCopyAttrs:
    """strided_copy: nested loops over the memory of both tensors, the first axis outermost, at most `MAX_AXES`.

    Strides and offsets count elements. `shape` is the logical shape of the output. A call may write a part of its
    output; then whoever made the node knows what the rest contains.
    """

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    input_strides: tuple[int, ...]
    output_strides: tuple[int, ...]
    input_offset: int = 0
    output_offset: int = 0


def _draw(d: Case) -> Value:
    """Axes in any order, reversed, thinned out, repeated, and written in another order than they are read."""
    rank = d.integer(1, 4)
    shape = tuple(d.integer(1, 6) for _ in range(rank - 1)) + (d.pick(d.integer(1, 6), d.integer(10, 70)),)
    strides = row_major_strides(shape)
    sizes, steps, offset = [], [], 0
    for axis in d.random.permutation(rank).tolist():
        step = d.pick(1, 1, 1, 2, 3)
        start = d.integer(0, shape[axis] - 1) if d.pick(False, True) else 0
        size = -(-(shape[axis] - start) // step)
        backwards = d.pick(False, False, True)
        offset += (start + (size - 1) * step * backwards) * strides[axis]
        sizes.append(size)
        steps.append(strides[axis] * (-step if backwards else step))
    for _ in range(d.pick(0, 0, 1, 2)):
        at = d.integer(0, len(sizes))
        sizes.insert(at, d.integer(1, 4))
        steps.insert(at, 0)
    return draw_copy(d, d.input(*shape), sizes, steps, offset)


def _draw_rows(d: Case) -> Value:
    """Long rows that lie together in both tensors."""
    rows, row_size, skipped = d.integer(1, 8), d.integer(1, 150), d.integer(0, 9)
    source = d.input(rows, row_size + skipped)
    return draw_copy(d, source, [rows, row_size], [row_size + skipped, 1], d.integer(0, skipped))


def _draw_int16(d: Case, element: Element = Element.INT16) -> Value:
    """Two channels of an image, or a part of its rows, one of which begins between two words."""
    rows, row_size, skipped = d.integer(1, 8), d.integer(1, 40), d.integer(0, 5)
    source = d.input(rows, row_size + skipped, element=element)
    if d.pick(False, True):
        return draw_copy(d, source, [rows, row_size], [row_size + skipped, 1], d.integer(0, skipped))
    return draw_copy(d, source, [row_size, rows, 2], [-1, row_size + skipped, 0], row_size - 1 + d.integer(0, skipped))


def _draw_float32(d: Case) -> Value:
    output = _draw_int16(d, Element.FLOAT32)
    output.retype(element=Element.FLOAT32)
    return output


def draw_copy(d: Case, source: Value, sizes: list[int], steps: list[int], offset: int) -> Value:
    """Returns a copy of the elements that `steps` reach from `offset` on, in an order of its own in the output."""
    order = list(range(len(sizes)))
    if d.pick(False, True):
        order = d.random.permutation(len(sizes)).tolist()
    output_strides = [0] * len(sizes)
    for place, axis in enumerate(order):
        output_strides[axis] = math.prod(sizes[other] for other in order[place + 1 :])
    attrs = StridedCopyAttrs((math.prod(sizes),), tuple(sizes), tuple(steps), tuple(output_strides), offset)
    return d.node("strided_copy", [source], attrs, source.quant)


class StridedCopy(Op):
    """output[output_offset + sum of step * output stride] = input[input_offset + sum of step * input stride], over all
    steps of all axes, both counted in memory order. Copies are exact, so there is no arithmetic to agree on."""

    name = "strided_copy"
    annotation = NotAnnotated("passes create it, from operators that move values")
    attrs = StridedCopyAttrs
    kernels = (KERNEL, KERNEL_INT16, KERNEL_FLOAT32)
    draws = (_draw, _draw, _draw_rows, _draw_int16, _draw_float32)
    computes = False
    only_moves = True
    layouts = Layouts.ANY

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = attrs.shape
        return shape

    def features(self, node: Node) -> Features:
        """Rows that lie together in both tensors are copied as a whole, and some others word by word."""
        attrs = _ordered(node)
        steps, row_size, row_count = math.prod(attrs.sizes), attrs.sizes[-1], attrs.sizes[-2]
        outer = steps // (row_size * row_count)
        counts = {"outer steps": outer, "rows": outer * row_count, "elements": steps}
        path = _path(node, *_axes(attrs)[-2:])
        if path == _WORDS:
            lines = outer * blocks_of(row_count, 4)
            counts |= {"lines of words": lines, "blocks of words": lines * blocks_of(row_size, 4)}
        elif not path:
            counts["fours"] = outer * row_count * (row_size // 4)
        return Features(counts, path)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs: StridedCopyAttrs = node.attrs
        read = Loops(attrs.sizes, attrs.input_strides, attrs.input_offset).elements()
        written = Loops(attrs.sizes, attrs.output_strides, attrs.output_offset).elements()
        output = np.zeros(node.output.numel, node.output.element.numpy)
        output[written] = inputs[0].reshape(-1)[read]
        return output.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return fields_of(node, _ordered(node), refs)


def fields_of(node: Node, attrs: StridedCopyAttrs, refs: Mapping[str, int]) -> Mapping[str, Any]:
    """Returns the fields of an argument block for `node` with the loops of `attrs`. ValueError for too many."""
    axes = _axes(attrs)
    unused = MAX_AXES - len(axes)
    if unused < 0:
        raise ValueError(f"it has {len(axes)} axes; the kernel takes {MAX_AXES}")
    return {
        **refs,
        "input_count": node.inputs[0].numel,
        "output_count": node.output.numel,
        "input_offset": attrs.input_offset,
        "output_offset": attrs.output_offset,
        **{f"axis{index}": axis._asdict() for index, axis in enumerate([_UNUSED] * unused + axes)},
    }


class _Axis(NamedTuple):
    """A loop: the fields of CopyAxis."""

    size: int
    input_stride: int
    output_stride: int


_UNUSED = _Axis(1, 0, 0)

# How the two innermost loops are copied: the paths of features, "" for one element after the other.
_ROWS, _TURNS, _WORDS = "rows", "turns", "words"
# Instructions of an element, and of a row, on cores with DSP; what matters is which one is less.
_COSTS = {_ROWS: (0.6, 40.0), _TURNS: (1.9, 8.0), _WORDS: (1.5, 8.0), "": (3.0, 15.0)}
# Fewer than are counted, because orders with more of them stay nearer to each other, which suits caches.
_OUTER_STEP = 20.0


def _axes(attrs: StridedCopyAttrs) -> list[_Axis]:
    return [_Axis(*axis) for axis in zip(attrs.sizes, attrs.input_strides, attrs.output_strides)]


def _path(node: Node, rows: _Axis, row: _Axis) -> str:
    """Returns how the kernel copies `rows` along `row` (runtime/kernels/strided_copy/strided_copy.h)."""
    if row.output_stride == 1 and row.input_stride in (0, 1):
        return _ROWS
    if node.output.element is Element.INT8 and row.input_stride == rows.output_stride == 1 and row.size >= 4:
        if rows.size == 2 and row.output_stride == 2:
            return _TURNS
        if rows.size >= 4:
            return _WORDS
    return ""


def _ordered(node: Node) -> StridedCopyAttrs:
    """Returns the loops of `node` in the order in which the kernel takes the fewest instructions: any order gives the
    same copy. There are at least two loops."""
    attrs: StridedCopyAttrs = node.attrs
    axes = [_UNUSED] * (2 - len(attrs.sizes)) + _axes(attrs)

    def instructions(places: tuple[int, int]) -> float:
        """Returns about how many an element takes."""
        rows, row = (axes[place] for place in places)
        of_element, of_row = _COSTS[_path(node, rows, row)]
        return of_element + of_row / row.size + _OUTER_STEP / (rows.size * row.size)

    # The order of the node is the first one, in case that several are as good.
    pairs = [(rows, row) for row, rows in permutations(range(len(axes) - 1, -1, -1), 2)]
    rows, row = min(pairs, key=instructions)
    order = [axis for place, axis in enumerate(axes) if place not in (rows, row)] + [axes[rows], axes[row]]
    sizes, input_strides, output_strides = zip(*order)
    return replace(attrs, sizes=sizes, input_strides=input_strides, output_strides=output_strides)
