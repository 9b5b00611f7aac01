"""Chooses how much scratch memory kernels get that compute with less in more instructions."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.ir import Graph
from ..ops.registry import calls
from ..providers.implementation import Workspace
from . import memory
from .memory import IoPlacement, MemoryPlan, plan_memory


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
    chosen = []
    for step, node in enumerate(calls(graph)):
        ways = overlapping[step] if node.name in least.in_place else options[step]
        # Of the last calls nothing may lie in the arena.
        rest = sum(least.live[step : step + 1]) - ways[-1].scratch_bytes
        chosen.append(next(w for w in ways if rest + w.scratch_bytes <= least.arena_bytes))
    fitted = plan(chosen)
    return (tuple(chosen), fitted) if fitted.arena_bytes < fast.arena_bytes else (fastest, fast)


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
