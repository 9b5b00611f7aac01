"""int8 padding of any dimensions: with a constant, by reflection, with the edge, or as on a ring."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import F32, I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from .annotation import NotAnnotated
from .case import Case
from .features import Features
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op

MAX_AXES = 6


class PadMode(enum.IntEnum):
    """What lies at position i outside of a dimension of size n, in PyTorch's names."""

    CONSTANT = 0  # the constant
    REFLECT = 1  # element -i or 2 * (n - 1) - i, without repeating the edge
    REPLICATE = 2  # the element at the edge
    CIRCULAR = 3  # element i modulo n


_AXIS = Struct(
    "PadAxis",
    "A dimension of a pad: element i of the output is element i - before of the input.",
    (
        Field("input_size", I32),
        Field("output_size", I32),
        Field("before", I32, "negative if elements are cut off"),
    ),
)


def _fields(element: Element, scalar: Scalar) -> tuple[Field, ...]:
    return (
        blocks.input("input", scalar, "input_count", doc=f"{scalar.element} [input_count]"),
        blocks.output(scalar, "output_count", doc=f"{scalar.element} [output_count]"),
        Field("input_count", I32, "elements"),
        Field("output_count", I32, "elements"),
        Field("row_size", I32, "elements"),
        Field("mode", I32, low=min(PadMode), high=max(PadMode)),
        blocks.number("fill", element=element) if element.is_integer else Field("fill", F32),
        *(Field(f"axis{index}", _AXIS) for index in range(MAX_AXES)),
    )


KERNEL = KernelSpec(
    "pad_nd",
    Struct(
        "PadNdArgs",
        "Pads int8 dimensions; the last is made of rows of row_size elements. Unused axes have size 1 and come first. "
        "What lies outside of the input: mode 0, the constant `fill`; 1, the input reflected at its first and last "
        "element; 2, its first or last element; 3, the input again, as on a ring.",
        _fields(Element.INT8, I8),
        geometry="pad_nd",
    ),
)
KERNEL_INT16 = KernelSpec(
    "pad_nd_int16",
    Struct("PadNdInt16Args", "The same of int16.", _fields(Element.INT16, I16), geometry="pad_nd"),
    priced_as="pad_nd",
)
KERNEL_FLOAT32 = KernelSpec(
    "pad_nd_float32",
    Struct("PadNdFloat32Args", "The same of float32.", _fields(Element.FLOAT32, F32), geometry="pad_nd"),
    priced_as="pad_nd",
)


@dataclass(frozen=True)
class PadNdAttrs:
    """pad_nd: how many elements each logical dimension gets at its start and its end, negative to cut them off.

    `value` is the constant, a real number."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    mode: int
    value: float = 0.0


def origins(size: int, before: int, after: int, mode: int) -> np.ndarray:
    """Returns, for each element along a padded dimension, which element it is of `size`; -1 for the constant."""
    found = np.arange(-before, size + after)
    outside = (found < 0) | (found >= size)
    if mode == PadMode.CONSTANT:
        return np.where(outside, -1, found)
    if mode == PadMode.REFLECT:
        return np.where(found < 0, -found, np.where(outside, 2 * (size - 1) - found, found))
    return np.clip(found, 0, size - 1) if mode == PadMode.REPLICATE else found % size


def _draw(d: Case) -> Value:
    """Any dimensions, padded or cropped on either side."""
    shape = [d.integer(1, 6) for _ in range(d.integer(1, 5))]
    mode = d.pick(*PadMode)
    before, after = [], []
    for size in shape:
        most = {PadMode.REFLECT: size - 1, PadMode.CIRCULAR: size}.get(mode, 4)
        sides = [d.pick(0, 0, d.integer(0, most)), d.pick(0, d.integer(0, most))]
        if d.pick(False, False, False, True):  # cropped
            sides[d.integer(0, 1)] = -d.integer(0, size - 1)
        before.append(sides[0])
        after.append(sides[1])
    return _pad(d, shape, before, after, mode)


def _draw_image(d: Case, element: Element = Element.INT8) -> Value:
    """Rows and columns of pixels around an image."""
    shape = [d.batch(), d.channels(), *d.pair(3, 6)]
    before, after = ((0, 0, *d.pair(0, 2)) for _ in range(2))
    return _pad(d, shape, before, after, d.pick(*PadMode), element)


def _draw_int16(d: Case) -> Value:
    return _draw_image(d, Element.INT16)


def _draw_float32(d: Case) -> Value:
    mode, sizes = d.pick(*PadMode), (d.integer(3, 6), d.integer(3, 9))
    before, after = ((0, d.integer(0, 2), d.integer(0, 2)) for _ in range(2))
    attrs = PadNdAttrs(before, after, int(mode), float(d.random.normal()) if mode is PadMode.CONSTANT else 0.0)
    source = d.input(d.batch(), *sizes, element=Element.FLOAT32)
    output = d.node("pad_nd", [source], attrs, None)
    output.retype(element=Element.FLOAT32)
    return output


def _pad(
    d: Case,
    shape: Sequence[int],
    before: Sequence[int],
    after: Sequence[int],
    mode: PadMode,
    element: Element = Element.INT8,
) -> Value:
    source = d.input(*shape, element=element)
    value = source.scale * d.integer(-200, 200)
    attrs = PadNdAttrs(tuple(before), tuple(after), int(mode), value if mode is PadMode.CONSTANT else 0.0)
    return d.node("pad_nd", [source], attrs, source.quant)


class PadNd(Op):
    """Padding that stays after `fold_pads`, and roll, which is a pad as on a ring whose end is cut off. Elements are
    copied; the constant is quantized as PyTorch does, to the nearest step, halves to even."""

    name = "pad_nd"
    annotation = NotAnnotated("it stands for pad and roll")
    attrs = PadNdAttrs
    kernels = (KERNEL, KERNEL_INT16, KERNEL_FLOAT32)
    draws = (_draw, _draw_image, _draw_int16, _draw_float32)
    computes = False
    keeps_quant = True
    layouts = Layouts.SAME

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return tuple(map(sum, zip(inputs[0].shape, attrs.before, attrs.after)))

    def features(self, node: Node) -> Features:
        axes, row_size = self._axes(node)
        (size, count, before), outer = (axes or [(1, 1, 0)])[-1], axes[:-1]
        rows = math.prod(out for _, out, _ in outer)
        mode, filled = PadMode(node.attrs.mode), 0
        if mode is PadMode.CONSTANT:
            inside = math.prod(_overlap(*axis) for axis in outer)
            filled = rows - inside
            # In each row what is copied, and the constant before and after it.
            pieces = inside * ((before > 0) + (_overlap(size, count, before) > 0) + (count - before > size))
        else:
            pieces = rows * (1 + count - _overlap(size, count, before))
        return Features(
            {"rows": rows, "rows of the constant": filled, "pieces": pieces, "outputs": rows * count * row_size},
            mode.name.lower(),
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs: PadNdAttrs = node.attrs
        order = _storage_order(node.output)
        # An image of one channel may be declared in the other layout, in which it lies in memory as in this one.
        found = inputs[0].reshape([node.inputs[0].shape[dim] for dim in order])
        for axis, dim in enumerate(order):
            index = origins(found.shape[axis], attrs.before[dim], attrs.after[dim], attrs.mode)
            found = np.take(found, np.maximum(index, 0), axis)
            np.moveaxis(found, axis, 0)[index < 0] = self._fill(node)
        return found

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        attrs: PadNdAttrs = node.attrs
        axes, row_size = self._axes(node)
        axes = [(1, 1, 0)] * (MAX_AXES - len(axes)) + axes
        names = [field.name for field in _AXIS.fields]
        return {
            **refs,
            "input_count": node.inputs[0].numel,
            "output_count": node.output.numel,
            "row_size": row_size,
            "mode": attrs.mode,
            "fill": self._fill(node),
            **{f"axis{index}": dict(zip(names, axis)) for index, axis in enumerate(axes)},
        }

    def _axes(self, node: Node) -> tuple[list[tuple[int, int, int]], int]:
        """Returns (input size, output size, before) of each axis, and how many elements lie in each step of the last.
        Axes that are not padded are one with those before them, if these are not padded either."""
        attrs: PadNdAttrs = node.attrs
        axes: list[tuple[int, int, int]] = []  # input size, output size, before
        for axis, dim in enumerate(_storage_order(node.output)):
            size, before = node.inputs[0].storage_shape[axis], attrs.before[dim]
            whole = not (before or attrs.after[dim])
            if whole and axes and axes[-1] == (axes[-1][0], axes[-1][0], 0):  # so was the one before
                size *= axes.pop()[0]
            axes.append((size, size + before + attrs.after[dim], before))
        row_size = axes.pop()[0] if axes and axes[-1] == (axes[-1][0], axes[-1][0], 0) else 1
        return axes, row_size

    def _fill(self, node: Node) -> float:
        if not node.output.element.is_integer:
            return float(np.float32(node.attrs.value))
        return int(node.output.type.quantize(np.float32(node.attrs.value).reshape(1))[0])


def _storage_order(value: Value) -> tuple[int, ...]:
    """Returns the logical dimensions from the outermost in memory to the innermost."""
    return (0, 2, 3, 1) if value.layout is Layout.CHANNELS_LAST else tuple(range(len(value.shape)))


def _overlap(size: int, count: int, before: int) -> int:
    """Returns how many of the `count` steps of a padded axis lie in its input of `size`."""
    return max(0, min(count, before + size) - max(before, 0))
