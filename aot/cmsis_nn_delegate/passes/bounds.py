"""Between which integers the activations of a graph lie, whatever its inputs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..graph.ir import Graph, Value
from ..ops import channels
from ..ops.channels import Bounds
from ..ops.registry import OPS


def bounds_of(graph: Graph) -> dict[int, Bounds]:
    """Returns the bounds of all activations, by id."""
    found = {id(value): channels.unbounded(value) for value in graph.inputs if is_activation(value)}
    for node in graph.nodes:
        for output in filter(is_activation, node.outputs):
            found[id(output)] = channels.unbounded(output)
        known = all(value.is_constant or id(value) in found for value in node.inputs)
        if known and len(node.outputs) == 1 and not node.states and is_activation(node.output):
            found[id(node.output)] = OPS[node.op].bounds(node, _Operands(node.inputs, found))
    return found


class _Operands(Sequence[Bounds]):
    """The bounds of operands, in order. Those of constants are computed when they are read: those of weights never are,
    and have 8 bytes for each of theirs."""

    def __init__(self, values: Sequence[Value], activations: Mapping[int, Bounds]) -> None:
        self._values, self._activations = values, activations

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        value = self._values[index]
        return channels.of_constant(value) if value.is_constant else self._activations[id(value)]


def is_activation(value: Value) -> bool:
    return value.element.is_activation
