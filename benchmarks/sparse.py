"""What pruned weights and palettes would take of a network, in forms that are not built: `measure_sparse`.

Pruning takes the weights of least magnitude of each layer, as they are: networks are not trained again, so that nothing
is said about results. `decoding` has the instructions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.decoding import DENSE, Layer
from benchmarks.networks import Network
from cmsis_nn_delegate.graph.ir import Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element

# Layers whose weights are pruned. Weights of depthwise convolutions are few, and each channel has one input.
_OPS = ("conv2d", "fully_connected")
_BLOCK = 4  # weights along the inputs
FOUR_BITS = "four bits"  # the format w4, which is built
KEPT = (0.5, 0.25, 0.1)
PALETTES = (16, 4, 2)


@dataclass(frozen=True)
class Sparse:
    """The weights of a network in one form. By core, `instructions` are how many more an inference takes than with
    int8, and `scratch` is the memory of the largest layer that is decoded; neither is there for FOUR_BITS, which is
    measured."""

    network: str
    form: str  # of decoding.FORMS, or FOUR_BITS
    kept: float  # the part of the weights that pruning leaves; 1 without pruning
    nbytes: int  # of all weights, those included that stay as they are
    sqnr: float  # dB, of weights: the mean of layers is that of noise in parts of the signal
    instructions: Mapping[str, int]
    scratch: Mapping[str, int]


@dataclass(frozen=True)
class _Form:
    """Weights as they would be stored: bytes, entries, and the values that are read, int8 [out, elements]."""

    nbytes: float
    entries: int
    values: np.ndarray


@dataclass(frozen=True)
class _Weights:
    """Of a layer: int8 [out, elements] in the order of the inputs, the scales of channels [out, 1], and its size."""

    values: np.ndarray
    scales: np.ndarray
    layer: Layer

    @property
    def reals(self) -> np.ndarray:
        return self.values * self.scales


def measure_sparse(network: Network) -> Iterator[Sparse]:
    """Yields the forms of a network's weights."""
    layers = list(_layers(network))
    total = sum(value.constant.size for _, value in _constants(network))
    rest = total - sum(layer.values.size for layer in layers)
    halved = sum(value.constant.size for node, value in _constants(network) if _has_four_bits(node, value))
    sqnr = _sqnr(layers, list(map(_four_bits, layers)))
    yield Sparse(network.name, FOUR_BITS, 1, total - halved // 2, sqnr, {}, {})
    for form, kept, encode in _forms():
        yield _in_form(network.name, form, kept, layers, rest, encode)


def _forms() -> Iterator[tuple[str, float, Callable[[_Weights], _Form]]]:
    for kept in KEPT:
        for form, encode in (("bitmap", _bitmap), ("gaps", _gaps), ("offsets", _offsets)):
            yield form, kept, partial(_of_pruned, encode, kept, 1)
    yield "two of four", 0.5, _two_of_four
    for kept in KEPT:
        yield "blocks", kept, partial(_of_pruned, _blocks, kept, _BLOCK)
    for count in PALETTES:
        yield f"palette of {count}", 1, partial(_palette, count)


def _of_pruned(encode: Callable[[np.ndarray], _Form], kept: float, size: int, layer: _Weights) -> _Form:
    return encode(_pruned(layer, kept, size))


def _in_form(
    name: str, form: str, kept: float, layers: Sequence[_Weights], rest: int, encode: Callable[[_Weights], _Form]
) -> Sparse:
    found = []
    change, scratch = dict.fromkeys(DENSE, 0.0), dict.fromkeys(DENSE, 0)
    nbytes: float = rest
    for layer in layers:
        as_form = encode(layer)
        size = layer.values.size
        if as_form.nbytes >= size:  # stays as it is
            found.append(layer.values)
            nbytes += size
            continue
        found.append(as_form.values)
        nbytes += as_form.nbytes
        for core in change:
            more, memory = layer.layer.change(form, core, as_form.entries / size)
            change[core] += more
            scratch[core] = max(scratch[core], memory)
    instructions = {core: round(more) for core, more in change.items()}
    return Sparse(name, form, kept, math.ceil(nbytes), _sqnr(layers, found), instructions, scratch)


def _constants(network: Network) -> Iterator[tuple[Node, Value]]:
    """Yields the nodes that have weights of int8, and these."""
    for node in network.graph.nodes:
        for value in node.inputs:
            if value.is_constant and value.element is Element.INT8 and value.constant.ndim > 1:
                yield node, value


def _layers(network: Network) -> Iterator[_Weights]:
    for node, value in _constants(network):
        if node.op not in _OPS:
            continue
        data = value.constant
        if data.ndim == 4:  # images have their channels last
            data = data.transpose(0, 2, 3, 1)
        values = data.reshape(len(data), -1)
        assert value.quant is not None
        scales = np.broadcast_to(np.array(value.quant.scale), len(values)).reshape(-1, 1)
        yield _Weights(values, scales, Layer(values.size, node.output.numel // len(values)))


def _sqnr(layers: Sequence[_Weights], values: Sequence[np.ndarray]) -> float:
    noise = total = 0.0
    for layer, found in zip(layers, values, strict=True):
        power = np.sum(layer.reals**2)
        if power:
            noise += layer.values.size * float(np.sum((layer.reals - found * layer.scales) ** 2) / power)
        total += layer.values.size
    return round(-10 * math.log10(max(noise / total, 1e-10)), 1) if total else 100.0


def _has_four_bits(node: Node, value: Value) -> bool:
    """Returns whether there are kernels for these weights in four bits: not for large windows of depthwise ones."""
    return node.op != "depthwise_conv2d" or max(value.constant.shape[2:]) <= 3


def _four_bits(layer: _Weights) -> np.ndarray:
    """Returns the weights rounded as the quantizer does: in the step for each channel that has the least noise."""
    most = np.maximum(np.abs(layer.values.astype(np.float64)).max(1, keepdims=True), 1) / 7
    best, least = np.zeros(layer.values.shape), np.full((len(most), 1), np.inf)
    for step in (k / 40 * most for k in range(1, 41)):
        found = np.clip(np.round(layer.values / step), -7, 7) * step
        noise = ((layer.values - found) ** 2).sum(1, keepdims=True)
        best, least = np.where(noise < least, found, best), np.minimum(noise, least)
    return best


def _groups(values: np.ndarray, size: int) -> np.ndarray:
    """Returns [out, groups, size], with zeros behind the last elements of a row."""
    padded = np.pad(values, ((0, 0), (0, -values.shape[1] % size)))
    return padded.reshape(len(values), -1, size)


def _ungrouped(groups: np.ndarray, columns: int) -> np.ndarray:
    return groups.reshape(len(groups), -1)[:, :columns]


def _pruned(layer: _Weights, kept: float, size: int) -> np.ndarray:
    """Returns the weights with 0 for all but the part `kept` of the groups of `size` that have the most power."""
    power = (_groups(layer.reals, size) ** 2).sum(2)
    count = round(kept * power.size)
    chosen = np.zeros(power.size, bool)
    chosen[np.argsort(-power, axis=None, kind="stable")[:count]] = True
    groups = _groups(layer.values, size) * chosen.reshape(power.shape)[..., np.newaxis]
    return _ungrouped(groups, layer.values.shape[1])


def _bitmap(values: np.ndarray) -> _Form:
    """A bit for each weight, and a byte for each that is not 0."""
    entries = np.count_nonzero(values)
    return _Form(len(values) * math.ceil(values.shape[1] / 8) + entries, entries, values)


def _skips(present: np.ndarray) -> np.ndarray:
    """Returns how many false elements of a row lie before each that is true and behind the one before."""
    rows, columns = np.nonzero(present)
    first = np.diff(rows, prepend=-1) > 0
    return np.where(first, columns, np.diff(columns, prepend=0) - 1)


def _gaps(values: np.ndarray) -> _Form:
    """A byte for each weight that is not 0, and four bits for how many are 0 before it; 16 of these take an entry of
    their own, which is 0. A row has two bytes for the count."""
    skips = _skips(values != 0)
    entries = skips.size + int(np.sum(skips // 16))
    return _Form(2 * len(values) + 1.5 * entries, entries, values)


def _offsets(values: np.ndarray) -> _Form:
    """A byte for each weight that is not 0 and one for its place in 256 elements, which have a byte for the count."""
    entries = np.count_nonzero(values)
    return _Form(len(values) * math.ceil(values.shape[1] / 256) + 2 * entries, entries, values)


def _two_of_four(layer: _Weights) -> _Form:
    """Of each four weights the two of the largest magnitude, and two bits for the place of each."""
    groups = _groups(layer.values, 4)
    order = np.argsort(-np.abs(groups.astype(np.int16)), axis=2, kind="stable")
    values = groups.copy()
    np.put_along_axis(values, order[..., 2:], 0, axis=2)
    count = groups.shape[0] * groups.shape[1]
    return _Form(2.5 * count, 2 * count, _ungrouped(values, layer.values.shape[1]))


def _blocks(values: np.ndarray) -> _Form:
    """The blocks that are not all 0, with a byte for how many are before each. A row has two bytes for the count."""
    skips = _skips(_groups(values, _BLOCK).any(2))
    blocks = skips.size + int(np.sum(skips // 256))
    return _Form(2 * len(values) + (_BLOCK + 1) * blocks, _BLOCK * blocks, values)


def _palette(count: int, layer: _Weights) -> _Form:
    """Rows of indices into `count` values of their own, by k-means."""
    values, bits = layer.values, count.bit_length() - 1
    nbytes = len(values) * (math.ceil(values.shape[1] * bits / 8) + count)
    if nbytes >= values.size:
        return _Form(nbytes, values.size, values)
    return _Form(nbytes, values.size, np.stack([_nearest(row, count) for row in values]))


def _nearest(row: np.ndarray, count: int) -> np.ndarray:
    """Returns the row with at most `count` values, those where Lloyd's algorithm ends that starts with quantiles."""
    known, inverse, weights = np.unique(row, return_inverse=True, return_counts=True)
    if len(known) <= count:
        return row
    centers = np.quantile(row, (np.arange(count) + 0.5) / count)
    for _ in range(50):
        nearest = np.searchsorted((centers[1:] + centers[:-1]) / 2, known)
        mass = np.bincount(nearest, weights, count)
        moved = np.where(mass > 0, np.bincount(nearest, weights * known, count) / np.maximum(mass, 1), centers)
        moved.sort()
        if np.array_equal(moved, centers):
            break
        centers = moved
    centers = np.round(centers)
    nearest = np.searchsorted((centers[1:] + centers[:-1]) / 2, known)
    return centers[nearest][inverse.reshape(-1)].astype(row.dtype)
