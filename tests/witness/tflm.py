"""Runs a lowered graph in TensorFlow Lite Micro, and finds where it differs from the integer reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tflite_micro import runtime

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.ops import storage
from tests.witness.tflite_model import tensor_shape, tflite_model

# Enough for the largest of the test networks with every tensor kept.
_ARENA_BYTES = 4 << 20


class Tflm:
    """Returns TFLM's interpreter with `graph` loaded."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._model = tflite_model(graph)
        self._interpreter = runtime.Interpreter.from_bytes(
            self._model.data,
            arena_size=_ARENA_BYTES,
            intrepreter_config=runtime.InterpreterConfig.kPreserveAllTensors,
        )

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Returns all outputs of the nodes, in the shape of tensor_shape; `inputs` are in logical shape and order. What
        a node keeps begins where the last run has left it."""
        for index, (value, data) in enumerate(zip(self._graph.inputs, inputs)):
            self._interpreter.set_input(storage.to_storage(data, value).reshape(tensor_shape(value)), index)
        self._interpreter.invoke()
        return [self._interpreter.GetTensor(tensor, 0)["tensor_data"] for tensor in self._model.outputs]

    def difference(self, inputs: Sequence[np.ndarray]) -> str:
        """Returns the `difference` in the first node that the reference computes differently; "" if all are equal."""
        ours: list[tuple[str, np.ndarray]] = []

        def observe(node: Node, value: Value, output: np.ndarray) -> None:
            ours.append((node.name, output.reshape(tensor_shape(value))))

        reference.run(self._graph, inputs, observe)
        for (name, mine), theirs in zip(ours, self.run(inputs), strict=True):
            found = difference(mine, theirs)
            if found:
                return f"{name}: {found}"
        return ""


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Returns how many elements differ, and the first of them with both values; "" if all bytes are equal."""
    if (theirs.dtype, theirs.shape) != (ours.dtype, ours.shape):
        return f"{theirs.dtype}{list(theirs.shape)} in TFLM, {ours.dtype}{list(ours.shape)} here"
    # Compares the bits of floats: -0.0 is not 0.0.
    bits = np.dtype(f"u{ours.dtype.itemsize}")
    wrong = np.argwhere(theirs.view(bits) != ours.view(bits))
    if not len(wrong):
        return ""
    first = tuple(int(i) for i in wrong[0])
    return (
        f"{len(wrong)} of {ours.size} elements differ, first at {list(first)}: "
        f"{theirs[first]} in TFLM, {ours[first]} here"
    )
