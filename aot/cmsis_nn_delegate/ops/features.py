"""What the instructions of a call depend on: counts, of which a model of its cost is a weighted sum.

A count is one of something that a kernel's loops do: the elements of the output, the products, the blocks of four
channels. It follows from shapes and attributes alone, except where the compiler chooses another loop by the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..graph.ir import Node


class Features(NamedTuple):
    """Counts by name, 0 or more; each model has a constant besides. `path` tells calls apart for which a kernel has
    loops of their own: each path has its own weights."""

    counts: Mapping[str, int]
    path: str = ""


def blocks_of(count: int, size: int) -> int:
    """Returns how many blocks of `size` hold `count`."""
    return -(-count // size)


def elements(node: Node) -> dict[str, int]:
    """Returns how many elements a node reads and writes, without constants."""
    return {
        "inputs": sum(value.numel for value in node.inputs if not value.is_constant),
        "outputs": sum(value.numel for value in node.outputs),
    }


def runs(count: int, size: int, shortest: int = 1) -> dict[str, int]:
    """Returns what `count` runs of `size` elements depend on. Kernels with vectors compute four elements of a run at a
    time, and the rest of it at once; of runs with fewer than `shortest` elements, one at a time."""
    short = size < shortest
    return {
        "runs": count,
        "elements of short runs": count * size if short else 0,
        "fours": 0 if short else count * (size // 4),
        "last fours": 0 if short else count * min(size % 4, 1),
    }


def blocks_of_channels(name: str, count: int, channels: int) -> dict[str, int]:
    """Returns how often kernels do something `count` times with some of `channels` channels: with 16 at a time, or 32
    and then 16, and then with 8 or 4; with 4 at a time, or 8 and then 4, and with the rest of these one by one."""
    last = channels % 16
    return {
        f"{name} of 32": count * (channels // 32),
        f"{name} of 16 beside 32": count * (channels % 32 // 16),
        f"{name} of 16": count * (channels // 16),
        f"{name} of 8 of the last": count * blocks_of(last, 8),
        f"{name} of 4 of the last": count * blocks_of(last, 4),
        f"{name} of 8": count * (channels // 8),
        f"{name} of 4 beside 8": count * (channels % 8 // 4),
        f"{name} of 4": count * (channels // 4),
        f"{name} of 1": count * (channels % 4),
    }


def sums(count: int, size: int) -> dict[str, int]:
    """Returns what `count` sums of `size` products depend on: kernels compute 16 or 4 of them at a time."""
    return {
        "outputs": count,
        "products": count * size,
        "products by 16": count * (size // 16),
        "products by 4": count * (size % 16 // 4),
        "last products": count * (size % 4),
        "vectors": count * blocks_of(size, 16),
    }


def row_products(rows: int, columns: int, row_size: int) -> Features:
    """Returns the features of a matrix of rows times that of as long columns."""
    return Features(
        {
            "rows": rows,
            "inputs": rows * row_size,
            "pairs of outputs": rows * (columns // 2),
            "fours of outputs": rows * (columns // 4),
            "vectors of four outputs": rows * (columns // 4) * blocks_of(row_size, 16),
            "products of a last output": rows * (columns % 2) * row_size,
            **sums(rows * columns, row_size),
        }
    )
