"""Makes one rearrangement of several, and removes those that change nothing."""

from __future__ import annotations

from typing import Optional

from ..graph.ir import Graph, Node, Value
from ..ops.loops import Loops, find_loops, through
from ..ops.rearrange import RearrangeAttrs
from ..ops.strided_copy import MAX_AXES
from .rewriting import merge_sources, only_reader, remove_dead


def merge_rearrangements(graph: Graph) -> None:
    """permute -> permute, view -> permute -> view and the like become one rearrange of the first one's input.

    A rearrange reads what the rearrange or reshape before it reads, even if others read that one's result too: it is a
    copy in any case. It writes the result of a reshape after it, if nothing else reads its own. A rearrange that keeps
    the order of all elements becomes a reshape, which costs nothing where the memory order stays.
    """
    changed = True
    while changed:
        changed = False
        for node in graph.nodes:
            if node.op == "rearrange":
                changed |= _read_earlier(graph, node) or _write_later(graph, node)
        remove_dead(graph)
    for node in graph.nodes:
        if node.op == "rearrange" and node.attrs.loops.is_all_in_order(node.inputs[0].numel):
            node.op, node.attrs = "reshape", None


def _read_earlier(graph: Graph, node: Node) -> bool:
    """Makes `node` read the input of the node before it. Returns whether it could."""
    before = graph.producer(node.inputs[0])
    if before is None or before.op not in ("rearrange", "reshape"):
        return False
    merged = _merged(_loops(before), _loops(node))
    if merged is None:
        return False
    node.inputs = list(before.inputs)
    node.attrs = RearrangeAttrs(merged, node.output.shape)
    merge_sources(node, before)
    return True


def _write_later(graph: Graph, node: Node) -> bool:
    """Makes `node` write the result of the reshape after it. Returns whether it could."""
    if not only_reader(graph, node.output):
        return False
    (reader,) = graph.consumers(node.output)
    if reader.op != "reshape":
        return False
    output: Value = reader.output
    graph.remove([reader])
    node.output = output
    node.attrs = RearrangeAttrs(node.attrs.loops, output.shape)
    merge_sources(node, reader)
    return True


def _loops(node: Node) -> Loops:
    loops: Loops = through(node.output.numel) if node.op == "reshape" else node.attrs.loops
    return loops


def _merged(before: Loops, after: Loops) -> Optional[Loops]:
    """Returns the loops that do what both do, one after the other; None if the kernel cannot."""
    if before.is_all_in_order(before.steps):
        return after
    merged = find_loops(before.elements()[after.elements()])
    return merged if merged is not None and len(merged.sizes) <= MAX_AXES else None
