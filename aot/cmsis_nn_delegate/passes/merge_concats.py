"""Makes fewer copies for concatenations of concatenations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from ..graph.ir import Graph, Node, Value
from ..ops import concat
from .rewriting import merge_sources, only_reader


def merge_concats(graph: Graph) -> None:
    """A concat that only another one reads is put together there, and a concat of tensors that an earlier one has put
    together already, as in a dense block, reads the result of that.

    Where copies are needed, each of them moves whole rows of a concat; so fewer inputs are fewer copies.
    """
    concats = [node for node in graph.nodes if node.op == "concat"]
    gone: list[Node] = []
    for node in concats:
        gone += _flatten(graph, node)
    graph.remove(gone)
    concats = [node for node in concats if node not in gone]
    for index, node in enumerate(concats):
        for earlier in sorted(concats[:index], key=lambda other: -len(other.inputs)):
            _nest(node, earlier)


def _flatten(graph: Graph, node: Node) -> list[Node]:
    """Makes `node` read the inputs of concats that only it reads, and returns these."""
    inputs: list[Value] = []
    gone = []
    for value in node.inputs:
        inner = graph.producer(value)
        alone = only_reader(graph, value) and sum(other is value for other in node.inputs) == 1
        if inner is not None and inner.op == "concat" and alone and concat.rows(inner) == concat.rows(node):
            inputs += inner.inputs
            merge_sources(node, inner)
            gone.append(inner)
        else:
            inputs.append(value)
    node.inputs = inputs
    return gone


def _nest(node: Node, earlier: Node) -> None:
    """Makes `node` read the output of `earlier` in the place of its inputs."""
    if len(earlier.inputs) < 2 or concat.rows(earlier) != concat.rows(node):
        return
    begin = _find(node.inputs, earlier.inputs)
    if begin is not None:
        node.inputs[begin : begin + len(earlier.inputs)] = [earlier.output]


def _find(values: Sequence[Value], run: Sequence[Value]) -> Optional[int]:
    """Returns where `run` begins in `values`."""
    starts = range(len(values) - len(run) + 1)
    return next((i for i in starts if all(a is b for a, b in zip(values[i:], run))), None)
