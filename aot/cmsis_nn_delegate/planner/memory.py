"""Plans the arena of a graph: its buffers, their lifetimes and their places.

Steps are the indices of kernel calls. A graph input lives from step 0 to its last reader, an output from its
definition to the last step, any other activation from its definition to its last reader, the
scratch memory of a kernel during its own step. Values that lie inside of each other (`homes`) are
one buffer, of which only those bytes are alive that belong to a live value: a tensor made of
parts grows with them, and what is left of one after its last reader are the parts read later.
So are an output and the input that it is stored over: a kernel may allow that at the same place, or
from some distance before its input on, if it no longer reads what it overwrites.
With I/O placed with the caller, inputs and outputs take no arena memory. States lie one after
another outside of the arena, because they live between executions.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Optional

from ..format.schema import ALIGNMENT
from ..graph.ir import Graph, Value
from ..graph.persistent import place_states
from ..ops.registry import OPS, calls
from .homes import Home, find_homes
from .interval import Interval, Movable, align_up, bundle_of, live_bytes, lower_bound
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
    """Bytes of the arena, or of a region beside it, for one activation and those inside of it, for a chain of
    activations computed in place, or for scratch memory."""

    name: str
    interval: Movable
    offset: int
    values: tuple[tuple[str, int, Interval], ...] = ()  # names and offsets in the buffer; none for scratch memory
    region: int = 0  # that it lies in: 0 is the arena, see `memories`

    def alive_in(self, step: int) -> list[tuple[str, int, int]]:
        """Returns what of the buffer is alive in `step`: names, offset from the start of the region, and bytes. Values
        that overlap are named together, in the order in which they were computed."""
        found = []
        for begin, piece in self.interval.pieces:
            if piece.first <= step <= piece.last:
                end = begin + piece.size
                inside = [
                    name
                    for name, at, life in self.values
                    if life.first <= step <= life.last and begin < at + life.size and at < end
                ]
                found.append(("+".join(inside) or self.name, self.offset + begin, piece.size))
        return found


@dataclass(frozen=True)
class MemoryUse:
    """What a model takes of a memory that was described to the compiler. Sizes are bytes."""

    name: str
    limit: int  # its size, without what the backend keeps there
    nbytes: int
    bound: int  # no placement of its buffers takes less
    live: tuple[int, ...]  # bytes alive in each step, up to the last one with a buffer
    touched: int  # bytes that the calls of an inference read and write there, as `memories` counts them

    @property
    def excess(self) -> int:
        """Returns how many bytes are missing."""
        return max(self.nbytes - self.limit, 0)


@dataclass(frozen=True)
class Kept:
    """The memory for what the backend keeps from init() on. Sizes are bytes."""

    name: str
    limit: int  # its size
    state_bytes: int  # of the handle and the states; 0 if there is no state and no weight may be copied
    room: int  # for copies of weights

    @property
    def excess(self) -> int:
        """Returns how many bytes are missing for the states."""
        return max(self.state_bytes - self.limit, 0)


@dataclass(frozen=True)
class MemoryPlan:
    """Where everything lies. Offsets are relative to the start of the arena, or of a region beside it, and those of
    buffers are multiples of 16. Region 0 is the arena."""

    buffers: tuple[Buffer, ...]
    arena_bytes: int
    bound: int  # no placement of these buffers takes less
    live: tuple[int, ...]  # bytes of the arena alive in each step
    in_place: tuple[str, ...]  # names of the nodes that store their output over an input
    homes: tuple[Home, ...]  # of the values that lie inside of others
    persistent_bytes: int  # of the states together
    _values: Mapping[int, tuple[int, int]]  # id of the value -> its buffer's index, and its offset in it
    _scratch: Mapping[int, int]  # index of the call -> the index of its buffer
    _states: Mapping[int, int]  # id of the state -> offset in persistent memory
    _lives: Mapping[int, tuple[int, int]]  # id of the value -> its first and last step
    memories: tuple[MemoryUse, ...] = ()  # by region; none if none were described
    kept: Optional[Kept] = None  # None if no memory for it was described

    @property
    def in_order(self) -> tuple[MemoryUse, ...]:
        """Returns `memories` as they were described: the arena's last."""
        return (*self.memories[1:], *self.memories[:1])

    def name_of(self, region: int) -> str:
        """Returns "arena", or the name of the memory with the region beside it."""
        return self.memories[region].name if region else "arena"

    @property
    def region_bytes(self) -> tuple[int, ...]:
        """Returns the sizes of the regions beside the arena."""
        return tuple(memory.nbytes for memory in self.memories[1:])

    def live_in(self, step: int) -> int:
        """Returns the bytes alive in `step`, of all memories."""
        lives = [memory.live for memory in self.memories] or [self.live]
        return sum(live[step] for live in lives if step < len(live))

    @property
    def gap(self) -> int:
        return self.arena_bytes - self.bound

    def offset_of(self, value: Value) -> Optional[int]:
        """Returns the offset of `value` in its region; None if it has none: constants, and I/O kept by the caller."""
        index, offset = self._values.get(id(value), (None, 0))
        return None if index is None else self.buffers[index].offset + offset

    def region_of(self, value: Value) -> int:
        """Returns the region of `value`, which has an offset."""
        return self.buffers[self._values[id(value)][0]].region

    def buffer_of(self, value: Value) -> Optional[int]:
        """Returns the index of the buffer that `value` lies in; None if it has no offset."""
        return self._values.get(id(value), (None, 0))[0]

    def buffer_of_scratch(self, step: int) -> Optional[int]:
        """Returns the index of the buffer of the scratch memory of `step`; None if its kernel needs none."""
        return self._scratch.get(step)

    def lifetime_of(self, value: Value) -> tuple[int, int]:
        """Returns the first and the last step in which the activation `value` is alive."""
        return self._lives[id(value)]

    def home_of(self, value: Value) -> Home:
        """Returns the value that `value` lies in, and at which offset: by default itself."""
        return next((home for home in self.homes if home.value is value), Home(value, value, 0))

    def state_offset(self, value: Value) -> Optional[int]:
        """Returns the offset in persistent memory; None if `value` is not a state."""
        return self._states.get(id(value))

    def scratch_offset(self, step: int) -> Optional[int]:
        """Returns the offset of the scratch memory of `step` in its region; None if its kernel needs none."""
        index = self._scratch.get(step)
        return None if index is None else self.buffers[index].offset

    def scratch_region(self, step: int) -> int:
        """Returns the region of the scratch memory of `step`, whose kernel needs some."""
        return self.buffers[self._scratch[step]].region


@dataclass(frozen=True)
class Overlay:
    """The output of a call may be stored over `value`, starting `distance` bytes before it, or as many more as the
    alignment takes."""

    value: Value
    distance: int


def plan_memory(
    graph: Graph,
    scratch_bytes: Sequence[int],
    io_placement: IoPlacement,
    in_place: Optional[bool] = None,
    distances: Mapping[int, int] = MappingProxyType({}),
    scratch_apart: Optional[Sequence[int]] = None,
    over_inputs: bool = True,
) -> MemoryPlan:
    """Plans the arena of `graph`; `scratch_bytes` has the scratch size of every call, `scratch_apart` that of calls
    whose outputs lie apart from their inputs, if it is another.

    `in_place` says whether calls that support it may overwrite an input that dies there; None means only where that
    makes the arena smaller. `distances` has, by step, for calls that may overwrite their first input although they
    still read it, how many bytes before it their output has to start. `over_inputs` says whether outputs may lie over
    inputs of the graph.
    """
    plan = _Planner(graph, scratch_bytes, scratch_bytes if scratch_apart is None else scratch_apart, io_placement)
    overlays = _overlays(graph, io_placement, distances)
    if not over_inputs:
        overlays = {step: o for step, o in overlays.items() if not _is_input(graph, o.value)}
    if in_place is not None:
        return plan.place(overlays if in_place else {})
    # Of equal ones the first: that with the fewest overlays.
    best: Optional[MemoryPlan] = None
    for chosen in sorted(({}, plan.fewest(plan.plain(overlays)), plan.fewest(overlays), overlays), key=plan.bound):
        if best is None or plan.bound(chosen) < best.arena_bytes:
            found = plan.place(chosen)
            best = found if best is None or found.arena_bytes < best.arena_bytes else best
    assert best is not None
    return best


def least_bytes(
    graph: Graph,
    scratch_bytes: Sequence[int],
    io_placement: IoPlacement,
    distances: Mapping[int, int],
    scratch_apart: Sequence[int],
) -> int:
    """Returns what the arena takes at least, without placing anything: the largest live set or buffer. The arguments
    are those of `plan_memory`."""
    plan = _Planner(graph, scratch_bytes, scratch_apart, io_placement)
    overlays = _overlays(graph, io_placement, distances)
    return min(plan.least(chosen) for chosen in ({}, plan.fewest(overlays)))


class _Planner:
    """Plans for one graph with different overlays: step -> where its output may be stored."""

    def __init__(
        self, graph: Graph, scratch_bytes: Sequence[int], scratch_apart: Sequence[int], io_placement: IoPlacement
    ) -> None:
        self._graph = graph
        self._nodes = calls(graph)
        self._scratch_bytes, self._scratch_apart = scratch_bytes, scratch_apart
        self._with_caller = (
            {id(value) for value in (*graph.inputs, *graph.outputs)} if io_placement is IoPlacement.CALLER else set()
        )
        self._homes = find_homes(graph)
        self._lives = _lives(graph)
        self._intervals: dict[int, Interval] = {}  # by id of the value
        # By offset and id of the values in it: different overlays leave most groups as they are.
        self._bundles: dict[tuple[tuple[int, int], ...], Movable] = {}

    def plain(self, overlays: Mapping[int, Overlay]) -> Mapping[int, Overlay]:
        """Returns `overlays` without those of values that others lie in, whose buffers are hard to place."""
        roots = {id(home.root) for home in self._homes}
        return {
            step: overlay
            for step, overlay in overlays.items()
            if id(overlay.value) not in roots and id(self._nodes[step].output) not in roots
        }

    def fewest(self, overlays: Mapping[int, Overlay]) -> Mapping[int, Overlay]:
        """Returns `overlays` without those that make the arena larger: a value that starts before the one that it
        replaces may need room while something larger is alive, and a long chain of them reaches far."""
        dropped: frozenset[int] = frozenset()
        least = self.least(overlays)
        while True:
            # What helps most: without one more, or else without one instead of another.
            steps = [step for step in sorted(overlays) if step not in dropped]
            more = [dropped | {step} for step in steps]
            instead = [dropped - {back} | {step} for back in sorted(dropped) for step in steps]
            for moves in (more, instead):
                found = [(self.least({s: o for s, o in overlays.items() if s not in move}), move) for move in moves]
                lower = [pair for pair in found if pair[0] < least]
                if lower:
                    least, dropped = min(lower, key=lambda pair: pair[0])
                    break
            else:
                return {step: overlay for step, overlay in overlays.items() if step not in dropped}

    def least(self, overlays: Mapping[int, Overlay]) -> int:
        """Returns what the arena takes at least: the largest live set, or the largest buffer as a whole."""
        _, _, buffers = self._buffers(overlays)
        return max((lower_bound(buffers, ALIGNMENT), *(buffer.size for buffer in buffers)))

    def place(self, overlays: Mapping[int, Overlay]) -> MemoryPlan:
        names, groups, buffers = self._buffers(overlays)
        steps = [step for step, size in enumerate(self._scratch(overlays)) if size]
        names += [f"{self._nodes[step].name}.scratch" for step in steps]
        placement = place(buffers, ALIGNMENT)
        offsets = placement.offsets
        values = {id(value): (index, offset) for index, group in enumerate(groups) for offset, value in group}
        contents = [tuple((v.name, at, self._interval(v)) for at, v in group) for group in groups]
        contents += [()] * len(steps)
        states, persistent_bytes = place_states(self._graph)
        return MemoryPlan(
            buffers=tuple(Buffer(*parts) for parts in zip(names, buffers, offsets, contents)),
            arena_bytes=align_up(placement.peak, ALIGNMENT),
            bound=placement.bound,
            live=tuple(live_bytes(buffers, ALIGNMENT)),
            in_place=tuple(self._nodes[step].name for step in sorted(overlays)),
            homes=self._homes,
            persistent_bytes=persistent_bytes,
            _values=values,
            _scratch={step: len(groups) + number for number, step in enumerate(steps)},
            _states=states,
            _lives=self._lives,
        )

    def bound(self, overlays: Mapping[int, Overlay]) -> int:
        """Returns the size of the largest live set, which no placement is below."""
        _, _, buffers = self._buffers(overlays)
        return lower_bound(buffers, ALIGNMENT)

    def _buffers(
        self, overlays: Mapping[int, Overlay]
    ) -> tuple[list[str], list[list[tuple[int, Value]]], list[Movable]]:
        """Returns the groups of values that share a buffer, with their names, and the buffers: those of the groups and
        then the scratch memory of calls. Of a group, each value has its offset in the buffer."""
        inner = {id(home.value): home for home in self._homes}
        names: list[str] = []
        groups: list[list[tuple[int, Value]]] = []
        place_of: dict[int, tuple[int, int]] = {}  # by id of the root: its group, and its offset there
        for step, value in _defined(self._graph):
            home = inner.get(id(value), Home(value, value, 0))
            root = id(home.root)
            if root in self._with_caller:
                continue
            overlay = overlays.get(step)
            if root not in place_of and overlay is not None:
                group, offset = place_of[id(overlay.value)]
                place_of[root] = group, offset - align_up(overlay.distance, ALIGNMENT)
                names[group] += "=" + value.name
            elif root not in place_of:
                place_of[root] = len(groups), 0
                names.append(home.root.name)
                groups.append([])
            group, offset = place_of[root]
            groups[group].append((offset + home.offset, value))
        # Offsets count from the lowest one, which may be that of an overlay.
        starts = [min(offset for offset, _ in group) for group in groups]
        groups = [[(offset - start, value) for offset, value in group] for group, start in zip(groups, starts)]
        buffers = [self._bundle(group) for group in groups]
        buffers += [Interval(size, step, step) for step, size in enumerate(self._scratch(overlays)) if size]
        return names, groups, buffers

    def _bundle(self, group: Sequence[tuple[int, Value]]) -> Movable:
        key = tuple((offset, id(value)) for offset, value in group)
        if key not in self._bundles:
            self._bundles[key] = bundle_of([(offset, self._interval(value)) for offset, value in group], ALIGNMENT)
        return self._bundles[key]

    def _interval(self, value: Value) -> Interval:
        if id(value) not in self._intervals:
            self._intervals[id(value)] = Interval(value.nbytes, *self._lives[id(value)])
        return self._intervals[id(value)]

    def _scratch(self, overlays: Mapping[int, Overlay]) -> list[int]:
        sizes = zip(self._scratch_bytes, self._scratch_apart)
        return [size if step in overlays else apart for step, (size, apart) in enumerate(sizes)]


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


def _overlays(graph: Graph, io_placement: IoPlacement, distances: Mapping[int, int]) -> dict[int, Overlay]:
    """Returns where the outputs of calls may be stored over an activation that dies there, by step."""
    nodes = calls(graph)
    last_reader = {id(value): step for step, node in enumerate(nodes) for value in node.inputs}
    # Bytes of a buffer with several values may still be read by another name.
    homes, lives = find_homes(graph), _lives(graph)
    inner = {id(home.value) for home in homes}
    read_until: dict[int, int] = {}  # of those that others lie in: until when these live
    for home in homes:
        read_until[id(home.root)] = max(read_until.get(id(home.root), -1), lives[id(home.value)][1])
    result: dict[int, Overlay] = {}
    for step, node in enumerate(nodes):
        if len(node.outputs) != 1 or id(node.output) in inner or graph.is_output(node.output):
            continue

        def dies(value: Value, now: int = step) -> bool:
            return id(value) not in inner and max(last_reader[id(value)], read_until.get(id(value), -1)) == now

        dying = [v for v in node.inputs if dies(v) and _is_inner(graph, v)]
        same = next((v for v in dying if v.nbytes == node.output.nbytes), None)
        first = node.inputs[0]
        if OPS[node.op].in_place and same is not None:
            result[step] = Overlay(same, 0)
        elif step in distances and (
            first in dying or (io_placement is IoPlacement.ARENA and dies(first) and _is_input(graph, first))
        ):
            result[step] = Overlay(first, distances[step])
    return result


def _is_inner(graph: Graph, value: Value) -> bool:
    """Whether `value` is an activation inside of the graph. The caller may keep inputs and outputs elsewhere."""
    return not value.is_constant and not graph.is_output(value) and graph.producer(value) is not None


def _is_input(graph: Graph, value: Value) -> bool:
    return any(value is x for x in graph.inputs) and not graph.is_output(value)
