"""The choice of a format for each layer as numbers: `Problem`, and its best answers, `frontier`.

The noise of an assignment is estimated as the sum of what the weights and the tensors of all layers add by themselves
(`quantization.comparison.layer_noise`). A tensor adds what the coarsest type adds that it is rounded to: that of the
layer that computes it, or of one that reads it. So a layer in int16 between two in int8 gains little, and neighbours
are changed together. Its price is the sum of what its units take, and of conversions where types meet; or for the
least RAM, what lives at the same time.

Needs NumPy alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Assignment = tuple[int, ...]  # the number of a format for each unit

_ALL = 4096  # as many assignments are tried one by one
_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # of units in a row that change together
_AT_ONCE = 512  # assignments that are judged together


@dataclass(frozen=True)
class Problem:
    """Units are what one format is chosen for, in execution order; layers are tensors with a scale of their own.

    choices: for each unit, the formats that it may have.
    unit_of: for each layer the unit that computes it; -1 for an input, and for what has the first format in any case.
    weights: [layer, format], the noise of its weights, as a share of the signal of the outputs.
    types: [layer, format], the number of the type that the layer's tensor has; -1 if it is rounded only where it is
        read.
    tensors: [layer, type], the noise of rounding the tensor.
    readers: pairs (layer, layer that reads it).
    prices: [unit, format], what is to be little.
    sizes: the number of elements of each layer's tensor. last_reads: the last layer that reads it.
    conversion: the price of converting an element from one type to another.
    type_bytes: the bytes of an element of each type.
    by_memory: the price is the most bytes of tensors that live at the same time, and `prices` only decides between
        equals.
    """

    choices: tuple[tuple[int, ...], ...]
    unit_of: np.ndarray
    weights: np.ndarray
    types: np.ndarray
    tensors: np.ndarray
    readers: tuple[tuple[int, int], ...]
    prices: np.ndarray
    sizes: np.ndarray
    last_reads: np.ndarray
    conversion: float
    type_bytes: np.ndarray
    by_memory: bool = False

    def judged(self, assignments: Sequence[Assignment]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the noise and the price of each of the assignments."""
        units = len(self.choices)
        pieces = (assignments[begin : begin + _AT_ONCE] for begin in range(0, len(assignments), _AT_ONCE))
        parts = [self._judged(np.array(piece, dtype=np.int64).reshape(len(piece), units)) for piece in pieces]
        noises, prices = zip(*parts)
        return np.concatenate(noises), np.concatenate(prices)

    def noise_of_layers(self, assignment: Assignment) -> tuple[np.ndarray, np.ndarray]:
        """Returns the noise of each layer's weights, and of its tensor."""
        weights, rounding, _, _ = self._parts(np.array([assignment], dtype=np.int64).reshape(1, len(self.choices)))
        return weights[0], rounding[0]

    def _parts(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Returns the noise of weights and of tensors [assignment, layer], the types of tensors, and which types each
        is converted to [assignment, layer, type]."""
        layers = np.arange(len(self.unit_of))
        formats = np.zeros((len(chosen), len(layers)), dtype=np.int64)
        computed = self.unit_of >= 0
        formats[:, computed] = chosen[:, self.unit_of[computed]]
        types = self.types[layers, formats]
        rounding = np.where(types >= 0, self.tensors[layers, np.maximum(types, 0)], 0.0)
        # A tensor is converted once for each type that it is read in.
        converted = np.zeros((len(chosen), len(layers), self.tensors.shape[1]), dtype=bool)
        for layer, reader in self.readers:
            read_as = types[:, reader]
            known = read_as >= 0
            noise = np.where(known, self.tensors[layer, np.maximum(read_as, 0)], 0.0)
            rounding[:, layer] = np.maximum(rounding[:, layer], noise)
            differs = known & (types[:, layer] >= 0) & (read_as != types[:, layer])
            converted[differs, layer, read_as[differs]] = True
        return self.weights[layers, formats], rounding, types, converted

    def _judged(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights, rounding, types, converted = self._parts(chosen)
        noise = weights.sum(1) + rounding.sum(1)
        layers = np.arange(len(self.unit_of))
        units = np.arange(len(self.choices))
        price = self.prices[units, chosen].sum(1) + self.conversion * (converted.sum(2) * self.sizes).sum(1)
        if self.by_memory:
            nbytes = self.sizes * self.type_bytes[np.maximum(types, 0)]
            live = (layers[:, None] <= layers) & (layers <= self.last_reads[:, None])  # [layer, time]
            price = (nbytes @ live).max(1) * (1 + 1e-3 * price / max(1.0, float(self.prices.max(1).sum())))
        return noise, price

    @property
    def cheapest(self) -> Assignment:
        """Returns the assignment of the format to each unit that is the cheapest by itself."""
        return tuple(min(formats, key=lambda f: (self.prices[unit, f], f)) for unit, formats in enumerate(self.choices))

    def uniform(self, chosen: int) -> Assignment:
        """Returns the assignment of one format to each unit that may have it, and of its first one to others."""
        return tuple(chosen if chosen in formats else formats[0] for formats in self.choices)


@dataclass(frozen=True)
class Candidate:
    """An assignment with its estimates."""

    assignment: Assignment
    noise: float
    price: float


def frontier(problem: Problem) -> list[Candidate]:
    """Returns assignments of which none is both cheaper and more exact than another, as estimated, the cheapest first.

    These are the best ones of all if there are few assignments. Otherwise two walks look for them: one from the
    cheapest assignment, each step of which changes a few units that are read by each other or follow each other so that
    the most noise goes away for the price; and one from the most exact one, whose steps save the most for the noise.
    """
    if math.prod(map(len, problem.choices)) <= _ALL:
        return _best(problem, list(itertools.product(*problem.choices)))
    groups = list(_groups(problem))
    visited: dict[Assignment, None] = {}
    begins = [problem.uniform(f) for f in sorted({f for formats in problem.choices for f in formats})]
    noises, _ = problem.judged(begins)
    _walk(problem, groups, problem.cheapest, True, visited)
    _walk(problem, groups, begins[int(noises.argmin())], False, visited)
    return _best(problem, [*begins, *visited])


def _best(problem: Problem, assignments: Sequence[Assignment]) -> list[Candidate]:
    noises, prices = problem.judged(assignments)
    found: list[Candidate] = []
    for index in np.lexsort((noises, prices)):
        if not found or noises[index] < found[-1].noise:
            found.append(Candidate(assignments[index], float(noises[index]), float(prices[index])))
    return found


def changed(problem: Problem, assignment: Assignment) -> list[Assignment]:
    """Returns what a step makes of an assignment: a few units that are near each other get one format."""
    return _steps(problem, list(_groups(problem)), assignment)


def _groups(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Yields units that may change together: each alone, those that follow each other, and those that read or are read
    by one."""
    count = len(problem.choices)
    near: list[set[int]] = [{unit} for unit in range(count)]
    for layer, reader in problem.readers:
        a, b = int(problem.unit_of[layer]), int(problem.unit_of[reader])
        if a >= 0 and b >= 0:
            near[a].add(b)
            near[b].add(a)
    rows = (range(begin, begin + n) for n in (*_LENGTHS, count) for begin in range(count - n + 1))
    yield from dict.fromkeys(tuple(sorted(group)) for group in itertools.chain(rows, near))


def _steps(problem: Problem, groups: Sequence[tuple[int, ...]], assignment: Assignment) -> list[Assignment]:
    found: dict[Assignment, None] = {}
    for chosen in sorted({f for formats in problem.choices for f in formats}):
        for group in groups:
            other = list(assignment)
            for unit in group:
                if chosen in problem.choices[unit]:
                    other[unit] = chosen
            found[tuple(other)] = None
    found.pop(assignment, None)
    return list(found)


def _walk(
    problem: Problem,
    groups: Sequence[tuple[int, ...]],
    assignment: Assignment,
    to_exact: bool,
    visited: dict[Assignment, None],
) -> None:
    """Adds the assignments on the way from one to `visited`."""
    (noise,), (price,) = problem.judged([assignment])
    visited[assignment] = None
    while True:
        steps = _steps(problem, groups, assignment)
        if not steps:
            return
        noises, prices = problem.judged(steps)
        gain, cost = (noise - noises, prices - price) if to_exact else (price - prices, noises - noise)
        allowed = gain > 1e-9 * (noise if to_exact else price)
        if not allowed.any():
            return
        # What costs nothing comes first, and of that what gains most.
        ratio = np.where(allowed, gain / np.maximum(cost, 1e-12 * (price if to_exact else noise) + 1e-30), -1.0)
        best = int(ratio.argmax())
        assignment, noise, price = steps[best], noises[best], prices[best]
        visited[assignment] = None
