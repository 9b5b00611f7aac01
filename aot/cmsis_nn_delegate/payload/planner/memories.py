"""The memories of a device that a model may use: `Memory`, and a memory plan spread over several of them.

They are described in the order of their speed, the fastest first. The last one is the *arena*, which firmware gives for
each execution, as it does if no memory is described; the others are regions beside it, which the backend has for all of
its models. What lies where:

- inputs and outputs, and what is computed over inputs or lies inside of outputs: in the arena, if they are placed
  there, because that is where the caller finds them;
- all other activations and scratch memory: where `spread` puts them by the bytes that calls touch. A call reads each
  byte of its inputs once and writes each byte of its outputs once, and writes and reads its scratch memory. A
  convolution reads its input several times, so that this is less than what it touches;
- states: after the delegate's handle, as always; weights: in the payload, as always.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...format.schema import ALIGNMENT, MAX_REF_OFFSET
from ...graph.ir import Graph
from ...ops.kernel import Workspace
from ...ops.registry import calls
from .memory import IoPlacement, MemoryPlan, MemoryUse, plan_memory
from .spread import spread

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}
_RESERVED = ("arena", "persistent")  # reports name regions by these


@dataclass(frozen=True)
class Memory:
    """`nbytes` bytes of RAM for a model. Its name is for reports and messages."""

    name: str
    nbytes: int

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", self.name) or self.name in _RESERVED:
            raise ValueError(
                f"a memory is called {self.name!r}; take letters, digits and '_', beginning with a letter, and neither "
                f"{' nor '.join(_RESERVED)}"
            )
        if not 0 < self.nbytes <= MAX_REF_OFFSET:
            raise ValueError(f"memory {self.name} has {self.nbytes} bytes; give 1 to {MAX_REF_OFFSET:,}")

    @staticmethod
    def of(text: str) -> Memory:
        """Returns the memory that "NAME=SIZE" describes: SIZE is a number of bytes, or of KiB or MiB with K or M after
        it. ValueError says what is wrong."""
        found = re.fullmatch(r"([^=]*)=(\d+)([KM]?)", text)
        if found is None:
            raise ValueError(
                f"memory {text!r}: write NAME=SIZE, for example dtcm=64K; SIZE is bytes, or ends in K or M"
            )
        return Memory(found[1], int(found[2]) * _UNITS[found[3]])

    @staticmethod
    def list_of(text: str) -> list[Memory]:
        """Returns the memories that "NAME=SIZE,NAME=SIZE" describes; none for an empty text."""
        return [Memory.of(part) for part in text.split(",")] if text else []

    def __str__(self) -> str:
        return f"{self.name}={self.nbytes}"


def check_memories(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Returns `memories`. ValueError if two have the same name."""
    names = [memory.name for memory in memories]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several memories are called {twice[0]}; give each another name")
    return tuple(memories)


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
    if len(memories) > 1:
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
    if not memories:
        return plan
    fillings = spread(
        [buffer.interval for buffer in plan.buffers],
        _touched(graph, plan),
        _kept(graph, plan),
        [memory.nbytes for memory in memories],
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
            MemoryUse(memory.name, memory.nbytes, f.nbytes, f.bound, f.live, f.touched) for memory, f in ordered
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


def _kept(graph: Graph, plan: MemoryPlan) -> set[int]:
    found = (plan.buffer_of(value) for value in (*graph.inputs, *graph.outputs))
    return {index for index in found if index is not None}
