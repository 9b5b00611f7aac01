"""Computes bands of an image one by one that are channels of their own only for a batch norm."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Optional

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..ops.attrs import ConcatAttrs, Padding
from ..ops.loops import find_loops
from ..ops.rearrange import RearrangeAttrs
from ..ops.registry import OPS
from .rewriting import derived, insert_before, merge_sources, only_reader

_HEIGHT = 2


def bands_to_slices(graph: Graph) -> None:
    """Turns

        reshape [1, c, h, w] to [1, c * bands, h / bands, w]; depthwise convolution of one tap; reshape back

    which is a sub-spectral norm, into such a convolution for each band and a concatenation. The reshapes would move all
    elements, because channels lie next to each other in memory; rows of an image need no copy.
    """
    for node in list(graph.nodes):
        found = _Bands.find(graph, node)
        if found is not None:
            _replace(graph, node, found)


class _Bands(NamedTuple):
    before: Node
    after: Node
    times: int

    @staticmethod
    def find(graph: Graph, node: Node) -> Optional[_Bands]:
        attrs = node.attrs
        if node.op != "depthwise_conv2d" or node.inputs[1].shape[2:] != (1, 1) or node.output.shape[0] != 1:
            return None
        if attrs.stride != (1, 1) or attrs.padding != Padding() or node.output.shape != node.inputs[0].shape:
            return None
        before, readers = graph.producer(node.inputs[0]), graph.consumers(node.output)
        if before is None or before.op != "reshape" or not only_reader(graph, node.output):
            return None
        (after,) = readers
        whole = before.inputs[0].shape
        if after.op != "reshape" or after.output.shape != whole or len(whole) != 4 or whole[0] != 1:
            return None
        _, channels, height, width = whole
        count, rest = divmod(node.output.shape[1], channels)
        if rest or count == 1 or node.output.shape != (1, channels * count, height // count, width):
            return None
        return _Bands(before, after, count)


def _replace(graph: Graph, node: Node, bands: _Bands) -> None:
    source, output, count = bands.before.inputs[0], bands.after.output, bands.times
    elements = np.split(np.arange(source.numel).reshape(source.shape), count, _HEIGHT)
    channels = node.output.shape[1]
    results = []
    for band, part in enumerate(elements):
        loops = find_loops(part.reshape(-1))
        assert loops is not None
        taken = Value(f"{source.name}_band{band}_of_{node.name}", source.type.of(shape=part.shape))
        result = Value(f"{node.output.name}_band{band}", node.output.type.of(shape=part.shape))
        insert_before(
            graph, node, derived(bands.before, "rearrange", [source], taken, RearrangeAttrs(loops, part.shape))
        )
        norm = derived(node, node.op, [taken, *node.inputs[1:]], result, replace(node.attrs))
        # A band's channels are every `count`-th ones.
        own = np.arange(channels) % count == band
        OPS[node.op].narrow(norm, own, own)
        insert_before(graph, node, norm)
        results.append(result)
    joined = derived(bands.after, "concat", results, output, ConcatAttrs(_HEIGHT))
    merge_sources(joined, node)
    insert_before(graph, node, joined)
    graph.remove([node, bands.after])
