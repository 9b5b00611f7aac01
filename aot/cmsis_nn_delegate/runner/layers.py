"""What every call of a simulated device writes, next to the integer reference: `compare`.

The device prints each tensor as soon as its call has written it, before another call can reuse the memory. Because all
later calls read what an earlier one computed wrongly, only the first difference says where the fault is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

import numpy as np

from .. import reference
from ..format.record import Role
from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import TensorType
from ..ops import storage
from ..ops.registry import calls
from ..payload.decode import decode
from ..providers.registry import kernels
from ..support.errors import UserError
from . import simulate
from .job import Layer


@dataclass(frozen=True)
class Difference:
    """The first element that differs. `element` is its index in the logical shape."""

    set: int  # the number of the inputs
    call: int
    node: Node
    value: Value
    element: tuple[int, ...]
    found: float
    expected: float
    differing: int  # how many elements of this tensor differ

    def __str__(self) -> str:
        functions = [name for name in self.node.sources if "quantize_per_" not in name]
        origin = f" of {', '.join(functions)}" if functions else ""
        return (
            f"call {self.call} ({self.node.op}{origin}) is the first to differ from the reference, with input "
            f"{self.set}: element {list(self.element)} of {self.value.name}, {self.value.type}, is {self.found:g} and "
            f"should be {self.expected:g}; {self.differing:,} of {self.value.numel:,} elements differ"
        )


@dataclass(frozen=True)
class Layers:
    """The comparison of all calls with all inputs. `outputs` are those of the device, by input set."""

    outputs: list[list[np.ndarray]]
    tensors: int  # how many were compared
    difference: Optional[Difference]

    def __str__(self) -> str:
        if self.difference is None:
            return f"all {self.tensors:,} tensors that calls wrote are those of the reference"
        return str(self.difference)


def compare(
    payload: bytes,
    graph: Graph,
    inputs: Sequence[Sequence[np.ndarray]],
    image: Union[str, Path],
    *,
    timeout_s: float = 600.0,
    progress: Optional[Callable[[str], None]] = None,
) -> Layers:
    """Runs `payload`, made from the lowered `graph`, on `image`, a profile image, once for each element of `inputs`.

    UserError if the payload has other calls than the graph, and as for `simulate.run`.
    """
    written = list(_written(payload, graph))
    layers = [layer for layer, _, _ in written]
    run = simulate.run(payload, inputs, image, layers=layers, timeout_s=timeout_s, progress=progress)
    states = reference.initial_states(graph)
    difference = None
    for number, (arrays, found) in enumerate(zip(inputs, run.layers, strict=True)):
        expected = _expected(graph, arrays, states)
        for (layer, node, value), data in zip(written, found, strict=True):
            if difference is None and data != value.type.to_bytes(expected[id(value)]):
                difference = _difference(number, layer, node, value, data, expected[id(value)])
    return Layers(run.outputs, len(written) * len(run.layers), difference)


def _written(payload: bytes, graph: Graph) -> Iterator[tuple[Layer, Node, Value]]:
    """Yields every tensor that a call writes, in execution order."""
    view, nodes = decode(payload), calls(graph)
    if len(view.calls) != len(nodes):
        raise UserError(f"the payload has {len(view.calls)} calls, its graph {len(nodes)}: compile the model again")
    for number, (call, node) in enumerate(zip(view.calls, nodes)):
        names = kernels()[call.opcode].args.names_of(Role.OUTPUT)
        for name, value in zip(names, node.outputs, strict=True):
            yield Layer(number, call.args[name], value.nbytes), node, value


def _expected(graph: Graph, inputs: Sequence[np.ndarray], states: reference.States) -> dict[int, np.ndarray]:
    """Returns what the reference writes, in memory order, by the value's id."""
    found: dict[int, np.ndarray] = {}

    def see(_: Node, value: Value, array: np.ndarray) -> None:
        found[id(value)] = array.copy()

    reference.run(graph, inputs, see, states)
    return found


def _difference(number: int, layer: Layer, node: Node, value: Value, data: bytes, expected: np.ndarray) -> Difference:
    found = _elements(value.type, data)
    wanted = expected.reshape(-1)
    apart = np.flatnonzero(
        found.view(np.uint8).reshape(value.numel, -1) != wanted.view(np.uint8).reshape(value.numel, -1)
    )
    at = int(apart[0]) // found.itemsize
    logical = int(storage.memory_order(value.type)[at])
    element = tuple(int(i) for i in np.unravel_index(logical, value.shape)) if value.shape else ()
    return Difference(
        set=number,
        call=layer.call,
        node=node,
        value=value,
        element=element,
        found=float(found[at]),
        expected=float(wanted[at]),
        differing=len(np.unique(apart // found.itemsize)),
    )


def _elements(tensor: TensorType, data: bytes) -> np.ndarray:
    """Returns the elements in memory order. Calls write no packed ones."""
    return np.frombuffer(data, tensor.element.numpy.newbyteorder("<"))
