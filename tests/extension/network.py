"""A graph with two running peaks, each with its own state; the second reads the `is_new` output of the first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

import numpy as np

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Quant, TensorType
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.providers.registry import kernels
from tests.extension.running_peak import RunningPeak

COUNT = 21
EXECUTIONS = 5


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """Registers the operator in the compiler, where it replaces mul, whose number it uses."""
    kernels.cache_clear()
    others = {name: op for name, op in OPS.items() if name != "mul"}
    with mock.patch.dict(OPS, {**others, RunningPeak.name: RunningPeak()}, clear=True):
        yield
    kernels.cache_clear()


def graph() -> Graph:
    def tensor(name: str) -> Value:
        return Value(name, TensorType(Element.INT8, (1, COUNT), quant=Quant((0.5,), 0)))

    x = tensor("x")
    nodes = []
    source = x
    for index in range(2):
        outputs = [tensor(f"peak{index}"), tensor(f"is_new{index}")]
        node = Node(RunningPeak.name, f"running_peak{index}", [source], outputs, states=[tensor(f"greatest{index}")])
        nodes.append(node)
        source = outputs[1]
    return Graph([x], [nodes[0].outputs[0], *nodes[1].outputs], nodes)


def inputs() -> np.ndarray:
    """[EXECUTIONS, 1, COUNT]"""
    return np.random.default_rng(1).integers(-128, 128, (EXECUTIONS, 1, COUNT)).astype(np.int8)


def outputs(graph: Graph) -> list[list[np.ndarray]]:
    """Returns the outputs of all executions, one after the other."""
    states = reference.initial_states(graph)
    return [reference.run(graph, [x], states=states) for x in inputs()]
