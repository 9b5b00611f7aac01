"""Turns what is chosen of a tensor, or written into it, at constant places into slices, or into a product.

Indices that follow each other with one distance are a slice. A few slices and their concatenation move bytes and
compute nothing; indices without such a pattern choose by a matrix with a single 1 in each row, whose product with int8
values is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Optional

import torch
from torch.nn import functional as F

# Slices that are put side by side, and weights of a matrix in their place, which lie in flash.
MOST_PARTS = 16
MOST_WEIGHTS = 16384


def can_choose(size: int, indices: Sequence[int]) -> bool:
    """Returns whether `chosen` computes this."""
    return bool(indices) and (len(_runs(indices)) <= MOST_PARTS or size * len(indices) <= MOST_WEIGHTS)


def chosen(x: torch.Tensor, dim: int, indices: Sequence[int], matrix: Optional[torch.Tensor] = None) -> torch.Tensor:
    """Returns index_select(x, dim, indices). `matrix` is that of `matrix_of`, which is needed where there is one."""
    if matrix is not None:
        return product(x.movedim(dim, -1), matrix).movedim(-1, dim)
    if list(indices) == list(range(x.shape[dim])):
        return x
    parts = [_part(x, dim, *run) for run in _runs(indices)]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)


def product(rows: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Returns what a linear layer computes of [..., n] with a matrix [m, n]. Two dimensions keep PyTorch from making a
    matrix for each batch."""
    return F.linear(rows.reshape(-1, rows.shape[-1]), matrix).reshape(*rows.shape[:-1], matrix.shape[0])


def matrix_of(size: int, indices: Sequence[int]) -> Optional[torch.Tensor]:
    """Returns the matrix [len(indices), size] that chooses `indices`, where slices would be too many; else None."""
    if len(_runs(indices)) <= MOST_PARTS:
        return None
    return F.one_hot(torch.tensor(indices), size).float()


def can_place(size: int, indices: Sequence[int]) -> bool:
    """Returns whether `placed` computes this."""
    return len(_pieces(size, indices)) <= MOST_PARTS


def placed(x: torch.Tensor, dim: int, indices: Sequence[int], source: torch.Tensor) -> torch.Tensor:
    """Returns index_copy(x, dim, indices, source); of equal indices the last one counts."""
    parts = []
    for of_source, begin, end in _pieces(x.shape[dim], indices):
        origin = source if of_source else x
        whole = end - begin == origin.shape[dim]
        parts.append(origin if whole else origin.narrow(dim, begin, end - begin))
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)


def flat_index(shape: Sequence[int], indices: Sequence[torch.Tensor]) -> torch.Tensor:
    """Returns the places in row-major order that `indices`, one tensor for each dimension of `shape`, choose."""
    found = torch.zeros((), dtype=torch.int64)
    for size, index in zip(shape, indices):
        found = found * size + torch.where(index < 0, index + size, index)
    return found


def along(index: torch.Tensor, dim: int) -> Optional[list[int]]:
    """Returns the indices along `dim` if they are the same at all places of the other dimensions; else None."""
    rows = index.movedim(dim, 0).reshape(index.shape[dim], -1)
    if not math.prod(rows.shape) or not bool((rows == rows[:, :1]).all()):
        return None
    return [int(i) for i in rows[:, 0]]


def _runs(indices: Sequence[int]) -> list[tuple[int, int, int]]:
    """(first, count, distance) of indices that follow each other with one distance."""
    runs: list[tuple[int, int, int]] = []
    for index in indices:
        if runs:
            first, count, distance = runs[-1]
            if count == 1 or index == first + count * distance:
                runs[-1] = first, count + 1, index - first if count == 1 else distance
                continue
        runs.append((index, 1, 1))
    return runs


def _part(x: torch.Tensor, dim: int, first: int, count: int, distance: int) -> torch.Tensor:
    if distance == 0:
        shape = list(x.shape)
        shape[dim] = count
        return x.narrow(dim, first, 1).expand(shape)
    last = first + (count - 1) * distance
    low, high = min(first, last), max(first, last)
    if (low, high, abs(distance)) == (0, x.shape[dim] - 1, 1):
        part = x
    else:
        part = torch.ops.aten.slice.Tensor(x, dim, low, high + 1, abs(distance))
    return part.flip(dim) if distance < 0 else part


def _pieces(size: int, indices: Sequence[int]) -> list[tuple[bool, int, int]]:
    """The elements of index_copy in runs of neighbours: (whether of the source, first, last + 1)."""
    places = {index: place for place, index in enumerate(indices)}
    pieces: list[tuple[bool, int, int]] = []
    for index in range(size):
        written, place = index in places, places.get(index, index)
        if pieces and pieces[-1][0] == written and pieces[-1][2] == place:
            pieces[-1] = written, pieces[-1][1], place + 1
        else:
            pieces.append((written, place, place + 1))
    return pieces
