"""The memory plan of chosen kernels: with which of their workspaces they run, and where everything lies: `plan`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..format import schema
from ..format.element import named
from ..graph.ir import Graph
from ..graph.tensor_type import Element
from ..planner.memories import plan_in_memories
from ..planner.memory import MemoryPlan
from ..planner.memory_fit import require_fit
from ..planner.workspaces import plan_with_workspaces
from ..targets.memory import copies_weights, planned_in
from .choose_kernels import Chosen


@dataclass(frozen=True)
class Planned:
    """A graph with its kernels and its memory plan."""

    chosen: Chosen
    memory: MemoryPlan

    @property
    def graph(self) -> Graph:
        return self.chosen.graph


def plan(chosen: Chosen, one_arena: bool = False) -> Planned:
    """Plans the memory of a graph in which passes have lowered every activation to a kernel's operand: in the options'
    memories, or if there are none, or for `one_arena`, in one arena of any size.

    ValueError for a graph that the format cannot express; UserError if it does not fit the memories.
    """
    io_placement = chosen.options.io_placement
    memories = () if one_arena else chosen.options.memories
    _check(chosen.graph, max(len(planned_in(memories)) - 1, 0), copies_weights(memories))
    options = [choice.options() for choice in chosen.choices]
    workspaces = [[choice.workspace for choice in ways] for ways in options]
    fitted, memory = plan_with_workspaces(chosen.graph, workspaces, io_placement)
    # Those of one call differ in size.
    choices = tuple(next(way for way in ways if way.workspace == w) for ways, w in zip(options, fitted))
    memory = plan_in_memories(chosen.graph, fitted, io_placement, memory, memories)
    require_fit(chosen.graph, memory, io_placement)
    return Planned(replace(chosen, choices=choices), memory)


def _check(graph: Graph, region_count: int, copies: bool) -> None:
    """Refuses graphs that only a mistake in the passes can produce, and more than a payload can refer to."""
    graph.verify()
    if not graph.nodes:
        raise ValueError("the graph has no operation: there is nothing to delegate")
    io = [*graph.inputs, *graph.outputs]
    if len({id(value) for value in io}) != len(io):
        raise ValueError("a value occurs twice among the graph's inputs and outputs; a pass should have copied it")
    # The bases after those of inputs and outputs are theirs.
    most = schema.MAX_IO - bool(graph.states()) - copies - region_count
    if len(io) > most:
        others = ["a state"] * bool(graph.states()) + ["copies of weights"] * copies
        others += [f"{region_count + 1} memories"] * bool(region_count)
        also = f" beside {' and '.join(others)}" if others else ""
        raise ValueError(f"{len(io)} inputs and outputs; a payload has at most {most}{also}")
    for value in io:
        if value.is_constant:
            raise ValueError(f"graph output {value.name} is a constant")
        if len(value.shape) > schema.MAX_RANK:
            raise ValueError(f"{value.name} has rank {len(value.shape)}, more than {schema.MAX_RANK}")
        if not value.element.at_border:
            taken = named(*(element for element in Element if element.at_border))
            raise ValueError(f"{value.name} is {value.element.value}; I/O is {taken}")
