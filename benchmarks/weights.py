"""What formats would save that keep the weights of a network as they are: `measure_weights`.

These sizes decide whether such a format is worth a kernel; none of them is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.networks import Network
from cmsis_nn_delegate.graph.tensor_type import Element

_PALETTE = 16  # values that four bits tell apart


@dataclass(frozen=True)
class Weights:
    """The int8 weights of a network, at least two dimensions each: how many bytes they take, which part of them is 0,
    and the part of their bytes that they would take in other formats, each layer in the smaller of the two."""

    network: str
    weights: str  # "trained" or "random"
    nbytes: int
    zeros: float
    bitmap: float  # a bit for each weight, and a byte for each that is not 0
    four_bits: float  # layers whose weights all fit
    palette: float  # rows of at most 16 values, as four bits for each weight and a table of its own
    entropy: float  # no code for single weights takes less [Shannon 1948]


def measure_weights(network: Network) -> Weights:
    """Returns the sizes of a network's weights."""
    layers = list(_weights(network))
    total = sum(layer.size for layer in layers)
    return Weights(
        network=network.name,
        weights=network.weights,
        nbytes=total,
        zeros=round(sum(int(np.sum(layer == 0)) for layer in layers) / total, 3),
        bitmap=_part(total, (layer.size / 8 + np.count_nonzero(layer) for layer in layers), layers),
        four_bits=_part(total, (layer.size / (2 if _fits_four_bits(layer) else 1) for layer in layers), layers),
        palette=_part(total, (sum(map(_with_palette, layer)) for layer in layers), layers),
        entropy=_part(total, map(_entropy, layers), layers),
    )


def _weights(network: Network) -> Iterator[np.ndarray]:
    """Yields int8 [out, elements] of each layer."""
    for node in network.graph.nodes:
        for value in node.inputs:
            if value.is_constant and value.element is Element.INT8 and value.constant.ndim > 1:
                yield value.constant.reshape(len(value.constant), -1)


def _part(total: int, sizes: Iterator[float], layers: list[np.ndarray]) -> float:
    return round(sum(min(size, layer.size) for size, layer in zip(sizes, layers)) / total, 3)


def _fits_four_bits(layer: np.ndarray) -> bool:
    return bool(layer.min() >= Element.INT4.low and layer.max() <= Element.INT4.high)


def _with_palette(row: np.ndarray) -> float:
    return min(row.size, row.size / 2 + _PALETTE) if len(np.unique(row)) <= _PALETTE else row.size


def _entropy(layer: np.ndarray) -> float:
    """Returns the bytes of a code that takes as few bits as the frequencies of single weights allow."""
    counts = np.unique(layer, return_counts=True)[1]
    return float(-np.sum(counts * np.log2(counts / layer.size)) / 8)
