"""Where the states of a graph lie in persistent memory."""

from __future__ import annotations

from ..format.schema import ALIGNMENT
from .ir import Graph


def place_states(graph: Graph) -> tuple[dict[int, int], int]:
    """Returns the offset of each state in persistent memory, by id, and the size of that memory in bytes."""
    offsets: dict[int, int] = {}
    end = 0
    for value in graph.states():
        offsets[id(value)] = end
        end += -(-value.nbytes // ALIGNMENT) * ALIGNMENT
    return offsets, end
