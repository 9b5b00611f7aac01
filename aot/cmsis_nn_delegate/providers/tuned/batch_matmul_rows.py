"""What the products of matrices for DSP and MVE share: they pack rows of the second input in scratch memory."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...format import blocks
from ...format.record import I32, Field, Struct
from ...format.schema import MAX_DIM
from ...graph.ir import Node, Value
from ...ops import batch_matmul
from ...ops.attrs import Clamp
from ...ops.batch_matmul import BatchMatmulAttrs, Matrices
from ...ops.case import Case
from ...ops.features import blocks_of
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ...ops.quantized_math import quantize_multiplier
from ..implementation import OwnImplementation, Workspace

ROWS = 2  # of the first input, computed together
COLUMNS = 4  # rows of the second input, with these


def kernel(name: str, struct: str, how: str) -> KernelSpec:
    """Returns the kernel called `name`, with the argument block of the operator's own but for shifts, which are to the
    right; `how` says what is special."""
    shift = blocks.shift("shift", high=-1)
    return KernelSpec(
        name,
        Struct(
            struct,
            f"int8 products of the rows of two batches of matrices, as batch_matmul computes them, {how}.",
            (
                *(shift if field.name == shift.name else field for field in batch_matmul.KERNEL.args.fields),
                Field("passes", I32, "in which the rows of input2 are packed, in fours", low=1, high=MAX_DIM),
            ),
            geometry="batch_matmul",
        ),
    )


def draw_sizes(d: Case, rows: int, columns: int, row_size: int) -> Value:
    """A product of random batches of matrices of these sizes, in any scales that outputs may have, and often with
    results halfway between two of them."""
    n, h = d.integer(1, 2), d.integer(1, 3)
    a, b = (Matrices(d.pick(n, n, 1), d.pick(h, h, 1), size, row_size) for size in (rows, columns))
    inputs = [
        d.input(m.n * m.h, m.rows, m.row_size, quant=d.quant(zero_point=d.pick(None, None, 0, -128, 127)))
        for m in (a, b)
    ]
    constant = d.pick(None, None, None, 0, 1)
    if constant is not None:
        of = d.inputs.pop(constant)
        inputs[constant] = d.constant(of.shape, of.element, of.element.low, of.element.high, of.quant)
    # Of uniform numbers, or a power of two.
    spread = 74 * 74 * np.sqrt(row_size) / 50 * float(d.random.uniform(0.5, 3))
    step = d.pick(spread, spread, 2.0 ** d.integer(1, 16))
    clamp = d.pick(Clamp(), d.clamp())
    return d.node(
        "batch_matmul", inputs, BatchMatmulAttrs(a, b, clamp), d.quant(inputs[0].scale * inputs[1].scale * step)
    )


def _draw(d: Case) -> Value:
    return draw_sizes(d, d.integer(1, 9), d.integer(4, 21), d.integer(1, 40))


def _draw_long(d: Case) -> Value:
    """Rows of many words and vectors."""
    return draw_sizes(d, d.integer(1, 5), d.integer(4, 13), d.integer(30, 220))


def _draw_attention(d: Case) -> Value:
    """Of sizes that attention has."""
    return draw_sizes(d, d.integer(10, 50), d.integer(10, 50), d.integer(8, 50))


class Packing(NamedTuple):
    """How often the kernel packs, and what."""

    passes: int
    blocks: int  # of columns, of all passes


class BatchMatmulRows(OwnImplementation, abc.ABC):
    """A class states how many bytes rows take in scratch memory."""

    op = "batch_matmul"
    like = batch_matmul.KERNEL
    draws: ClassVar[tuple[Draw, ...]] = (_draw, _draw_long, _draw_attention)

    @abc.abstractmethod
    def block_bytes(self, row_size: int) -> int:
        """Returns what a block of `COLUMNS` rows of the second input takes."""

    def fixed_bytes(self, row_size: int) -> int:
        """Returns what the rows of the first input take."""
        return 0

    def scratch_bytes(self, node: Node) -> int:
        return self._bytes(node, 1)

    def smaller_workspaces(self, node: Node) -> Sequence[Workspace]:
        """The second input in 2, 4, 8, ... passes, in each of which all rows of the first one are read."""
        return [Workspace(self._bytes(node, passes), self.distance(node)) for passes in _passes(node)[1:]]

    def packing(self, node: Node, scratch_bytes: int) -> Packing:
        """Returns what the kernel packs for one matrix of each input."""
        count = _blocks(node)
        return Packing(blocks_of(count, _pass_blocks(node, self._passes_of(node, scratch_bytes))), count)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        passes = self._passes_of(node, scratch_bytes)
        return {**super().encode(node, refs, scratch_bytes), "passes": passes}

    def _passes_of(self, node: Node, scratch_bytes: int) -> int:
        """Returns the passes for this much scratch memory."""
        return next(passes for passes in _passes(node) if self._bytes(node, passes) <= scratch_bytes)

    def _bytes(self, node: Node, passes: int) -> int:
        row_size = node.attrs.b.row_size
        return self.fixed_bytes(row_size) + _pass_blocks(node, passes) * self.block_bytes(row_size)


def _blocks(node: Node) -> int:
    return blocks_of(node.attrs.b.rows, COLUMNS)


def _pass_blocks(node: Node, passes: int) -> int:
    """Returns how many blocks of columns a pass has."""
    return blocks_of(_blocks(node), passes)


def _passes(node: Node) -> list[int]:
    """Returns in how many passes the second input can be packed, those that differ."""
    counts = [1 << bits for bits in range(_blocks(node).bit_length() + 1)]
    return [n for n in counts if n == 1 or _pass_blocks(node, n) < _pass_blocks(node, n // 2)]


def row_pairs(node: Node) -> int:
    """Returns in how many twos the kernels compute the rows of a matrix."""
    return blocks_of(node.attrs.a.rows, ROWS)


def matrices(node: Node) -> int:
    """Returns how many matrices are computed."""
    output = node.attrs.output
    return int(output.n * output.h)


def scale(node: Node) -> tuple[int, int]:
    """Returns (multiplier, shift) of the product."""
    a, b = (value.scale for value in node.inputs)
    return quantize_multiplier(a * b / node.output.scale)


def largest_sum(node: Node) -> int:
    """Returns what no sum exceeds, whatever the inputs are."""
    largest = node.attrs.a.row_size
    for value in node.inputs:
        largest *= max(value.element.high - value.zero_point, value.zero_point - value.element.low)
    return int(largest)
