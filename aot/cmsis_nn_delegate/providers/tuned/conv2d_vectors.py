"""Convolution as a product of 4 pixels by 2 channels, for cores with MVE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Optional

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol
from . import block_args, vector_requantization, vector_table, window_order
from .vector_requantization import VectorForm
from .vector_table import CHANNELS, VECTOR, depth

_PIXELS = 4  # of a product
_TILE = 8  # pixels of a row whose windows are copied at a time
_UNROLLED = 3  # lines of windows for which copies have a loop of their own
# Results of a product are stored at offsets of 16 bits, in bytes, from the first.
_MOST_OUTPUT_BYTES = 1 << 14  # of a pixel


def draw_windows(d: Case, element: Element = Element.INT8) -> Value:
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), d.channels(), kernel, element=element)
    channels = 1 + d.channels()
    return d.maybe_relu(d.conv2d(x, channels, kernel, d.pair(1, 3), d.padding(kernel), clamp=d.clamp()))


def draw_wide(d: Case, element: Element = Element.INT8) -> Value:
    """Several tiles in a row, or several rows in a tile."""
    size = d.integer(3, 9), d.pick(d.integer(3, 6), d.integer(10, 40))
    x = d.input(d.batch(), d.channels(), *size, element=element)
    kernel = d.pick((3, 3), (3, 3), d.pair(2, 3))
    channels = 1 + d.channels()
    return d.maybe_relu(d.conv2d(x, channels, kernel, d.pair(1, 2), d.padding(kernel), clamp=d.clamp()))


def draw_deep(d: Case, element: Element = Element.INT8) -> Value:
    """More than eight vectors in a window."""
    x = d.input(d.batch(), d.integer(15, 50), *d.pair(3, 8), element=element)
    channels = 1 + d.channels()
    return d.maybe_relu(d.conv2d(x, channels, (3, 3), d.pair(1, 2), d.padding((3, 3)), clamp=d.clamp()))


def draw_first(d: Case, element: Element = Element.INT8) -> Value:
    """Of few channels, so that a vector holds a line of a window."""
    kernel = d.pick((3, 3), (3, 3), (d.integer(2, 6), d.integer(1, 4)))
    size = d.integer(6, 14), d.pick(d.integer(6, 14), d.integer(16, 40))
    x = d.input(d.batch(), d.integer(1, 3), *size, element=element)
    channels = 1 + d.channels()
    return d.maybe_relu(d.conv2d(x, channels, kernel, d.pair(1, 3), d.padding(kernel), clamp=d.clamp()))


def draw_pointwise(d: Case, element: Element = Element.INT8) -> Value:
    inputs = d.pick(d.channels(), VECTOR * d.integer(1, 9), d.integer(40, 140))
    x = d.input(d.batch(), inputs, *d.pair(1, 7), element=element)
    stride = d.pick((1, 1), (1, 1), d.pair(1, 3))
    padding = d.pick(Padding(), Padding(), Padding(0, 0, d.integer(0, 2), d.integer(0, 2)))
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), (1, 1), stride, padding, clamp=d.clamp()))


def draw_padding_beyond_the_kernel(d: Case, element: Element = Element.INT8) -> Value:
    kernel = d.pair(1, 3)
    x = d.image(d.batch(), d.channels(), kernel, extra=3, element=element)
    padding = Padding(*d.pair(0, 4), *d.pair(0, 4))
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), kernel, d.pair(1, 3), padding, clamp=d.clamp()))


HELPERS = ("runtime/kernels/common/vector_products_{isa}.S",)
KERNEL = KernelSpec(
    "conv2d_vectors",
    block_args.struct(
        "Conv2dVectorsArgs",
        "int8 convolution of one group, as conv2d computes it, from weights in the order of the products.",
        table="for each 2 channels: 16 weights of the first and 16 of the second for each 16 inputs of a window, "
        "the first 16 and then the others from the last to the second; sums for inputs of 0, multipliers and "
        "shifts. Inputs are in the order [w, h, c], or [h, w, c] if lines of a window have at most 16 inputs and there "
        "are several; the last block has the last 2 channels",
        block_count="output_dims.c / 2, rounded up",
        block_words="6, and the inputs of a window rounded up to 16, divided by 2",
        forms=VectorForm,
    ),
)


class Conv2dVectors(OwnImplementation):
    """Six loads of 16 inputs suffice for the eight sums of products (VMLADAVA) of four windows and two filters. The
    windows of pointwise convolutions lie in the image. Of others, a few rows are copied column by column: then the
    windows of a row lie one behind the other and share what overlaps. Windows whose lines are no longer than a vector,
    as those of first layers, are copied each for itself: a line takes as many instructions as a pixel of a column.
    The zero point of the input is part of the bias.
    """

    name = "conv2d_vectors"
    op = "conv2d"
    like = conv2d.KERNEL
    element: ClassVar[Element] = Element.INT8
    vector: ClassVar[int] = VECTOR  # inputs
    isas = frozenset({Isa.MVE})
    assumes = "one group without gaps in its windows, two or more output pixels and channels, and shifts to the right"
    # Whether a byte has two weights.
    nibbles: ClassVar[bool] = False
    # Whether steps of outputs may be finer than those of sums.
    finer: ClassVar[bool] = False
    draws: ClassVar[tuple[Draw, ...]] = (
        draw_windows,
        draw_wide,
        draw_deep,
        draw_first,
        draw_pointwise,
        draw_padding_beyond_the_kernel,
    )

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_not(self, node: Node) -> str:
        n, channels, h, w = _output_shape(node)
        if node.attrs.groups != 1:
            return f"it computes one group, not {node.attrs.groups}"
        if tuple(node.attrs.dilation) != (1, 1):
            return "windows have gaps"
        most = _MOST_OUTPUT_BYTES // self.element.nbytes(1)
        if not 2 <= channels <= most:
            return f"it computes 2 to {most} channels, not {channels}"
        if n * h * w == 1:
            return "it would compute the only pixel of the output four times"
        return vector_requantization.why_not(node, self.finer) or block_args.why_not(node)

    def scratch_bytes(self, node: Node) -> int:
        """Copies of four pixels if whole vectors may reach past the image; or the columns or windows of the rows of a
        tile, what whole vectors reach past them, and a pixel or a line of padding."""
        geometry = Geometry.plain(node)
        inputs = node.inputs[1].shape[1]
        if _is_pointwise(geometry):
            return 0 if inputs % self.vector == 0 else self.element.nbytes(_PIXELS * self._depth(node))
        rows, width = _tile(geometry)
        if self._by_lines(node):
            elements = (
                rows * width * math.prod(geometry.kernel) * inputs + self.vector + VECTOR // self.element.nbytes(1)
            )
        else:
            columns = (width - 1) * geometry.stride[1] + geometry.kernel[1]
            elements = rows * columns * geometry.kernel[0] * inputs + self.vector + inputs
        return -(-self.element.nbytes(elements) // 16) * 16

    def features(self, node: Node, scratch_bytes: int) -> Features:
        counts, path = self._loops(node)
        blocks, form = counts["blocks"], vector_requantization.form_of(node, self.finer).name
        return Features(
            {**counts, f"blocks of form {form}": blocks, "vectors": blocks * self._depth(node) // self.vector}, path
        )

    def _loops(self, node: Node) -> tuple[dict[str, int], str]:
        """Returns what the loops around the products do, by name, and the path."""
        geometry = Geometry.plain(node)
        outputs, inputs = node.inputs[1].shape[:2]
        (rows, columns), n = geometry.output, geometry.batch * node.attrs.groups
        pointwise = _is_pointwise(geometry)
        lines = copied = vectors = 0
        strips: dict[str, int] = {}
        if pointwise:
            # Of all pixels if they lie one behind the other, else of each row.
            whole = [geometry.batch * rows * columns] * node.attrs.groups
            runs = whole if geometry.output == geometry.input else [columns] * (n * rows)
        else:
            height, width = _tile(geometry)
            tops, lefts = range(0, rows, height), range(0, columns, width)
            runs = [min(height, rows - y) * min(width, columns - x) for y in tops for x in lefts] * n
            # Of each row of a tile its columns are copied, one line of the filter after the other.
            lines = n * rows * len(lefts) * geometry.kernel[0]
            under = [(min(width, columns - x) - 1) * geometry.stride[1] + geometry.kernel[1] for x in lefts]
            if self._in_strips(node):
                strips = _strips(geometry, lefts, width, self._by_lines(node))
            elif geometry.kernel[0] == 1 and node.attrs.groups == 1:
                vectors = n * rows * sum(blocks_of(count * inputs, self.vector) for count in under)
            else:
                copied = n * rows * geometry.kernel[0] * sum(under)
                vectors = copied * blocks_of(inputs, self.vector)
        groups = sum(blocks_of(run, _PIXELS) for run in runs)
        blocks = groups * blocks_of(outputs // node.attrs.groups, CHANNELS)
        counts = {
            "runs": len(runs),
            **(strips or {"lines": lines, "pixels copied": copied, "vectors copied": vectors}),
            "groups": groups,
            "blocks": blocks,
        }
        path = "pointwise" if pointwise else "in strips" if strips else "one line" if lines and not copied else ""
        return counts, path

    def distance(self, node: Node) -> Optional[int]:
        """Windows of pixels of the image are read again for each two channels, until the outputs of a group of four are
        complete; copied windows are not read after their outputs are written."""
        geometry = Geometry.plain(node)
        outputs, inputs = node.inputs[1].shape[:2]
        again = _PIXELS * outputs if geometry.kernel == (1, 1) else 0
        return self.element.nbytes(window_order.distance(geometry, inputs, outputs) + again)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        scales = vector_requantization.scales(node)
        weights = weights_of(node, self._by_lines(node))
        table = vector_table.table(weights, starts(node), *scales, self.vector, self.nibbles)
        return {"table": table}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=vector_table.blocks(int(node.inputs[1].shape[0])),
            block_words=vector_table.block_words(math.prod(node.inputs[1].shape[1:]), self.vector, self.nibbles),
            form=vector_requantization.form_of(node, self.finer),
        )

    def _by_lines(self, node: Node) -> bool:
        """Returns whether each window is copied for itself, line by line, so that weights have the order [h, w, c]."""
        kernel, inputs = Geometry.plain(node).kernel, node.inputs[1].shape[1]
        return self._in_strips(node) and kernel[1] * inputs <= VECTOR // self.element.nbytes(1)

    def _in_strips(self, node: Node) -> bool:
        """Returns whether 16 bytes hold a line of what is copied as a whole: of a window, or of a column under it."""
        kernel, inputs = Geometry.plain(node).kernel, node.inputs[1].shape[1]
        return bool(node.attrs.groups == 1 and kernel[0] > 1 and inputs <= VECTOR // self.element.nbytes(1))

    def _depth(self, node: Node) -> int:
        """Returns how many inputs a window has, rounded up to vectors."""
        return depth(math.prod(node.inputs[1].shape[1:]), self.vector)


def _output_shape(node: Node) -> tuple[int, int, int, int]:
    geometry = Geometry.plain(node)
    return geometry.batch, int(node.inputs[1].shape[0]), *geometry.output


def _is_pointwise(geometry: Geometry) -> bool:
    """Returns whether all windows are pixels of the image, as VectorSizes::pointwise in C++. There may be padding that
    no window reaches."""
    reached = zip(geometry.output, geometry.stride, geometry.input)
    inside = all((count - 1) * step < size for count, step, size in reached)
    return geometry.kernel == (1, 1) and geometry.padding == (0, 0) and inside


def _tile(geometry: Geometry) -> tuple[int, int]:
    """Returns how many rows and columns of outputs are computed from one copy of their columns."""
    rows, columns = geometry.output
    return 1 if columns >= _TILE else min(rows, _PIXELS // math.gcd(columns, _PIXELS)), min(columns, _TILE)


def _strips(geometry: Geometry, lefts: range, width: int, windows: bool) -> dict[str, int]:
    """Returns what copies of strips depend on: of windows, or of columns. Tiles begin at the outputs `lefts` of a row
    and have `width` outputs."""
    step, columns = (geometry.stride[1], geometry.kernel[1]) if windows else (1, 1)
    whole = cut = 0
    for left in lefts:
        count = min(width, geometry.output[1] - left)
        count = count if windows else (count - 1) * geometry.stride[1] + geometry.kernel[1]
        first = left * geometry.stride[1] - geometry.padding[1] + np.arange(count) * step
        inside = int(((first >= 0) & (first + columns <= geometry.input[1])).sum())
        whole, cut = whole + inside, cut + count - inside
    lines = window_order.taps_inside(geometry)[0].sum(1)  # of a row of strips, in the image
    top = np.arange(len(lines)) * geometry.stride[0] - geometry.padding[0]
    inner = int(((top > 0) & (top + geometry.kernel[0] < geometry.input[0])).sum())
    missing = int((geometry.kernel[0] - lines).sum())
    others = lines[(lines > 0) & (lines != _UNROLLED)]
    n = geometry.batch
    return {
        "rows of tiles": n * len(lines) * len(lefts),
        "rows of tiles at edges": n * (len(lines) - inner) * len(lefts),
        "strips of three lines": n * whole * int((lines == _UNROLLED).sum()),
        "other strips": n * whole * len(others),
        "lines of other strips": n * whole * int(others.sum()),
        "strips cut": n * cut * int((lines > 0).sum()),
        "lines cut": n * cut * int(lines.sum()),
        "lines of padding": n * missing * len(lefts),
        "strips of lines of padding": n * missing * (whole + cut),
    }


def starts(node: Node) -> np.ndarray:
    """Returns what every window has in common, the bias and the zero point of the input: int64 [channels]."""
    sums = weights_of(node).sum(1, dtype=np.int64)
    return np.asarray(node.inputs[2].constant - node.inputs[0].zero_point * sums, np.int64)


def weights_of(node: Node, by_lines: bool = False) -> np.ndarray:
    """Returns int8 [channels, inputs of a window], column by column or line by line."""
    weights = node.inputs[1].constant
    order = (0, 2, 3, 1) if by_lines else (0, 3, 2, 1)
    return np.ascontiguousarray(weights.transpose(order)).reshape(len(weights), -1)
