"""The memories of a device that a model may use: `Memory`, and a memory plan spread over several of them.

They are described in the order of their speed, the fastest first. Each holds certain kinds of data: by default
activations and scratch memory. The last one that holds these is the *arena*, which firmware gives for each execution,
as it does if no memory is described; the others are regions beside it, which the backend has for all of its models.
What lies where:

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

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...byte_counts import PATTERN, byte_count
from ...checked import checked, checked_fields
from ...format.schema import ALIGNMENT, MAX_IO, MAX_REF_OFFSET, STATE_OFFSET
from ...graph.ir import Graph
from ...ops.registry import calls
from ...providers.implementation import Workspace
from .memory import IoPlacement, Kept, MemoryPlan, MemoryUse, plan_memory
from .spread import spread

_RESERVED = ("arena", "persistent")  # reports name regions by these
_PLANNED = ("activations", "scratch")  # what the memory plan places
_KEPT = ("state", "weights")  # what the backend keeps from init() on


@checked_fields
@dataclass(frozen=True)
class Memory:
    """`nbytes` bytes of RAM for a model, for the kinds of data that it `holds`: some of "activations", "scratch",
    "state" and "weights", in this order. Its name is for reports and messages."""

    name: str
    nbytes: int
    holds: tuple[str, ...] = _PLANNED

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", self.name) or self.name in _RESERVED:
            raise ValueError(
                f"a memory is called {self.name!r}; take letters, digits and '_', beginning with a letter, and neither "
                f"{' nor '.join(_RESERVED)}"
            )
        if not 0 < self.nbytes <= MAX_REF_OFFSET:
            raise ValueError(f"memory {self.name} has {self.nbytes} bytes; give 1 to {MAX_REF_OFFSET:,}")
        unknown = [kind for kind in self.holds if kind not in _PLANNED + _KEPT]
        if unknown or not self.holds:
            named = f"{unknown[0]!r}, which is none" if unknown else "nothing, which is none"
            raise ValueError(f"memory {self.name} is for {named} of {', '.join(_PLANNED + _KEPT)}")
        # So that equal memories are equal, whatever the order that they were written in.
        object.__setattr__(self, "holds", tuple(kind for kind in _PLANNED + _KEPT if kind in self.holds))

    @staticmethod
    @checked()
    def of(text: str) -> Memory:
        """Returns the memory that "NAME=SIZE" or "NAME=SIZE:KIND,KIND" describes: SIZE is a number of bytes, or of KiB
        or MiB with K or M after it, KIND one of those in `holds`. ValueError says what is wrong."""
        found = re.fullmatch(rf"([^=]*)=({PATTERN})(?::([^:]*))?", text, re.ASCII)
        if found is None:
            raise ValueError(
                f"memory {text!r}: write NAME=SIZE or NAME=SIZE:KINDS, for example dtcm=64K or "
                "dtcm=64K:activations,weights; SIZE is bytes, or ends in K or M"
            )
        holds = _PLANNED if found[3] is None else tuple(kind for kind in found[3].split(",") if kind)
        return Memory(found[1], byte_count(found[2]), holds)

    @staticmethod
    @checked()
    def list_of(text: str) -> list[Memory]:
        """Returns the memories that "NAME=SIZE;NAME=SIZE:KINDS" describes; none for an empty text."""
        return [Memory.of(part) for part in text.split(";")] if text else []

    def __str__(self) -> str:
        kinds = "" if self.holds == _PLANNED else f":{','.join(self.holds)}"
        return f"{self.name}={self.nbytes}{kinds}"


def check_memories(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Returns `memories`. ValueError if there are more than a payload can refer to, if two have the same name, if the
    arena's holds only activations or only scratch memory, or if several hold states and weights."""
    most = MAX_IO - 1  # an input and an output have bases too, and the arena's is another one
    if len(memories) > most:
        raise ValueError(f"{len(memories)} memories are given; a payload can use at most {most}")
    names = [memory.name for memory in memories]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several memories are called {twice[0]}; give each another name")
    missing = [kind for arena in planned_in(memories)[-1:] for kind in _PLANNED if kind not in arena.holds]
    if missing:
        arena = planned_in(memories)[-1]
        raise ValueError(
            f"{arena.name} is the slowest memory for {arena.holds[0]} and so has to hold {missing[0]} too: add that to "
            "it, or give a slower memory for both"
        )
    keeping = [memory.name for memory in memories if set(memory.holds) & set(_KEPT)]
    if len(keeping) > 1:
        raise ValueError(
            f"{' and '.join(keeping)} hold states or weights; only one memory can, because the backend takes both from "
            "one allocator"
        )
    return tuple(memories)


def list_text(memories: Sequence[Memory]) -> str:
    """Returns the text that `Memory.list_of` reads."""
    return ";".join(map(str, memories))


def planned_in(memories: Sequence[Memory]) -> list[Memory]:
    """Returns those that hold activations or scratch memory; the last one is the arena."""
    return [memory for memory in memories if set(memory.holds) & set(_PLANNED)]


def copies_weights(memories: Sequence[Memory]) -> bool:
    """Returns whether one of them holds weights."""
    return any("weights" in memory.holds for memory in memories)


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
    keeping = next((memory for memory in memories if set(memory.holds) & set(_KEPT)), None)
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
