"""Code shared by operators that resample images: where each row and column of the output lies in the input.

That is a straight line, in fixed point: (index * step + offset) / 2^24, limited to the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Scalar, Struct
from ..format.schema import MAX_RESIZED
from ..graph.ir import Node, Value
from . import block_values, storage
from .case import Case
from .channels import Bounds
from .features import Features
from .geometry import Pair
from .kernel import KernelSpec, named_for
from .op import Op

FRACTION_BITS = 24
_ONE = 1 << FRACTION_BITS
_MAX_STEP = 2**31 - 1
_BEYOND = 1 << 50  # any image
_MOST_PAIRED = 4096  # places, because there are millions of pairs then

AXIS = Struct(
    "ResizeAxis",
    "Output index i lies at (i * step + offset) / 2^24 of the input, limited to it.",
    (Field("step", I32, low=0, high=_MAX_STEP), Field("offset", I32)),
)


def kernels(what: str, doc: str) -> tuple[KernelSpec, KernelSpec]:
    """Returns the kernels of int8 and int16 that resample by `what`. `doc` follows the type."""
    return _kernel(what, doc, I8), _kernel(what, doc, I16)


def _kernel(what: str, doc: str, element: Scalar) -> KernelSpec:
    name, kind = named_for(what, element), element.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{kind} {doc}",
            (
                blocks.input("input", element, "input_dims", doc=f"{kind} [n, h, w, c]"),
                blocks.output(element, "output_dims", doc=f"{kind} [n, h, w, c]"),
                Field("rows", AXIS),
                Field("columns", AXIS),
                Field("input_dims", blocks.DIMS),
                Field("output_dims", blocks.DIMS),
            ),
            geometry="resizing",
        ),
        priced_as="" if element is I8 else what,
    )


@dataclass(frozen=True)
class Line:
    """Where the rows or columns of an output lie in the input, in 2^-24."""

    step: int
    offset: int

    def places(self, count: int, size: int, bits: int) -> np.ndarray:
        """Returns where the first `count` indices lie in an input of `size`, with `bits` after the point."""
        line = np.arange(count, dtype=np.int64) * self.step + self.offset
        places: np.ndarray = np.clip(line >> (FRACTION_BITS - bits), 0, (size - 1) << bits)
        return places


@dataclass(frozen=True)
class ResizeAttrs:
    """resize_nearest and resize_bilinear to the height and width `output`."""

    output: Pair
    rows: Line
    columns: Line


class ResizeOp(Op):
    """The base of operators that resample images. A subclass finds the lines of rows and columns."""

    attrs = ResizeAttrs
    takes_images = True
    each_channel = True
    keeps_quant = True
    elements = KERNEL_ELEMENTS
    no_line: str  # why it is refused if a line is None, and what to do

    def features(self, node: Node) -> Features:
        n, h, w, c = storage.nhwc(node.output)
        return Features({"rows": n * h, "pixels": n * h * w, "outputs": n * h * w * c})

    def lines(self, node: EdgeNode, context: EdgeContext) -> list[Optional[Line]]:
        raise NotImplementedError

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: context.refuse_image(source, "its input"),
            lambda: refuse_sizes(source, node),
            lambda: context.refuse_quant(node, [source], same=True),
            lambda: self._refuse_lines(node, context),
        )

    def _refuse_lines(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return Refusal(Reason.UNSUPPORTED_PARAMETER, self.no_line) if None in self.lines(node, context) else None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, _, height, width = shape_of(node)
        rows, columns = self.lines(node, context)
        assert rows is not None and columns is not None  # as `check` found
        attrs = ResizeAttrs((height, width), rows, columns)
        return [context.node(node, self.name, [context.value(operand(node))], attrs)]

    def output_shape(self, inputs: Sequence[Value], attrs: ResizeAttrs) -> tuple[int, ...]:
        return (*inputs[0].shape[:2], *attrs.output)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        return inputs[0].together((2, 3))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        attrs = node.attrs
        return {
            **refs,
            "rows": {"step": attrs.rows.step, "offset": attrs.rows.offset},
            "columns": {"step": attrs.columns.step, "offset": attrs.columns.offset},
            "input_dims": block_values.dims(*storage.nhwc(node.inputs[0])),
            "output_dims": block_values.dims(*storage.nhwc(node.output)),
        }


def refuse_sizes(*images: EdgeNode) -> Optional[Refusal]:
    """Refuses images that are higher or wider than kernels count that compute with two sizes."""
    for image in images:
        *_, height, width = shape_of(image)
        if max(height, width) > MAX_RESIZED:
            return Refusal(
                Reason.TOO_LARGE,
                f"{image.name} is {height} x {width}; the kernel takes at most {MAX_RESIZED} rows and columns: "
                "resample it in parts",
            )
    return None


def line(step: float, offset: float) -> Optional[Line]:
    """Returns the line nearest to real numbers; None if it is too steep."""
    fixed = Line(round(step * _ONE), round(offset * _ONE))
    return fixed if 0 <= fixed.step <= _MAX_STEP and abs(fixed.offset) <= _MAX_STEP else None


def line_through(indices: np.ndarray, size: int) -> Optional[Line]:
    """Returns a line whose places in an input of `size`, rounded down, are `indices`; None if none is found."""
    count = len(indices)
    at = np.arange(count, dtype=np.int64)
    least = indices << FRACTION_BITS
    # The last index is also that of all places beyond the input.
    most = np.where(indices < size - 1, least + _ONE - 1, _BEYOND)
    for step in _steps(at, least, most, size):
        low, high = int(np.max(least - at * step)), int(np.min(most - at * step))
        if 0 <= step <= _MAX_STEP and low <= high and abs(low) <= _MAX_STEP:
            return Line(step, low)
    return None


def _steps(at: np.ndarray, least: np.ndarray, most: np.ndarray, size: int) -> Iterator[int]:
    """Yields steps that lines with a place between `least` and `most` for each of `at` may have: that of the usual
    scale, and one in the middle of those that each two places allow."""
    usual = size * _ONE // len(at)
    yield from (usual, usual + 1) if len(at) > 1 else (0,)
    if 1 < len(at) <= _MOST_PAIRED:
        first, second = np.triu_indices(len(at), 1)
        apart = at[second] - at[first]
        flattest = np.max((least[second] - most[first]) / apart)
        steepest = np.min((most[second] - least[first]) / apart)
        yield int((max(flattest, 0) + min(steepest, _MAX_STEP)) / 2)


def repeats(indices: np.ndarray, size: int) -> bool:
    """Returns whether each of `size` indices comes equally often."""
    return len(indices) % size == 0 and np.array_equal(indices, np.arange(len(indices)) // (len(indices) // size))


def draw_image(d: Case) -> tuple[Value, Pair]:
    """An image and the size that it gets."""
    return d.input(d.batch(), d.channels(), *d.pair(1, 7), element=d.pick(*KERNEL_ELEMENTS)), d.pair(1, 12)
