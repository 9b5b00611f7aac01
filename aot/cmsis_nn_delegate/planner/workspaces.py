"""Chooses how much scratch memory kernels get that compute with less in more instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..graph.ir import Graph
from ..ops.registry import calls
from ..providers.implementation import Workspace
from . import memory
from .memory import IoPlacement, MemoryPlan, plan_memory

_MOST_PLANS = 32  # to find workspaces that fit together, because one may take seconds


def plan_with_workspaces(
    graph: Graph, options: Sequence[Sequence[Workspace]], io_placement: IoPlacement
) -> tuple[tuple[Workspace, ...], MemoryPlan]:
    """Returns how every call of `graph` runs, and the plan for that. `options` has for each call the ways in which it
    can run, the fastest first, and each with less scratch memory than the one before.

    Calls get another than their first only where that makes the arena smaller, and no slower one than it takes.
    """

    def plan(chosen: Sequence[Workspace]) -> MemoryPlan:
        distances = {step: w.distance for step, w in enumerate(chosen) if w.distance is not None}
        return plan_memory(graph, [w.scratch_bytes for w in chosen], io_placement, distances=distances)

    fastest = tuple(ways[0] for ways in options)
    fast = plan(fastest)
    if all(len(ways) == 1 for ways in options):
        return fastest, fast
    # The least memory, whether outputs lie over inputs, and with what ever distance, or apart from them.
    overlapping = _overlapping(options)
    least = plan_memory(
        graph,
        [ways[-1].scratch_bytes for ways in overlapping],
        io_placement,
        distances={step: w.distance for step, w in enumerate(fastest) if w.distance is not None},
        scratch_apart=[ways[-1].scratch_bytes for ways in options],
    )
    if least.arena_bytes >= fast.arena_bytes:
        return fastest, fast
    chosen, smallest = [], []
    for step, node in enumerate(calls(graph)):
        ways = overlapping[step] if node.name in least.in_place else options[step]
        # Of the last calls nothing may lie in the arena.
        rest = sum(least.live[step : step + 1]) - ways[-1].scratch_bytes
        chosen.append(next(w for w in ways if rest + w.scratch_bytes <= least.arena_bytes))
        smallest.append(ways[-1])
    fitted = plan(chosen)
    if fitted.arena_bytes > least.arena_bytes:
        # What is alive in a step fits, but not where it lies: values that move a little from call to call leave room
        # for the scratch memory of some of them alone.
        chosen, fitted = _as_many_as_fit(chosen, smallest, fitted, plan)
    return (tuple(chosen), fitted) if fitted.arena_bytes < fast.arena_bytes else (fastest, fast)


def _as_many_as_fit(
    wanted: Sequence[Workspace],
    smallest: Sequence[Workspace],
    fitted: MemoryPlan,
    plan: Callable[[Sequence[Workspace]], MemoryPlan],
) -> tuple[list[Workspace], MemoryPlan]:
    """Returns the workspaces of the smallest arena, where calls have the `wanted` ones, one after the other, as long as
    the arena stays as small. `fitted` is the plan of all wanted ones."""
    chosen = list(smallest)
    best = plan(chosen)
    if best.arena_bytes >= fitted.arena_bytes:
        return list(wanted), fitted
    steps = [step for step, (large, small) in enumerate(zip(wanted, chosen)) if large != small]
    for step in steps[:_MOST_PLANS]:
        tried = [*chosen[:step], wanted[step], *chosen[step + 1 :]]
        found = plan(tried)
        if found.arena_bytes <= best.arena_bytes:
            chosen, best = tried, found
    return chosen, best


def least_bytes(graph: Graph, options: Sequence[Sequence[Workspace]], io_placement: IoPlacement) -> int:
    """Returns what no plan of `plan_with_workspaces` is below, without making one."""
    return memory.least_bytes(
        graph,
        [ways[-1].scratch_bytes for ways in _overlapping(options)],
        io_placement,
        {step: ways[0].distance for step, ways in enumerate(options) if ways[0].distance is not None},
        [ways[-1].scratch_bytes for ways in options],
    )


def _overlapping(options: Sequence[Sequence[Workspace]]) -> list[list[Workspace]]:
    """Returns the ways that allow the distance of the first one."""
    return [[way for way in ways if way.distance == ways[0].distance] for ways in options]
