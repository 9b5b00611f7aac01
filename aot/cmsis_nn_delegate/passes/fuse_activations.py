"""Folds clamps into the operator that feeds them."""

from __future__ import annotations

import dataclasses
from typing import Optional

from ..graph.ir import Graph, Node
from .rewriting import merge_sources, only_reader


def fuse_activations(graph: Graph) -> None:
    """conv -> clamp becomes conv with that clamp, if nothing else reads the conv.

    This is exact on floats (before `fold_qdq`) and on int8 with one scale and zero point (after it),
    because kernels clamp after their requantization. Reshapes in between do not matter, because
    they commute with a clamp.
    """
    for clamp in [node for node in graph.nodes if node.op == "clamp"]:
        producer = _fusable_producer(graph, clamp)
        if producer is None:
            continue
        producer.attrs = dataclasses.replace(producer.attrs, clamp=producer.attrs.clamp.then(clamp.attrs.clamp))
        merge_sources(producer, clamp)
        source = clamp.inputs[0]
        feeder = graph.producer(source)
        assert feeder is not None  # `producer`, or a reshape after it
        graph.remove([clamp])
        # The output keeps its identity, because it may be a graph output with its own layout.
        feeder.replace_output(source, clamp.output)


def _fusable_producer(graph: Graph, clamp: Node) -> Optional[Node]:
    value = clamp.inputs[0]
    if value.quant != clamp.output.quant:
        return None
    while only_reader(graph, value):
        producer = graph.producer(value)
        if producer is None or len(producer.outputs) != 1:
            return None
        if hasattr(producer.attrs, "clamp") and producer.op != "clamp":
            return producer
        if producer.op != "reshape" or producer.inputs[0].quant != value.quant:
            return None
        value = producer.inputs[0]
    return None
