"""Removes channels that the outputs do not depend on.

A channel need not be computed if

* it can have one value only, whatever the inputs are, and what reads it is a layer with constant weights: its share of
  that layer's sums goes into the bias. Where padding makes sums at borders count fewer pixels, this is exact for a
  channel that holds the zero point;
* all weights that it is multiplied with are 0, or nothing reads it at all;
* another channel always has the same values: its weights are added to those of the other one, if they fit.

Which values are possible follows from weights, biases and clamps (`Op.bounds`). Channels that are computed of one
another, as those before and after a pooling, only go together (`Op.links`). Inputs and outputs of the graph keep their
shapes. A removal may make others possible, so this repeats until there is nothing left to remove.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..ops import channels
from ..ops.quantized_math import INT32_MAX
from ..ops.registry import OPS
from .bounds import bounds_of, is_activation

# Channels whose weights went to equal ones: (id of the value, channel).
Moved = set[tuple[int, int]]
# How many channels of a layer, by id, were removed, by cause.
Removed = dict[int, Counter[str]]


def eliminate_channels(graph: Graph) -> None:
    """Narrows the activations of `graph`, and says so in its notes."""
    before = {id(node): (channels.count(node.output), OPS[node.op].macs(node)) for node in _layers(graph)}
    moved: Moved = set()
    removed: Removed = {}
    while True:
        classes = _Classes(graph)
        needless = classes.needless()
        if needless.any():
            classes.remove(needless, moved, removed)
            moved = set()
        elif moved:
            break  # the last one of a value stays
        else:
            moved = classes.move_duplicates()
            if not moved:
                break
    for node in graph.nodes:
        parts = ", ".join(f"{number} {cause}" for cause, number in removed.get(id(node), Counter()).items() if number)
        if parts:
            count, macs = before[id(node)]
            left = OPS[node.op].macs(node)
            graph.notes.append(
                f"{node.name}: {parts} of {count} channels; {left:,} of {macs:,} multiplications are left"
            )


def _layers(graph: Graph) -> Iterator[Node]:
    """Yields the nodes that multiply with weights."""
    return (node for node in graph.nodes if len(node.outputs) == 1 and OPS[node.op].macs(node))


class _Classes:
    """The channels of all int8 activations, numbered, in classes that can only be removed together. A mask has one
    element for each."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._bounds = bounds_of(graph)
        self._values = [value for value in graph.activations() if is_activation(value) and len(value.shape) > 1]
        counts = [channels.count(value) for value in self._values]
        starts = np.cumsum([0, *counts])
        self._numbers = {id(v): np.arange(start, start + n) for v, start, n in zip(self._values, starts, counts)}
        self._parents = list(range(int(starts[-1])))
        self._known = [node for node in graph.nodes if self._is_known(node)]
        self._sums = [node for node in self._known if OPS[node.op].weighted(node)]
        self._stays = self._link()
        self._roots = np.array([self._root(number) for number in self._parents], np.int64)

    def needless(self) -> np.ndarray:
        """Returns a mask of the channels that nothing needs but sums to which they always add the same."""
        needed = self._stays.copy()
        for node in self._sums:
            needed[self._read(node)] |= ~(_weightless(node) | self._foldable(node))
        return self._spare_one(~self._whole(needed))

    def remove(self, gone: np.ndarray, moved: Moved, removed: Removed) -> None:
        """Removes channels that are `needless`, and counts them in `removed`. `moved` are the duplicates among them."""
        constant, duplicate = np.zeros_like(gone), np.zeros_like(gone)
        for node in self._sums:
            numbers = self._read(node)
            folded = gone[numbers] & ~_weightless(node)
            self._fold(node, folded)
            constant[numbers] |= folded
        for value, channel in moved:
            duplicate[self._numbers[value][channel]] = True
        causes = {"duplicate": self._whole(duplicate), "constant": self._whole(constant)}
        for node in _layers(self._graph):
            self._tally(removed.setdefault(id(node), Counter()), gone, causes, node.output)
        self._narrow(gone)

    def _tally(self, counts: Counter[str], gone: np.ndarray, causes: Mapping[str, np.ndarray], output: Value) -> None:
        """Counts the channels of a layer's output that are `gone`, each by its first cause."""
        if id(output) in self._numbers:
            numbers = self._numbers[id(output)]
            left = gone[numbers]
            for cause, mask in causes.items():
                counts[cause] += int(np.count_nonzero(left & mask[numbers]))
                left = left & ~mask[numbers]
            counts["unread"] += int(np.count_nonzero(left))

    def _narrow(self, gone: np.ndarray) -> None:
        for node in self._known:
            outputs = ~gone[self._numbers[id(node.output)]]
            first = node.inputs[0]
            inputs = outputs if first.is_constant else ~gone[self._numbers[id(first)]]
            if not (inputs.all() and outputs.all()):
                OPS[node.op].narrow(node, inputs, outputs)
        for activation in self._values:
            shape = list(activation.shape)
            shape[channels.axis(activation)] = int(np.count_nonzero(~gone[self._numbers[id(activation)]]))
            activation.retype(shape=tuple(shape))

    def move_duplicates(self) -> Moved:
        """Adds the weights of channels to those of others that have the same values, wherever they are read. Returns
        these channels, which nothing needs then."""
        stays = self._whole(self._stays)
        if all(stays[self._read(node)].all() for node in self._sums):
            return set()  # without looking, which takes long for tensors of many channels
        keys = self._value_numbers()
        partners: dict[int, list[tuple[Node, int, int]]] = {}  # by class: (layer, its channel, the one that is equal)
        alone = stays.copy()
        for node in self._sums:
            numbers = self._read(node)
            same = keys[id(node.inputs[0])]
            least: dict[int, int] = {}
            for channel, key in enumerate(same):
                other = least.setdefault(key, channel)
                if self._roots[numbers[channel]] < self._roots[numbers[other]]:
                    least[key] = channel
            for channel, key in enumerate(same):
                other = least[key]
                if self._roots[numbers[channel]] == self._roots[numbers[other]]:
                    alone[numbers[channel]] = True
                else:
                    partners.setdefault(int(self._roots[numbers[channel]]), []).append((node, channel, other))
        alone = self._whole(alone)
        moved: Moved = set()
        for root, pairs in partners.items():
            if not alone[root] and all(_fits_beside(*pair) for pair in pairs):
                for node, channel, other in pairs:
                    weights = channels.weights_by_channel(node)
                    weights[:, other] += weights[:, channel]
                    weights[:, channel] = 0
                    channels.reweight(node, weights, node.inputs[2].constant)
                    moved.add((id(node.inputs[0]), channel))
        return moved

    # ------------------------------------------------------------------------

    def _is_known(self, node: Node) -> bool:
        """Returns whether all activations of `node` have numbers."""
        values = [value for value in (*node.inputs, *node.outputs) if not value.is_constant]
        return len(node.outputs) == 1 and not node.states and all(id(value) in self._numbers for value in values)

    def _read(self, node: Node) -> np.ndarray:
        return self._numbers[id(node.inputs[0])]

    def _root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def _link(self) -> np.ndarray:
        """Joins linked channels to classes, and returns a mask of those that stay."""
        stays = np.zeros(len(self._parents), bool)

        def keep(value: Value) -> None:
            if id(value) in self._numbers:
                stays[self._numbers[id(value)]] = True

        sums, known = set(map(id, self._sums)), set(map(id, self._known))
        for value in (*self._graph.inputs, *self._graph.outputs):
            keep(value)
        for node in self._graph.nodes:
            links = OPS[node.op].links(node) if id(node) in known else None
            linked = {id(link.value) for link in links or ()}
            if id(node) not in sums:
                for value in (*node.inputs, *(() if links else node.outputs)):
                    if id(value) not in linked:
                        keep(value)
            for link in links or ():
                inputs, outputs = self._numbers[id(link.value)], self._numbers[id(node.output)]
                for a, b in zip(inputs[link.inputs].tolist(), outputs[link.outputs].tolist()):
                    one, other = sorted((self._root(a), self._root(b)))
                    self._parents[other] = one
        return stays

    def _whole(self, mask: np.ndarray) -> np.ndarray:
        """Returns a mask of all classes of which a channel is in `mask`."""
        found = np.zeros_like(mask)
        found[self._roots[mask]] = True
        whole: np.ndarray = found[self._roots]
        return whole

    def _foldable(self, node: Node) -> np.ndarray:
        """Returns a mask of the input channels that add the same to every sum."""
        x, _, bias = node.inputs
        bounds = channels.by_channel(self._bounds[id(x)], x)
        fixed: np.ndarray = bounds.low == bounds.high
        if OPS[node.op].sees_padding(node):
            fixed &= bounds.low == x.zero_point
        shares = np.abs(channels.shares(node, bounds.low)[:, fixed]).sum(axis=1)
        fits = bool(np.all(np.abs(bias.constant.astype(np.int64)) + shares <= INT32_MAX))
        return fixed if fits else np.zeros_like(fixed)

    def _fold(self, node: Node, gone: np.ndarray) -> None:
        """Moves what the input channels `gone` add to the sums into the bias."""
        if gone.any():
            x, _, bias = node.inputs
            shares = channels.shares(node, channels.by_channel(self._bounds[id(x)], x).low)
            weights = channels.weights_by_channel(node)
            weights[:, gone] = 0
            channels.reweight(node, weights, bias.constant + shares[:, gone].sum(axis=1))

    def _spare_one(self, gone: np.ndarray) -> np.ndarray:
        """Leaves each value at least one channel."""
        for value in self._values:
            numbers = self._numbers[id(value)]
            if gone[numbers].all():
                gone = gone & (self._roots != self._roots[numbers[0]])
        return gone

    def _value_numbers(self) -> dict[int, list[int]]:
        """Returns a number for each channel of each value; channels of a value with equal numbers are equal."""
        numbers: dict[Hashable, int] = {}

        def number(key: Hashable) -> int:
            return numbers.setdefault(key, len(numbers))

        found = {
            id(value): [number((id(value), channel)) for channel in range(channels.count(value))]
            for value in self._values
        }
        for node in self._known:
            op = OPS[node.op]
            parameters, links = op.channel_parameters(node), op.links(node)
            if parameters is None or not (links or op.weighted(node)):
                continue
            keys: list[tuple[Hashable, ...]] = [(own,) for own in parameters]
            for index, link in enumerate(links or ()):
                source = found[id(link.value)]
                for a, b in zip(link.inputs.tolist(), link.outputs.tolist()):
                    keys[b] += ((index, source[a]),)
            found[id(node.output)] = list(map(number, keys))
        return found


def _weightless(node: Node) -> np.ndarray:
    """Returns a mask of the input channels that are multiplied with zeros alone."""
    weights = node.inputs[1].constant
    return np.logical_not(weights.any(axis=(0, *range(2, weights.ndim))))


def _fits_beside(node: Node, channel: int, other: int) -> bool:
    """Returns whether the weights of two input channels add up to weights."""
    weights = channels.weights_by_channel(node)
    most = node.inputs[1].element.high  # the kernels take symmetric weights
    return bool(np.all(np.abs(weights[:, channel] + weights[:, other]) <= most))
