"""The typed graph between the edge program and the payload.

A `Graph` is a list of `Node`s in execution order over `Value`s. Shapes are
logical, in PyTorch's order (NCHW for images); `Value.layout` says how the
elements lie in memory. Torch does not appear here: weights are numpy arrays.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np


class DType(enum.Enum):
    """Element type of a value."""

    INT8 = np.dtype(np.int8)
    INT32 = np.dtype(np.int32)
    FLOAT32 = np.dtype(np.float32)

    @property
    def itemsize(self) -> int:
        return self.value.itemsize


class Layout(enum.Enum):
    """Order of the elements in memory."""

    ROW_MAJOR = "row-major"  # the last logical dimension is innermost
    CHANNELS_LAST = "channels-last"  # rank 4 only: logical NCHW stored as NHWC


@dataclass(frozen=True)
class Quant:
    """Affine int8: real = scale * (q - zero_point).

    `scale` is a tuple of one element (per tensor) or of one per index of `axis`.
    """

    scale: tuple[float, ...]
    zero_point: int
    axis: Optional[int] = None

    def __post_init__(self) -> None:
        if not self.scale or any(not (s > 0 and math.isfinite(s)) for s in self.scale):
            raise ValueError(f"scales must be positive and finite: {self.scale[:4]}")
        if self.axis is None and len(self.scale) != 1:
            raise ValueError(f"{len(self.scale)} scales need an axis")

    @property
    def inverse_scale(self) -> np.float32:
        """What quantizing multiplies with; per tensor only."""
        (scale,) = self.scale
        return np.float32(1 / scale)

    def quantize(self, array: np.ndarray) -> np.ndarray:
        """int8 of float32 `array`, per tensor, as kernels do: one float32 multiplication, halves to
        even, saturated; NaN gives the zero point."""
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.rint(array.astype(np.float32) * self.inverse_scale)
        # Bounds of the integer before the zero point is added; both are exact in float32.
        steps = np.where(np.isnan(steps), 0, steps)
        steps = np.clip(steps, -128 - self.zero_point, 127 - self.zero_point)
        return (steps.astype(np.int32) + self.zero_point).astype(np.int8)


@dataclass(eq=False)
class Value:
    """A tensor: an activation, or a constant if `data` is set.

    `shape` is logical. `data`, if any, has that shape in row-major order.
    Values are compared by identity.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    quant: Optional[Quant] = None
    layout: Layout = Layout.ROW_MAJOR
    data: Optional[np.ndarray] = None

    def __post_init__(self) -> None:
        if self.data is not None and (self.data.shape != self.shape or self.data.dtype != self.dtype.value):
            raise ValueError(
                f"{self.name}: data is {self.data.dtype}{self.data.shape}, declared {self.dtype.value}{self.shape}"
            )

    @property
    def is_constant(self) -> bool:
        return self.data is not None

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * self.dtype.itemsize

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """The shape in memory order: NHWC for channels-last values."""
        if self.layout is Layout.CHANNELS_LAST:
            n, c, h, w = self.shape
            return (n, h, w, c)
        return self.shape


@dataclass(eq=False)
class Node:
    """One operation: `op` is the name of an operator in `ops`, `attrs` its dataclass.

    `inputs` are activations and constants in the operator's order; every node has
    one output. `sources` are the names of the edge nodes it stands for and
    `debug_handles` their ExecuTorch debug handles, both merged when nodes are fused.
    """

    op: str
    name: str
    inputs: list[Value]
    output: Value
    attrs: Any = None
    sources: tuple[str, ...] = ()
    debug_handles: tuple[int, ...] = ()


@dataclass(eq=False)
class Graph:
    """Nodes in execution order. `verify` states what must hold after every pass."""

    inputs: list[Value]
    outputs: list[Value]
    nodes: list[Node] = field(default_factory=list)

    def producer(self, value: Value) -> Optional[Node]:
        return next((node for node in self.nodes if node.output is value), None)

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
        """Inputs and node outputs, each once, in order of definition."""
        return [*self.inputs, *(node.output for node in self.nodes)]

    def verify(self) -> None:
        """Raises ValueError if a value is used before its definition or defined twice."""
        defined = {id(v) for v in self.inputs}
        if len(defined) != len(self.inputs):
            raise ValueError("a graph input appears twice")
        for node in self.nodes:
            for value in node.inputs:
                if not value.is_constant and id(value) not in defined:
                    raise ValueError(f"{node.name} reads {value.name} before it is defined")
            if id(node.output) in defined or node.output.is_constant:
                raise ValueError(f"{node.name} defines {node.output.name} again")
            defined.add(id(node.output))
        for value in self.outputs:
            if not value.is_constant and id(value) not in defined:
                raise ValueError(f"graph output {value.name} is never defined")

    def __str__(self) -> str:
        def show(value: Value) -> str:
            return f"%{value.name}: {value.dtype.name.lower()}{list(value.shape)}"

        lines = [f"graph({', '.join(map(show, self.inputs))}) {{"]
        for node in self.nodes:
            args = ", ".join("%" + v.name for v in node.inputs)
            attrs = f" {node.attrs}" if node.attrs is not None else ""
            lines.append(f"  {show(node.output)} = {node.op}({args}){attrs}")
        return "\n".join([*lines, f"  return {', '.join('%' + v.name for v in self.outputs)}", "}"])
