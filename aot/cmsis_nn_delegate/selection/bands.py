"""Lowers the peak of the arena by computing chains of convolutions in bands of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..ops.registry import calls
from ..passes.row_bands import chains, split_into_bands
from ..planner.workspaces import least_bytes
from .choose_kernels import Chosen, choose_kernels, legalize
from .planned import Planned, plan

_LONGEST = 3  # nodes of a chain
_BANDS = (2, 3, 4, 6, 8, 12, 16)
_ROUNDS = 4
_PLACED = 6  # candidates of a round, because placing one may take seconds


@dataclass(frozen=True)
class _Candidate:
    chosen: Chosen
    names: str
    rows: int
    slowdown: float  # in percent of the whole graph
    bound: int


def compute_in_bands(chosen: Chosen) -> Chosen:
    """Returns `chosen`, or a graph that computes the same with a smaller arena: with chains of convolutions that are
    computed in bands, see `passes.row_bands`.

    As long as that makes the arena smaller, the chain at the peak and the height of its bands are chosen that give the
    smallest arena, and of these the ones with the fewest instructions. The options' `max_slowdown` limits what all of
    them together add to the predicted instructions of the graph, in percent; a note of the graph states that too. With
    0 nothing changes."""
    max_slowdown = chosen.options.max_slowdown
    if max_slowdown <= 0:
        return chosen
    planned = plan(chosen, one_arena=True)
    spent = 0.0
    for _ in range(_ROUNDS):
        found = [c for c in _candidates(planned, max_slowdown - spent) if c.bound < planned.memory.arena_bytes]
        found.sort(key=lambda c: (c.bound, c.slowdown))
        best = None
        for candidate in found[:_PLACED]:
            if best is not None and best[1].memory.arena_bytes <= candidate.bound:
                break  # the others take no less
            result = plan(candidate.chosen, one_arena=True)
            if result.memory.arena_bytes < (best[1] if best is not None else planned).memory.arena_bytes:
                best = candidate, result
        if best is None:
            break
        candidate, result = best
        candidate.chosen.graph.notes.append(
            f"{candidate.names}: in bands of {candidate.rows} rows, for {result.memory.arena_bytes:,} bytes of arena "
            f"instead of {planned.memory.arena_bytes:,}; about {abs(candidate.slowdown):.1f} % "
            f"{'fewer' if candidate.slowdown < 0 else 'more'} instructions"
        )
        spent += candidate.slowdown
        planned = result
        chosen = candidate.chosen
    return chosen


def _candidates(planned: Planned, max_slowdown: float) -> Iterator[_Candidate]:
    """Yields the ways to compute a chain in bands that contains a call at the peak, in no more instructions than
    that. Chains whose instructions cannot be predicted stay whole; calls outside of the chain are the same in both."""
    chosen, memory = planned.chosen, planned.memory
    graph, target = chosen.graph, chosen.target
    peak = {id(node) for node, live in zip(calls(graph), memory.live) if live == memory.bound}
    before = chosen.instructions()
    modelled = {
        id(node) for node, choice in zip(calls(graph), chosen.choices) if choice.instructions(target) is not None
    }
    for chain in chains(graph, _LONGEST):
        if not any(id(node) in peak for node in chain) or not all(id(node) in modelled for node in chain):
            continue
        height = chain[-1].output.shape[2]
        for rows in sorted({-(-height // bands) for bands in _BANDS if bands <= height}):
            try:
                split = split_into_bands(graph, chain, rows)
                banded = choose_kernels(legalize(split, chosen.options), target)
            except ValueError:
                continue  # bands without rows of their own, or too small for the providers' kernels
            slowdown = 100 * (banded.instructions() - before) / before
            if slowdown > max_slowdown:
                continue
            options = [[way.workspace for way in choice.options()] for choice in banded.choices]
            bound = least_bytes(split, options, chosen.options.io_placement)
            yield _Candidate(banded, ", ".join(node.name for node in chain), rows, slowdown, bound)
