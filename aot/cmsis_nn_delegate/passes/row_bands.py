"""Computes a chain of convolutions band by band, so that what is between them is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops.attrs import TransposeAttrs
from ..ops.geometry import Geometry
from ..ops.join import JoinAttrs
from ..ops.part import PartAttrs
from .rewriting import derived, only_reader

_OPS = ("conv2d", "depthwise_conv2d")
Rows = tuple[int, int]  # from the first on, and not the second


def chains(graph: Graph, most: int) -> Iterator[tuple[Node, ...]]:
    """Yields all sequences of two to `most` nodes that can be computed in bands: two-dimensional convolutions of one
    image in which only the next one reads the result of each."""
    for node in graph.nodes:
        chain = [node]
        while _in_rows(chain[-1]):
            if len(chain) > 1:
                yield tuple(chain)
            output = chain[-1].output
            if len(chain) == most or not only_reader(graph, output):
                break
            (reader,) = graph.consumers(output)
            if reader.inputs[0] is not output:
                break
            chain.append(reader)


def _in_rows(node: Node) -> bool:
    """Whether rows of the output are computed from rows of the input, and both lie one behind the other in memory."""
    if node.op not in _OPS:
        return False
    images = (node.inputs[0], node.output)
    return all(
        len(value.shape) == 4
        and value.shape[0] == 1
        and value.layout is Layout.CHANNELS_LAST
        and value.element.is_activation
        for value in images
    )


def split_into_bands(graph: Graph, chain: Sequence[Node], rows: int) -> Graph:
    """Returns `graph` with `chain`, one of its `chains`, computed `rows` rows of its last output at a time.

    The first input and the last output stay as they are: bands read parts of one and are parts of the other. Of what is
    in between, only a band is in memory; the rows that the next band also reads are copied to its beginning, so that
    nothing is computed twice. `graph` and its nodes stay unchanged.

    ValueError if a band would have no rows of its own.
    """
    last = chain[-1].output
    bands = _Bands(chain)
    height = last.shape[2]
    for index, first in enumerate(range(0, height, rows)):
        bands.add(index, (first, min(first + rows, height)))
    join = derived(chain[-1], "join", bands.outputs, last, JoinAttrs(1, tuple(v.numel for v in bands.outputs)))
    join.name = f"{chain[-1].name}_bands"
    nodes = []
    for node in graph.nodes:
        if node is chain[-1]:
            nodes += [*bands.nodes, join]
        elif not any(node is other for other in chain):
            nodes.append(node)
    result = Graph(list(graph.inputs), list(graph.outputs), nodes, list(graph.notes))
    result.verify()
    return result


@dataclass(frozen=True)
class _Band:
    """Rows of the output of a node."""

    value: Value
    rows: Rows


class _Bands:
    def __init__(self, chain: Sequence[Node]) -> None:
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []  # of the last node, band by band
        self._chain = chain
        self._before: list[_Band] = []  # of each node but the last, the band computed last

    def add(self, index: int, rows: Rows) -> None:
        """Computes `rows` of the output of the chain, which follow those computed before."""
        wanted, new = [rows], [rows]  # of each node, from the last to the first
        for position in range(len(self._chain) - 1, 0, -1):
            begin, end = _read(self._chain[position], new[0])[0]
            computed = self._before[position - 1].rows[1] if self._before else 0
            wanted.insert(0, (begin, end))
            new.insert(0, (max(begin, computed), end))
        if any(begin >= end for begin, end in new):
            raise ValueError(f"{self._chain[-1].name}: rows {rows[0]} to {rows[1]} need no new rows of what is before")
        bands: list[_Band] = []
        for position, node in enumerate(self._chain):
            read, (top, bottom) = _read(node, new[position])
            x = (
                bands[-1].value
                if position
                else self._part(f"{node.name}_input{index}", node, node.inputs[0], read[0], read)
            )
            carried = (
                []
                if position == len(self._chain) - 1
                else self._carried(position, index, wanted[position], new[position])
            )
            output = _rows_of(f"{node.output.name}_band{index}", node.output, new[position])
            padding = replace(node.attrs.padding, top=top, bottom=bottom)
            band = derived(node, node.op, [x, *node.inputs[1:]], output, replace(node.attrs, padding=padding))
            band.name = f"{node.name}_band{index}"
            self.nodes.append(band)
            if carried:
                parts = [*carried, output]
                output = _rows_of(f"{node.output.name}_rows{index}", node.output, wanted[position])
                lengths = tuple(part.numel for part in parts)
                self.nodes.append(derived(node, "join", parts, output, JoinAttrs(1, lengths)))
            bands.append(_Band(output, wanted[position]))
        self.outputs.append(bands.pop().value)
        self._before = bands

    def _carried(self, position: int, index: int, wanted: Rows, new: Rows) -> list[Value]:
        """Returns a copy of the rows of the band before that this one also reads, if there are some."""
        if wanted[0] == new[0]:
            return []
        node, before = self._chain[position], self._before[position]
        rows = wanted[0], new[0]
        part = self._part(f"{node.output.name}_kept{index}", node, before.value, wanted[0] - before.rows[0], rows)
        copy = _rows_of(f"{node.output.name}_again{index}", node.output, rows)
        self.nodes.append(derived(node, "transpose", [part], copy, TransposeAttrs(part.layout)))
        return [copy]

    def _part(self, name: str, node: Node, value: Value, first: int, rows: Rows) -> Value:
        """Returns as many rows of `value` as `rows` has, from row `first` of it on."""
        part = _rows_of(name, value, rows)
        self.nodes.append(derived(node, "part", [value], part, PartAttrs(first * value.shape[1] * value.shape[3])))
        return part


def _rows_of(name: str, value: Value, rows: Rows) -> Value:
    n, channels, _, width = value.shape
    return Value(name, value.type.of(shape=(n, channels, rows[1] - rows[0], width)))


def _read(node: Node, rows: Rows) -> tuple[Rows, tuple[int, int]]:
    """Returns which rows of its input `node` reads for `rows` of its output, and how many rows of padding above and
    below.

    ValueError if it reads only padding.
    """
    geometry = Geometry.plain(node)
    (height, _), (stride, _), (top, _) = geometry.input, geometry.stride, geometry.padding
    extent = (geometry.kernel[0] - 1) * geometry.dilation[0] + 1
    begin, end = rows[0] * stride - top, (rows[1] - 1) * stride - top + extent
    if end <= 0 or begin >= height:
        raise ValueError(f"{node.name}: rows {rows[0]} to {rows[1]} are computed from padding")
    return (max(begin, 0), min(end, height)), (max(-begin, 0), max(end - height, 0))
