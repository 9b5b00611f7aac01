"""Plans the arena of a graph: its buffers, their lifetimes and their places.

Steps are the indices of kernel calls. A graph input lives from step 0 to its last reader, an output from its
definition to the last step, any other activation from its definition to its last reader, the
scratch memory of a kernel during its own step. Values that lie inside of each other (`homes`) are
one buffer, of which only those bytes are alive that belong to a live value: a tensor made of
parts grows with them, and what is left of one after its last reader are the parts read later.
With I/O placed with the caller, inputs and outputs take no arena memory. States lie one after
another outside of the arena, because they live between executions.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from ...format.schema import ALIGNMENT
from ...graph.ir import Graph, Node, Value
from ...ops.registry import OPS, calls
from .homes import Home, find_homes
from .interval import Interval, Movable, align_up, bundle_of, live_bytes
from .plan import place


class IoPlacement(enum.Enum):
    """Whether the arena has room for the graph's inputs and outputs."""

    ARENA = "arena"
    CALLER = "caller"

    @staticmethod
    def of(name: str) -> IoPlacement:
        """Returns the member called `name`. ValueError lists the choices if there is none."""
        try:
            return IoPlacement(name)
        except ValueError:
            choices = ", ".join(member.value for member in IoPlacement)
            raise ValueError(f"unknown I/O placement {name!r}; choose one of {choices}") from None


@dataclass(frozen=True)
class Buffer:
    """Bytes of the arena for one activation and those inside of it, for a chain of activations computed in place, or
    for scratch memory."""

    name: str
    interval: Movable
    offset: int


@dataclass(frozen=True)
class MemoryPlan:
    """Where everything lies. Offsets are relative to the start of the arena, and those of buffers are multiples of
    16."""

    buffers: tuple[Buffer, ...]
    arena_bytes: int
    bound: int  # no placement of these buffers takes less
    live: tuple[int, ...]  # bytes alive in each step
    in_place: tuple[str, ...]  # names of the nodes that store their output over an input
    homes: tuple[Home, ...]  # of the values that lie inside of others
    persistent_bytes: int  # of the states together
    _values: Mapping[int, int]  # id of the value -> offset
    _scratch: Mapping[int, int]  # index of the call -> offset
    _states: Mapping[int, int]  # id of the state -> offset in persistent memory

    @property
    def gap(self) -> int:
        return self.arena_bytes - self.bound

    def offset_of(self, value: Value) -> Optional[int]:
        """Returns the offset of `value`; None if it has none in the arena: constants, and I/O kept by the caller."""
        return self._values.get(id(value))

    def home_of(self, value: Value) -> Home:
        """Returns the value that `value` lies in, and at which offset: by default itself."""
        return next((home for home in self.homes if home.value is value), Home(value, value, 0))

    def state_offset(self, value: Value) -> Optional[int]:
        """Returns the offset in persistent memory; None if `value` is not a state."""
        return self._states.get(id(value))

    def scratch_offset(self, step: int) -> Optional[int]:
        """Returns the offset of the scratch memory of `step`; None if its kernel needs none."""
        return self._scratch.get(step)


def plan_memory(
    graph: Graph,
    scratch_bytes: Sequence[int],
    io_placement: IoPlacement,
    in_place: Optional[bool] = None,
) -> MemoryPlan:
    """Plans the arena of `graph`; `scratch_bytes` has the scratch size of every call.

    `in_place` says whether operators that support it may overwrite an input that dies there; None means only if
    that makes the arena smaller.
    """
    if in_place is not None:
        return _plan(graph, scratch_bytes, io_placement, _overwritten(graph) if in_place else {})
    separate = _plan(graph, scratch_bytes, io_placement, {})
    overwritten = _overwritten(graph)
    if not overwritten:
        return separate
    shared = _plan(graph, scratch_bytes, io_placement, overwritten)
    return shared if shared.arena_bytes < separate.arena_bytes else separate


def _plan(
    graph: Graph,
    scratch_bytes: Sequence[int],
    io_placement: IoPlacement,
    overwritten: Mapping[int, Value],
) -> MemoryPlan:
    """Plans with the given in-place operations: step -> the input that its output replaces."""
    nodes = calls(graph)
    io = {id(value) for value in (*graph.inputs, *graph.outputs)}
    with_caller = io if io_placement is IoPlacement.CALLER else set()
    homes = find_homes(graph)
    inner = {id(home.value): home for home in homes}
    # Groups of values that share a buffer: a name, and each value with its offset.
    names: list[str] = []
    groups: list[list[tuple[int, Value]]] = []
    group_of: dict[int, int] = {}  # by id of the root
    lives = _lives(graph)

    for step, value in _defined(graph):
        home = inner.get(id(value), Home(value, value, 0))
        if id(home.root) in with_caller:
            continue
        replaced = overwritten.get(step)
        if id(home.root) not in group_of and replaced is not None:
            group_of[id(home.root)] = group_of[id(replaced)]
            names[group_of[id(replaced)]] += "=" + value.name
        elif id(home.root) not in group_of:
            group_of[id(home.root)] = len(groups)
            names.append(home.root.name)
            groups.append([])
        groups[group_of[id(home.root)]].append((home.offset, value))

    buffers = [
        bundle_of([(offset, Interval(value.nbytes, *lives[id(value)])) for offset, value in group], ALIGNMENT)
        for group in groups
    ]
    steps_with_scratch = [step for step, size in enumerate(scratch_bytes) if size]
    for step in steps_with_scratch:
        names.append(f"{nodes[step].name}.scratch")
        buffers.append(Interval(scratch_bytes[step], step, step))

    placement = place(buffers, ALIGNMENT)
    offsets = placement.offsets
    values = {id(value): base + offset for group, base in zip(groups, offsets) for offset, value in group}
    states, persistent_bytes = _place_states(graph)
    return MemoryPlan(
        buffers=tuple(Buffer(*parts) for parts in zip(names, buffers, offsets)),
        arena_bytes=align_up(placement.peak, ALIGNMENT),
        bound=placement.bound,
        live=tuple(live_bytes(buffers, ALIGNMENT)),
        in_place=tuple(nodes[step].name for step in sorted(overwritten)),
        homes=homes,
        persistent_bytes=persistent_bytes,
        _values=values,
        _scratch=dict(zip(steps_with_scratch, offsets[len(groups) :])),
        _states=states,
    )


def _defined(graph: Graph) -> Iterator[tuple[int, Value]]:
    """Yields all activations with the step of the call that writes them, -1 if there is none."""
    for value in graph.inputs:
        yield -1, value
    step = -1
    for node in graph.nodes:
        step += not OPS[node.op].only_places
        for value in node.outputs:
            yield (-1 if OPS[node.op].only_places else step), value


def _lives(graph: Graph) -> dict[int, tuple[int, int]]:
    """Returns the first and the last step of each activation, by id.

    What is made of parts begins when the last of them is written, and until then they live. A part of another value
    begins with that.
    """
    lives = {id(value): (0, 0) for value in graph.inputs}

    def live_until(value: Value, step: int) -> None:
        if id(value) in lives:
            first, last = lives[id(value)]
            lives[id(value)] = first, max(last, step)

    step = -1
    for node in graph.nodes:
        now = step = step + (not OPS[node.op].only_places)
        if OPS[node.op].only_places:
            now = max(lives[id(value)][0] for value in node.inputs)
        for value in node.inputs:
            live_until(value, now)
        lives |= {id(value): (now, now) for value in node.outputs}
    for value in graph.outputs:
        live_until(value, max(step, 0))
    return lives


def _place_states(graph: Graph) -> tuple[dict[int, int], int]:
    """Returns the offset of each state in persistent memory, by id, and the size of that memory."""
    offsets: dict[int, int] = {}
    end = 0
    for value in graph.states():
        offsets[id(value)] = end
        end = align_up(end + value.nbytes, ALIGNMENT)
    return offsets, end


def _overwritten(graph: Graph) -> dict[int, Value]:
    """Returns step -> the activation that the node of this step can store its output over."""
    nodes = calls(graph)
    last_reader = {id(value): step for step, node in enumerate(nodes) for value in node.inputs}
    # Bytes of a buffer with several values may still be read by another name.
    shared = {id(value) for home in find_homes(graph) for value in (home.value, home.root)}
    result: dict[int, Value] = {}
    for step, node in enumerate(nodes):
        if OPS[node.op].in_place and len(node.outputs) == 1 and id(node.output) not in shared:
            alone = (value for value in node.inputs if id(value) not in shared)
            value = next((v for v in alone if _dies(graph, node, v, step, last_reader)), None)
            if value is not None:
                result[step] = value
    return result


def _dies(graph: Graph, node: Node, value: Value, step: int, last_reader: Mapping[int, int]) -> bool:
    """Returns whether `value` is an inner activation of the output's size that nothing reads after `step`.

    Inputs and outputs of the graph do not count, because the caller may keep them elsewhere.
    """
    inner = not value.is_constant and not graph.is_output(value) and graph.producer(value) is not None
    return (
        inner
        and not graph.is_output(node.output)
        and value.nbytes == node.output.nbytes
        and last_reader[id(value)] == step
    )
