"""Runs a lowered graph with integers in numpy. Every kernel must reproduce the results byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

import numpy as np

from .format.record import Role
from .graph.ir import Graph, Node, Value
from .graph.persistent import place_states
from .ops import storage
from .ops.registry import OPS
from .support.finite import require_finite

# Called after every node with each of its outputs in storage order.
Observer = Callable[[Node, Value, np.ndarray], None]


# The states of a graph's nodes: each state's array in storage order.
States = dict[Value, np.ndarray]


def initial_states(graph: Graph) -> States:
    """Returns the states before the first execution: zero bytes."""
    return {value: np.zeros(value.storage_shape, value.element.numpy) for value in graph.states()}


def memory_of(graph: Graph, states: States) -> bytes:
    """Returns `states` as they lie in a device's persistent memory."""
    offsets, size = place_states(graph)
    memory = bytearray(size)
    for value, data in states.items():
        start = offsets[id(value)]
        memory[start : start + data.nbytes] = data.tobytes()
    return bytes(memory)


def states_in(graph: Graph, memory: bytes) -> States:
    """Returns the states in a device's persistent memory. ValueError if it has another size than those of `graph`."""
    offsets, size = place_states(graph)
    if len(memory) != size:
        raise ValueError(f"the states of the graph take {size:,} bytes, not {len(memory):,}")
    return {
        value: np.frombuffer(memory, value.element.numpy, value.numel, offsets[id(value)])
        .reshape(value.storage_shape)
        .copy()
        for value in graph.states()
    }


def run(
    graph: Graph,
    inputs: Sequence[np.ndarray],
    observer: Optional[Observer] = None,
    states: Optional[States] = None,
) -> list[np.ndarray]:
    """Returns the outputs of `graph`; they and `inputs` are in logical shape and order. Updates `states`; without
    `states` this is the first execution.

    ValueError if the number of inputs, or an input's dtype or shape, is not that of the graph, or an input is not
    finite.
    """
    states = initial_states(graph) if states is None else states
    if len(inputs) != len(graph.inputs):
        raise ValueError(f"the graph takes {len(graph.inputs)} inputs, not {len(inputs)}")
    memory: dict[int, np.ndarray] = {}
    for value, data in zip(graph.inputs, inputs):
        data = np.asarray(data)
        if data.dtype != value.element.numpy or data.shape != value.shape:
            raise ValueError(f"input {value.name} is {value.type}, not {data.dtype}{list(data.shape)}")
        require_finite(data, f"input {value.name}")
        memory[id(value)] = storage.to_storage(data, value)

    def read(value: Value) -> np.ndarray:
        return storage.to_storage(value.constant, value) if value.is_constant else memory[id(value)]

    for node in graph.nodes:
        op = OPS[node.op]
        activations = [read(value) for value in op.operands(node, Role.INPUT).values()]
        results = op.compute(node, activations, [states[value] for value in node.states])
        for value, result in zip(node.outputs, results, strict=True):
            expected = value.element.numpy, value.storage_shape
            if (result.dtype, result.shape) != expected:
                raise AssertionError(f"{node.name}: {result.dtype}{result.shape}, declared {expected}")
            memory[id(value)] = result
            if observer is not None:
                observer(node, value, result)
    return [storage.from_storage(read(value), value) for value in graph.outputs]
