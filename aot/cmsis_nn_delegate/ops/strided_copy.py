"""Copy between two tensors that are walked in steps; created by passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import F32, I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .annotation import NotAnnotated
from .case import Case
from .features import Features
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
        """Rows that lie together in both tensors are copied as a whole."""
        attrs: StridedCopyAttrs = node.attrs
        steps, row_size = math.prod(attrs.sizes), attrs.sizes[-1] if attrs.sizes else 1
        together = attrs.output_strides[-1:] == (1,) and attrs.input_strides[-1:] in ((0,), (1,))
        path = "rows" if together else ""
        return Features({"rows": steps // row_size, "elements": steps}, path)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs: StridedCopyAttrs = node.attrs
        read = Loops(attrs.sizes, attrs.input_strides, attrs.input_offset).elements()
        written = Loops(attrs.sizes, attrs.output_strides, attrs.output_offset).elements()
        output = np.zeros(node.output.numel, node.output.element.numpy)
        output[written] = inputs[0].reshape(-1)[read]
        return output.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        attrs: StridedCopyAttrs = node.attrs
        unused = MAX_AXES - len(attrs.sizes)
        if unused < 0:
            raise ValueError(f"it has {len(attrs.sizes)} axes; the kernel takes {MAX_AXES}")
        axes = [(1, 0, 0)] * unused + list(zip(attrs.sizes, attrs.input_strides, attrs.output_strides))
        names = [field.name for field in _AXIS.fields]
        return {
            **refs,
            "input_count": node.inputs[0].numel,
            "output_count": node.output.numel,
            "input_offset": attrs.input_offset,
            "output_offset": attrs.output_offset,
            **{f"axis{index}": dict(zip(names, axis)) for index, axis in enumerate(axes)},
        }
