"""Moves constant padding into the operator that reads the padded image."""

from __future__ import annotations

import dataclasses

from ..graph.ir import Graph
from ..ops.registry import OPS
from .rewriting import merge_sources, remove_dead, replace_input


def fold_pads(graph: Graph) -> None:
    """pad -> conv2d becomes conv2d with more padding, by a separate amount on each side.

    This is exact for a convolution if the constant is 0, and for maximum pooling if the constant
    quantizes to the least element; `Pad.check` has refused all other cases.
    """
    # Last first, so that pad -> pad -> conv2d folds in one go.
    for node in reversed([node for node in graph.nodes if node.op == "pad"]):
        for reader in graph.consumers(node.output):
            if OPS[reader.op].absorbs_padding(node.attrs.value, node.output.type):
                padding = reader.attrs.padding.plus(node.attrs.padding)
                reader.attrs = dataclasses.replace(reader.attrs, padding=padding)
                replace_input(reader, node.output, node.inputs[0])
                merge_sources(reader, node)
    remove_dead(graph)
