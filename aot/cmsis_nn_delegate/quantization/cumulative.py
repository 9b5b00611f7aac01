"""Running sums, products and extrema (cumsum, cumprod, cummax, cummin) as operators that exist.

A sum of what came before is a product with a matrix of ones below the diagonal: the integers of its weights are all
alike, so that a linear layer sums the int8 values in 32 bits and rounds once, as a kernel of its own would. A long
sequence is summed in blocks, to which what came before them is added; else the matrix would grow with the square of
the length.

Products and extrema of n elements take log2(n) steps, in each of which every element is combined with the one that
lies 1, 2, 4, ... before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from .choices import product

_AT_ONCE = 32  # elements that one matrix sums
_LARGEST = 16384  # weights of one matrix


def running_sums(x: torch.Tensor, dim: int, *, dtype: Any = None) -> torch.Tensor:
    """cumsum of float32."""
    if x.dim() == 0 or x.shape[dim] < 2:
        return x.clone()
    if x.dim() == 1:
        return _sums(x.unsqueeze(0)).reshape(-1)
    return _sums(x.movedim(dim, -1)).movedim(-1, dim)


def running_products(x: torch.Tensor, dim: int, *, dtype: Any = None) -> torch.Tensor:
    """cumprod of float32."""
    return running(x, dim, torch.mul)


def running(x: torch.Tensor, dim: int, combine: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Returns, at each place along `dim`, what `combine`, which is associative, makes of all elements up to it."""
    if x.dim() == 0 or x.shape[dim] < 2:
        return x.clone()
    size, distance = x.shape[dim], 1
    while distance < size:
        later = combine(x.narrow(dim, distance, size - distance), x.narrow(dim, 0, size - distance))
        x = torch.cat((x.narrow(dim, 0, distance), later), dim)
        distance *= 2
    return x


def below(rows: int, columns: int, diagonal: int = 0) -> torch.Tensor:
    """Returns a matrix that is 1 on and below the diagonal of this number, as tril counts them, and else 0."""
    return (torch.arange(columns) <= torch.arange(rows).unsqueeze(1) + diagonal).float()


def _sums(rows: torch.Tensor) -> torch.Tensor:
    size = rows.shape[-1]
    if size <= _AT_ONCE:
        return product(rows, below(size, size))
    count = -(-size // _AT_ONCE)
    padded = F.pad(rows, (0, count * _AT_ONCE - size)) if size % _AT_ONCE else rows
    blocks = padded.reshape(*rows.shape[:-1], count, _AT_ONCE)
    if count * size <= _LARGEST:  # rounded once
        before = product(rows, below(count, count, -1).repeat_interleave(_AT_ONCE, 1)[:, :size])
    else:
        before = F.pad(_sums(blocks.sum(-1))[..., :-1], (1, 0))
    sums = product(blocks, below(_AT_ONCE, _AT_ONCE)) + before.unsqueeze(-1)
    return sums.reshape(*rows.shape[:-1], count * _AT_ONCE)[..., :size]
