"""Sorts few numbers with minima and maxima: what sort, topk, median and kthvalue choose, as of a filter of 5 samples.
Each minimum or maximum is taken of two tensors, for all positions along the other dimensions at once.

Batcher's network for any count [Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M] compares 3 times
for 3 numbers, 9 times for 5 and 19 times for 8. What leads to no chosen number is not computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

MOST_SORTED = 8


def sorted_places(x: torch.Tensor, dim: int, places: Sequence[int]) -> torch.Tensor:
    """Returns x.sort(dim).values at `places` along `dim`."""
    parts = [x.narrow(dim, index, 1) for index in range(x.shape[dim])]
    for low, high in _comparisons(len(parts)):
        a, b = parts[low], parts[high]
        parts[low], parts[high] = torch.minimum(a, b), torch.maximum(a, b)
    return torch.cat([parts[place] for place in places], dim) if len(places) > 1 else parts[places[0]]


def _comparisons(count: int) -> Iterator[tuple[int, int]]:
    """Yields the places that are compared, one after the other: the smaller number goes to the first."""
    if count < 2:
        return
    top = step = 1 << ((count - 1).bit_length() - 1)
    while step:
        limit, rest, distance = top, 0, step
        while True:
            for index in range(count - distance):
                if index & step == rest:
                    yield index, index + distance
            if limit == step:
                break
            distance, limit, rest = limit - step, limit >> 1, step
        step >>= 1
