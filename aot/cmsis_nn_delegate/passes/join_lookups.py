"""Joins look-ups that follow each other."""

from __future__ import annotations

from typing import Optional

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..ops.lookup import LookupAttrs, entries_of, has_table, indices, table_value
from ..ops.registry import OPS
from .rewriting import merge_sources, remove_dead


def join_lookups(graph: Graph) -> None:
    """A look-up of what another one gives becomes a look-up in one table, if nothing else reads what is between them.
    So does a clamp before or after a look-up.

    This is exact, because tables are composed entry by entry. Operators that only move values may stand between the
    two: they then move the values that the first look-up reads.
    """
    for node in list(graph.nodes):
        if _entries(node) is None:
            continue
        chain = _chain_to_table(graph, node)
        if chain and "lookup" in (node.op, chain[0].op):
            _join(graph, chain, node)
    remove_dead(graph)


def _chain_to_table(graph: Graph, node: Node) -> list[Node]:
    """Returns the look-up or clamp whose result `node` reads, and what moves this result in between; [] if there is
    none, or something else reads these results, too."""
    chain: list[Node] = []
    value = node.inputs[0]
    while len(graph.consumers(value)) == 1 and not graph.is_output(value):
        producer = graph.producer(value)
        if producer is None:
            return []
        chain.insert(0, producer)
        if _entries(producer) is not None:
            return chain
        moves = OPS[producer.op].only_moves and len(producer.inputs) == len(producer.outputs) == 1
        if not moves or producer.op in ("quantize", "dequantize"):
            return []
        value = producer.inputs[0]
    return []


def _entries(node: Node) -> Optional[np.ndarray]:
    """Returns the results of a look-up or a clamp for all numbers that it can read; None for other nodes, and where
    there are too many of them for a table."""
    if node.op not in ("lookup", "clamp") or not has_table(node.output.element):
        return None
    if node.op == "lookup":
        return entries_of(node)
    low, high = node.attrs.clamp.quantized(node.output.type)
    entries: np.ndarray = np.clip(indices(node.output.element), low, high)
    return entries.astype(node.output.element.numpy)


def _join(graph: Graph, chain: list[Node], last: Node) -> None:
    first, *movers = chain
    inner, outer = _entries(first), _entries(last)
    assert inner is not None and outer is not None  # `_chain_to_table` found them
    entries = outer[inner.astype(np.int64) - last.inputs[0].element.low]
    source = first.inputs[0]
    for mover in movers:  # they move what `first` read
        mover.inputs = [source]
        moved = mover.output
        source = Value(moved.name, moved.type.of(quant=source.quant))
        mover.output = source
    last.attrs = LookupAttrs((*_functions(first), *_functions(last)))
    last.op, last.inputs = "lookup", [source, table_value(f"{last.name}_table", entries)]
    merge_sources(last, first)
    graph.remove([first])


def _functions(node: Node) -> tuple[str, ...]:
    functions: tuple[str, ...] = node.attrs.functions if node.op == "lookup" else (node.op,)
    return functions
