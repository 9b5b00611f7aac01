"""The typed graph between the edge program and the payload.

A `Graph` is a list of `Node`s in execution order over `Value`s, each of a
`TensorType`. Torch does not appear here: weights are numpy arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Optional

import numpy as np

from .tensor_type import Element, Layout, Quant, TensorType


@dataclass(eq=False)
class Value:
    """A tensor: an activation, or a constant if `data` is set.

    `data`, if set, has the logical shape in row-major order. Values are compared by identity; lowering changes their
    type.
    """

    name: str
    type: TensorType
    data: Optional[np.ndarray] = None

    def __post_init__(self) -> None:
        if self.data is not None and (self.data.shape != self.shape or self.data.dtype != self.element.numpy):
            raise ValueError(f"{self.name}: data is {self.data.dtype}{list(self.data.shape)}, declared {self.type}")

    def retype(self, **changes: Any) -> None:
        """Changes members of the type."""
        self.type = self.type.of(**changes)

    @property
    def element(self) -> Element:
        return self.type.element

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def layout(self) -> Layout:
        return self.type.layout

    @property
    def quant(self) -> Optional[Quant]:
        return self.type.quant

    @property
    def scale(self) -> float:
        """ValueError for what is not quantized per tensor."""
        return self.type.per_tensor.scale[0]

    @property
    def zero_point(self) -> int:
        """ValueError for what is not quantized per tensor."""
        return self.type.per_tensor.zero_point

    @property
    def constant(self) -> np.ndarray:
        """The data of a constant; ValueError for an activation."""
        if self.data is None:
            raise ValueError(f"{self.name} is not a constant")
        return self.data

    @property
    def numel(self) -> int:
        return self.type.numel

    @property
    def nbytes(self) -> int:
        return self.type.nbytes

    @property
    def storage_shape(self) -> tuple[int, ...]:
        return self.type.storage_shape

    @property
    def is_constant(self) -> bool:
        return self.data is not None


@dataclass(eq=False)
class Node:
    """One operation: `op` is the name of an operator in `ops`, `attrs` its dataclass.

    `inputs` are activations and constants, `outputs` the values that the node defines, `states` the values that it
    keeps from one execution to the next, each in the operator's order. A state starts as zero bytes; the node reads and
    updates it. `sources` are the names of the edge nodes that it stands for, and `debug_handles` their ExecuTorch debug
    handles; both are merged when nodes are fused. `in_float`: it computes in float32, because the user asked for that.
    """

    op: str
    name: str
    inputs: list[Value]
    outputs: list[Value]
    attrs: Any = None
    sources: tuple[str, ...] = ()
    debug_handles: tuple[int, ...] = ()
    states: list[Value] = field(default_factory=list)
    in_float: bool = False

    @property
    def output(self) -> Value:
        """Returns the output of a node that has exactly one. ValueError for other nodes."""
        if len(self.outputs) != 1:
            raise ValueError(f"{self.name} has {len(self.outputs)} outputs, not one")
        return self.outputs[0]

    @output.setter
    def output(self, value: Value) -> None:
        self.outputs = [value]

    def replace_output(self, old: Value, new: Value) -> None:
        """Makes the node define `new` in the place of `old`."""
        self.outputs = [new if value is old else value for value in self.outputs]


@dataclass(eq=False)
class Graph:
    """Nodes in execution order. `verify` checks what must hold after every pass. `notes` are sentences for reports, on
    what passes have left out. `alternatives` compute the same by other nodes, which their key says for a note;
    `selection.alternatives` takes one where that is better for the target."""

    inputs: list[Value]
    outputs: list[Value]
    nodes: list[Node] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    alternatives: dict[str, Graph] = field(default_factory=dict)

    def copy(self) -> Graph:
        """Returns the graph with nodes and values of its own, which passes can change; constants share their data. It
        has no alternatives."""
        copies: dict[int, Value] = {}

        def own(values: Iterable[Value]) -> list[Value]:
            return [copies.setdefault(id(value), replace(value)) for value in values]

        inputs = own(self.inputs)
        nodes = [
            replace(node, inputs=own(node.inputs), outputs=own(node.outputs), states=own(node.states))
            for node in self.nodes
        ]
        return Graph(inputs, own(self.outputs), nodes, list(self.notes))

    def producer(self, value: Value) -> Optional[Node]:
        return next((node for node in self.nodes if any(v is value for v in node.outputs)), None)

    def consumers(self, value: Value) -> list[Node]:
        return [node for node in self.nodes if any(v is value for v in node.inputs)]

    def is_output(self, value: Value) -> bool:
        return any(v is value for v in self.outputs)

    def replace_uses(self, old: Value, new: Value) -> None:
        """Makes every consumer and graph output that reads `old` read `new`."""
        for node in self.nodes:
            node.inputs = [new if v is old else v for v in node.inputs]
        self.outputs = [new if v is old else v for v in self.outputs]

    def remove(self, nodes: Iterable[Node]) -> None:
        gone = {id(node) for node in nodes}
        self.nodes = [node for node in self.nodes if id(node) not in gone]

    def activations(self) -> list[Value]:
        """Returns inputs and node outputs, each once, in order of definition."""
        return [*self.inputs, *(value for node in self.nodes for value in node.outputs)]

    def states(self) -> list[Value]:
        """Returns the states of the nodes, each once, because two nodes may share a state."""
        return list({id(value): value for node in self.nodes for value in node.states}.values())

    def verify(self) -> None:
        """Raises ValueError if a value is used before its definition, a value is defined twice, or a state is also an
        activation or constant."""
        defined = {id(v) for v in self.inputs}
        if len(defined) != len(self.inputs):
            raise ValueError("a graph input appears twice")
        for node in self.nodes:
            for value in node.inputs:
                if not value.is_constant and id(value) not in defined:
                    raise ValueError(f"{node.name} reads {value.name} before it is defined")
            for value in node.outputs:
                if id(value) in defined or value.is_constant:
                    raise ValueError(f"{node.name} defines {value.name} again")
                defined.add(id(value))
        for value in self.outputs:
            if not value.is_constant and id(value) not in defined:
                raise ValueError(f"graph output {value.name} is never defined")
        for node in self.nodes:
            if len({id(value) for value in node.states}) != len(node.states):
                raise ValueError(f"{node.name} has one state twice")
        for value in self.states():
            if id(value) in defined or value.is_constant:
                raise ValueError(f"state {value.name} is also an activation or a constant")

    def __str__(self) -> str:
        def show(value: Value) -> str:
            return f"%{value.name}: {value.type}"

        lines = [f"graph({', '.join(map(show, self.inputs))}) {{"]
        for node in self.nodes:
            args = ", ".join("%" + v.name for v in node.inputs)
            states = "".join(f" state {show(value)}" for value in node.states)
            attrs = f" {node.attrs}" if node.attrs is not None else ""
            lines.append(f"  {', '.join(map(show, node.outputs))} = {node.op}({args}){states}{attrs}")
        return "\n".join([*lines, f"  return {', '.join('%' + v.name for v in self.outputs)}", "}"])
