"""Stores a graph in a file: an .npz with the weights as arrays and the rest as JSON.

Nothing in such a file is executed. Equal graphs give equal bytes.
"""

from __future__ import annotations

import dataclasses
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional, get_args, get_type_hints

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element, Layout, Quant, TensorType
from ..ops.registry import OPS
from ..support.errors import first_line
from ..support.structured import structured
from . import npz

VERSION = 2
_STRUCTURE = "graph.json"


@dataclass(frozen=True)
class _Value:
    name: str
    shape: tuple[int, ...]
    dtype: str
    layout: str
    quant: Optional[Quant]
    constant: bool


@dataclass(frozen=True)
class _Node:
    """Inputs, outputs and states are numbers of values."""

    op: str
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    states: tuple[int, ...]
    attrs: Any  # see `_pack`
    sources: tuple[str, ...]
    debug_handles: tuple[int, ...]


@dataclass(frozen=True)
class _Structure:
    """The JSON. `crc32` is that of all the rest and of the arrays: no declaration tells a graph with other numbers from
    one that a model was compiled to."""

    version: int
    about: dict[str, str]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    nodes: tuple[_Node, ...]
    values: tuple[_Value, ...]
    notes: tuple[str, ...] = ()  # files of earlier compilers have none
    crc32: Optional[int] = None  # nor this


def _is_record(kind: Any) -> bool:
    """Whether this is a dataclass or a named tuple, not an object of one."""
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"))


def _parts(hint: Any) -> Iterator[Any]:
    """Yields the records in a type such as Optional[tuple[Line, Line]]."""
    if _is_record(hint):
        yield hint
    for part in get_args(hint):
        yield from _parts(part)


def _records() -> dict[str, Any]:
    """The attributes of nodes, and the records that they are made of, by name."""
    found: dict[str, Any] = {}
    rest = [op.attrs for op in OPS.values() if op.attrs is not None]
    while rest:
        kind = rest.pop()
        if kind.__name__ not in found:
            found[kind.__name__] = kind
            rest += [part for hint in get_type_hints(kind).values() for part in _parts(hint)]
    return found


_RECORDS = _records()


def dumps(graph: Graph, about: Mapping[str, str]) -> bytes:
    """Returns the file's bytes. `about` is stored with the graph."""
    values: list[Value] = []
    index: dict[int, int] = {}

    def add(value: Value) -> int:
        if id(value) not in index:
            index[id(value)] = len(values)
            values.append(value)
        return index[id(value)]

    structure = {
        "version": VERSION,
        "about": dict(about),
        "inputs": [add(value) for value in graph.inputs],
        "nodes": [
            {
                "op": node.op,
                "name": node.name,
                "inputs": [add(value) for value in node.inputs],
                "outputs": [add(value) for value in node.outputs],
                "states": [add(value) for value in node.states],
                "attrs": _pack(node.attrs),
                "sources": node.sources,
                "debug_handles": node.debug_handles,
            }
            for node in graph.nodes
        ],
        "outputs": [add(value) for value in graph.outputs],
        "notes": graph.notes,
        "values": [
            {
                "name": value.name,
                "shape": value.shape,
                "dtype": value.element.name,
                "layout": value.layout.value,
                "quant": value.quant and dataclasses.asdict(value.quant),
                "constant": value.is_constant,
            }
            for value in values
        ],
    }
    constants = {_array(i): v.data for i, v in enumerate(values) if v.data is not None}
    text = _text({**structure, "crc32": _crc32(structure, constants)})
    return npz.dumps({_STRUCTURE: np.frombuffer(text, np.uint8), **constants})


def loads(data: bytes, where: str = "the graph") -> tuple[Graph, dict[str, str]]:
    """Returns the graph given to `dumps` and what was stored with it. ValueError, which calls the file by `where`, if
    `data` is anything else; where it can, it names the field."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            document = json.loads(arrays[_STRUCTURE].tobytes())
            constants = {name: arrays[name] for name in arrays.files if name != _STRUCTURE}
        version = document["version"]
    except Exception as error:  # zipfile, json and numpy raise many kinds of errors
        raise ValueError(f"{where} is not a graph file, or a damaged one: {first_line(error)}") from error
    if version != VERSION:
        raise ValueError(f"{where}: its version is {version!r}, and this program reads version {VERSION}")
    found = structured(document, _Structure, where)
    if (
        found.crc32 is not None
        and _crc32({k: v for k, v in document.items() if k != "crc32"}, constants) != found.crc32
    ):
        raise ValueError(f"{where} is damaged: it was changed after it was written (crc32)")
    try:
        values = [_value(constants, i, v) for i, v in enumerate(found.values)]
        graph = Graph(
            inputs=[values[i] for i in found.inputs],
            outputs=[values[i] for i in found.outputs],
            nodes=[
                Node(
                    op=node.op,
                    name=node.name,
                    inputs=[values[i] for i in node.inputs],
                    outputs=[values[i] for i in node.outputs],
                    states=[values[i] for i in node.states],
                    attrs=_unpack(node.attrs),
                    sources=node.sources,
                    debug_handles=node.debug_handles,
                )
                for node in found.nodes
            ],
            notes=list(found.notes),
        )
        graph.verify()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{where} is damaged: {first_line(error)}") from error
    return graph, found.about


def _text(structure: Mapping[str, Any]) -> bytes:
    return json.dumps(structure, separators=(",", ":")).encode()


def _crc32(structure: Mapping[str, Any], constants: Mapping[str, np.ndarray]) -> int:
    crc = zlib.crc32(_text(structure))
    for name, array in sorted(constants.items()):
        crc = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), crc)
        crc = zlib.crc32(array.tobytes(), crc)
    return crc


def _array(index: int) -> str:
    return f"value{index}"


def _value(arrays: Mapping[str, np.ndarray], index: int, fields: _Value) -> Value:
    tensor_type = TensorType(Element[fields.dtype], fields.shape, Layout(fields.layout), fields.quant)
    return Value(fields.name, tensor_type, arrays[_array(index)] if fields.constant else None)


def _pack(item: Any) -> Any:
    """Attributes as JSON: records as objects with their name, the layout as an object."""
    if _is_record(type(item)):
        names = getattr(item, "_fields", None) or [f.name for f in dataclasses.fields(item)]
        return {"type": type(item).__name__, **{name: _pack(getattr(item, name)) for name in names}}
    if isinstance(item, Layout):
        return {"layout": item.value}
    if isinstance(item, tuple):
        return [_pack(element) for element in item]
    return item


def _unpack(item: Any) -> Any:
    if isinstance(item, dict) and "layout" in item:
        return Layout(item["layout"])
    if isinstance(item, dict):
        fields = {name: _unpack(value) for name, value in item.items() if name != "type"}
        return _RECORDS[item["type"]](**fields)
    if isinstance(item, list):
        return tuple(_unpack(element) for element in item)
    return item
