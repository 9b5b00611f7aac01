"""Lowers the peak of the arena by computing chains of convolutions in bands of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..format.schema import Isa
from ..graph.ir import Graph
from ..ops.registry import OPS, calls
from ..passes.row_bands import chains, split_into_bands
from ..target import Target
from .choose_kernels import Chosen, choose_kernels, legalize
from .encode import Planned, plan
from .planner.memory import IoPlacement
from .planner.workspaces import least_bytes

_LONGEST = 3  # nodes of a chain
_BANDS = (2, 3, 4, 6, 8, 12, 16)
_ROUNDS = 4
_PLACED = 6  # candidates of a round, because placing one may take seconds


@dataclass(frozen=True)
class _Cost:
    """Instructions, fitted to runs of mobilenet in QEMU; those for a multiplication are lower than there, so that a
    slowdown is rather overestimated."""

    multiplication: float
    call: float
    copied_byte: float  # with what reading it twice costs the next layer


_COSTS = {Isa.SCALAR: _Cost(2.0, 300, 8), Isa.DSP: _Cost(1.1, 300, 4), Isa.MVE: _Cost(0.18, 200, 0.8)}


@dataclass(frozen=True)
class _Candidate:
    chosen: Chosen
    names: str
    rows: int
    slowdown: float  # in percent of the whole graph
    bound: int


def compute_in_bands(chosen: Chosen, io_placement: IoPlacement, max_slowdown: float) -> Chosen:
    """Returns `chosen`, or a graph that computes the same with a smaller arena: with chains of convolutions that are
    computed in bands, see `passes.row_bands`.

    As long as that makes the arena smaller, the chain at the peak and the height of its bands are chosen that give the
    smallest arena, and of these the ones with the fewest instructions. `max_slowdown` limits what all of them together
    add to the instructions of the graph, in percent, by the estimate that a note of the graph also states. With 0
    nothing changes."""
    if max_slowdown <= 0:
        return chosen
    planned = plan(chosen, io_placement)
    spent = 0.0
    for _ in range(_ROUNDS):
        found = [c for c in _candidates(planned, max_slowdown - spent) if c.bound < planned.memory.arena_bytes]
        found.sort(key=lambda c: (c.bound, c.slowdown))
        best = None
        for candidate in found[:_PLACED]:
            if best is not None and best[1].memory.arena_bytes <= candidate.bound:
                break  # the others take no less
            result = plan(candidate.chosen, io_placement)
            if result.memory.arena_bytes < (best[1] if best is not None else planned).memory.arena_bytes:
                best = candidate, result
        if best is None:
            break
        candidate, result = best
        candidate.chosen.graph.notes.append(
            f"{candidate.names}: in bands of {candidate.rows} rows, for {result.memory.arena_bytes:,} bytes of arena "
            f"instead of {planned.memory.arena_bytes:,}; about {candidate.slowdown:.1f} % more instructions"
        )
        spent += candidate.slowdown
        planned = result
        chosen = candidate.chosen
    return chosen


def _candidates(planned: Planned, max_slowdown: float) -> Iterator[_Candidate]:
    """Yields the ways to compute a chain in bands that contains a call at the peak, in no more instructions than
    that."""
    chosen, memory = planned.chosen, planned.memory
    graph, target = chosen.graph, chosen.target
    peak = {id(node) for node, live in zip(calls(graph), memory.live) if live == memory.bound}
    before = _instructions(graph, target)
    for chain in chains(graph, _LONGEST):
        if not any(id(node) in peak for node in chain):
            continue
        height = chain[-1].output.shape[2]
        for rows in sorted({-(-height // bands) for bands in _BANDS if bands <= height}):
            try:
                split = split_into_bands(graph, chain, rows)
                slowdown = 100 * (_instructions(split, target) - before) / before
                if slowdown > max_slowdown:
                    continue
                legal = legalize(split, chosen.providers)
                banded = choose_kernels(legal, target, chosen.preference, chosen.max_flash_growth)
            except ValueError:
                continue  # bands without rows of their own, or too small for the providers' kernels
            options = [[way.workspace for way in choice.options()] for choice in banded.choices]
            bound = least_bytes(split, options, planned.io_placement)
            yield _Candidate(banded, ", ".join(node.name for node in chain), rows, slowdown, bound)


def _instructions(graph: Graph, target: Target) -> float:
    """Returns an estimate for one inference."""
    cost = _COSTS[target.isa]
    nodes = calls(graph)
    copied = sum(node.output.nbytes for node in nodes if node.op == "transpose")
    return (
        sum(OPS[node.op].macs(node) for node in nodes) * cost.multiplication
        + len(nodes) * cost.call
        + copied * cost.copied_byte
    )
