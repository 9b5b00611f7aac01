"""Runs a lowered graph with integers in numpy: what every kernel must reproduce byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

import numpy as np

from .finite import require_finite
from .graph.ir import Graph, Node, Value
from .ops import storage
from .ops.registry import OPS

# Called after every node with its output in storage order.
Observer = Callable[[Node, np.ndarray], None]


def run(graph: Graph, inputs: Sequence[np.ndarray], observer: Optional[Observer] = None) -> list[np.ndarray]:
    """The outputs of `graph`, in logical shape and order, as are `inputs`.

    ValueError if an input's number, dtype or shape is not what the graph wants, or it is not finite.
    """
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
        fields, _ = op.activation_fields(node)
        activations = [read(value) for value in node.inputs[: len(fields)]]
        result = op.reference(node, activations)
        expected = node.output.element.numpy, node.output.storage_shape
        if (result.dtype, result.shape) != expected:
            raise AssertionError(f"{node.name}: {result.dtype}{result.shape}, declared {expected}")
        memory[id(node.output)] = result
        if observer is not None:
            observer(node, result)
    return [storage.from_storage(read(value), value) for value in graph.outputs]
