"""Which values lie inside of others."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.ir import Graph, Value
from ..ops.registry import OPS


@dataclass(frozen=True)
class Home:
    """`value` lies in the memory of `root`, `offset` bytes from its start; `root` lies in no other value."""

    value: Value
    root: Value
    offset: int


def find_homes(graph: Graph) -> tuple[Home, ...]:
    """Returns the home of every value of `graph` that lies inside of another.

    ValueError if a value has several homes, has one although it is a constant or an input or output of the graph, which
    have their own memory, or does not fit.
    """
    outer = {}
    own = {id(value) for value in (*graph.inputs, *graph.outputs)}
    for node in graph.nodes:
        for place in OPS[node.op].places(node):
            inner = place.inner
            if id(inner) in outer or id(inner) in own or inner.is_constant:
                raise ValueError(f"{node.name}: {inner.name} has memory of its own: a pass should have copied it")
            if place.offset < 0 or place.offset + inner.nbytes > place.outer.nbytes:
                raise ValueError(f"{node.name}: {inner.name} reaches out of {place.outer.name}")
            outer[id(inner)] = place
    homes = []
    for first in outer.values():
        root, offset = first.outer, first.offset
        while id(root) in outer:
            root, offset = outer[id(root)].outer, offset + outer[id(root)].offset
        homes.append(Home(first.inner, root, offset))
    return tuple(homes)
