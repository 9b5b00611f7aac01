"""A memory plan spread over several memories. What lies where:

- inputs and outputs, and what is computed over inputs or lies inside of outputs: in the arena, if they are placed
  there, because that is where the caller finds them;
- all other activations and scratch memory: where `spread` puts them by the bytes that calls touch. A call reads each
  byte of its inputs once and writes each byte of its outputs once, and writes and reads its scratch memory. A
  convolution reads its input several times, so that this is less than what it touches;
- states: after the delegate's handle, as always, which the backend takes from one allocator; a memory that holds
  `state` or `weights` is where firmware has that allocator, so that its bytes count there;
- weights: in the payload, as always. Of those that are read the most, for their size, init() makes copies behind the
  states, as many as are left room for in the memory that holds `weights`: see `copies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..format.schema import ALIGNMENT, STATE_OFFSET
from ..graph.ir import Graph
from ..ops.registry import calls
from ..providers.implementation import Workspace
from ..targets.memory import Memory, copies_weights, kept_in, planned_in
from .memory import IoPlacement, Kept, MemoryPlan, MemoryUse, plan_memory
from .spread import spread


def plan_in_memories(
    graph: Graph,
    workspaces: Sequence[Workspace],
    io_placement: IoPlacement,
    plan: MemoryPlan,
    memories: Sequence[Memory],
) -> MemoryPlan:
    """Returns `plan`, which has all buffers of `graph` in one arena, or if there are `memories`, a plan for these. The
    arena may then take more than its memory has: `MemoryUse.excess`. `workspaces` says how each call runs.

    The smallest arena has outputs over inputs, and so chains of values that are too large for a fast memory, or that
    have to be in the arena because one of them is an input of the graph. With several memories, plans without outputs
    over inputs of the graph, and without any over inputs, are therefore tried too. Of those with the lowest excess, the
    one is taken that touches the fewest bytes in the last memory, of these the one with the fewest in the memory
    before, and so on.
    """
    plans = [plan]
    if len(planned_in(memories)) > 1:
        scratch = [workspace.scratch_bytes for workspace in workspaces]
        distances = {step: w.distance for step, w in enumerate(workspaces) if w.distance is not None}
        plans.append(plan_memory(graph, scratch, io_placement, None, distances, over_inputs=False))
        plans.append(plan_memory(graph, scratch, io_placement, False, distances))
    return min((spread_plan(graph, p, memories) for p in plans), key=_cost)


def _cost(plan: MemoryPlan) -> tuple[int, ...]:
    uses = plan.memories
    return (uses[0].excess, uses[0].touched, *(use.touched for use in reversed(uses[1:]))) if uses else ()


def spread_plan(graph: Graph, plan: MemoryPlan, memories: Sequence[Memory]) -> MemoryPlan:
    """Returns `plan` with its buffers spread over `memories`; unchanged if there are none."""
    keeping = kept_in(memories)
    state_bytes = STATE_OFFSET + plan.persistent_bytes if plan.persistent_bytes or copies_weights(memories) else 0
    ram = planned_in(memories)
    if ram:
        plan = _spread(graph, plan, ram, {memory: state_bytes if memory is keeping else 0 for memory in ram})
    if keeping is None:
        return plan
    taken = sum(use.nbytes for use in plan.memories if use.name == keeping.name)
    return replace(
        plan,
        kept=Kept(
            keeping.name,
            keeping.nbytes,
            state_bytes,
            max(keeping.nbytes - state_bytes - taken, 0) if "weights" in keeping.holds else 0,
        ),
    )


def _spread(graph: Graph, plan: MemoryPlan, memories: Sequence[Memory], kept: Mapping[Memory, int]) -> MemoryPlan:
    """`kept` has how many bytes of each memory are taken by what the backend keeps."""
    in_arena = _io(graph, plan)
    scratch = {index for index, buffer in enumerate(plan.buffers) if not buffer.values}
    values = set(range(len(plan.buffers))) - scratch - in_arena
    fillings = spread(
        [buffer.interval for buffer in plan.buffers],
        _touched(graph, plan),
        [
            (values if "activations" in memory.holds else set()) | (scratch if "scratch" in memory.holds else set())
            for memory in memories[:-1]
        ],
        [max(memory.nbytes - kept[memory], 0) for memory in memories],
        ALIGNMENT,
    )
    # The arena is region 0.
    ordered = [(memories[-1], fillings[-1]), *zip(memories, fillings[:-1])]
    buffers = list(plan.buffers)
    for region, (_, filling) in enumerate(ordered):
        for index, offset in zip(filling.buffers, filling.offsets):
            buffers[index] = replace(buffers[index], region=region, offset=offset)
    arena = fillings[-1]
    return replace(
        plan,
        buffers=tuple(buffers),
        arena_bytes=arena.nbytes,
        bound=arena.bound,
        live=arena.live + (0,) * (len(calls(graph)) - len(arena.live)),
        memories=tuple(
            MemoryUse(memory.name, memory.nbytes - kept[memory], f.nbytes, f.bound, f.live, f.touched)
            for memory, f in ordered
        ),
    )


def _touched(graph: Graph, plan: MemoryPlan) -> list[int]:
    touched = [0] * len(plan.buffers)
    for step, node in enumerate(calls(graph)):
        for value in (*node.inputs, *node.outputs):
            index = plan.buffer_of(value)
            if index is not None:
                touched[index] += value.nbytes
        index = plan.buffer_of_scratch(step)
        if index is not None:
            touched[index] += 2 * plan.buffers[index].interval.size
    return touched


def _io(graph: Graph, plan: MemoryPlan) -> set[int]:
    found = (plan.buffer_of(value) for value in (*graph.inputs, *graph.outputs))
    return {index for index in found if index is not None}
