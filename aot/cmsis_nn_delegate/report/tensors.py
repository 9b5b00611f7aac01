"""The activations of a payload: their types, their quantization, and which calls write and read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Optional

from ..graph.ir import Graph, Node, Value
from ..ops.registry import OPS, calls
from .buffers import written


@dataclass(frozen=True)
class TensorReport:
    """An activation that a call reads, or an input or output. If it has a scale, the integer q stands for
    scale * (q - zero_point), and `low` and `high` are the least and the largest number that it can hold."""

    name: str  # for readers: the module that computes it, or the input's name, or "output"
    value: str  # in the lowered graph
    kind: str  # "input", "output" or "tensor"
    writers: tuple[int, ...]  # calls; several if each writes a part; none for inputs and their parts
    readers: tuple[int, ...]  # calls
    dtype: str
    shape: tuple[int, ...]
    layout: str
    scale: Optional[float]
    zero_point: Optional[int]
    low: Optional[float]
    high: Optional[float]

    def __post_init__(self) -> None:
        require_both(self, "scale", "zero_point")
        require_both(self, "low", "high")


def require_both(fields: object, first: str, second: str) -> None:
    """ValueError if only one of two fields is None."""
    if (getattr(fields, first) is None) != (getattr(fields, second) is None):
        raise ValueError(f"of {first} and {second}, only one is known")


def tensors_of(graph: Graph, modules: Mapping[str, str]) -> tuple[TensorReport, ...]:
    """Returns the activations of `graph`, in the order in which they are written. What an operator only renames has
    the calls that write what it renames. `modules` are the user's, by the names of edge nodes."""
    return tuple(_tensors(graph, modules))


def _tensors(graph: Graph, modules: Mapping[str, str]) -> Iterator[TensorReport]:
    writers = _writers(graph)
    readers: dict[int, list[int]] = {}
    for index, node in enumerate(calls(graph)):
        for value in {id(value): value for value in node.inputs}.values():
            readers.setdefault(id(value), []).append(index)
    for name, value, call in written(graph, modules):
        kind = "input" if call is None else "output" if graph.is_output(value) else "tensor"
        if kind == "tensor" and id(value) not in readers:
            continue  # a name that another operator only renames again
        limits = _limits(value)
        yield TensorReport(
            name,
            value.name,
            kind,
            writers[id(value)],
            tuple(readers.get(id(value), ())),
            value.element.value,
            value.shape,
            value.layout.value,
            value.quant.scale[0] if value.quant else None,
            value.quant.zero_point if value.quant else None,
            *limits,
        )


def _writers(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Returns the calls that write each value, by the value's identity."""
    found: dict[int, tuple[int, ...]] = {id(value): () for value in graph.inputs}
    index = 0
    for node in graph.nodes:
        if OPS[node.op].only_places:
            sources = _renamed(node, found)
        else:
            sources = (index,)
            index += 1
        found.update((id(value), sources) for value in node.outputs)
    return found


def _renamed(node: Node, writers: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({call for value in node.inputs for call in writers.get(id(value), ())}))


def _limits(value: Value) -> tuple[Optional[float], Optional[float]]:
    if value.quant is None or len(value.quant.scale) != 1:
        return None, None
    scale, zero_point, element = value.quant.scale[0], value.quant.zero_point, value.element
    return scale * (element.low - zero_point), scale * (element.high - zero_point)
