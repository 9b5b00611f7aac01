"""Uses sums of 32 bits where the values of activations allow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element
from ..ops import channels
from ..ops.attrs import FullyConnectedAttrs
from ..ops.channels import Bounds
from ..ops.constant_weights import WIDE
from ..ops.quantized_math import INT32_MAX
from .bounds import bounds_of
from .rewriting import derived, insert_after, insert_before


def narrow_sums(graph: Graph) -> None:
    """Makes conv2d, or fully_connected, of the nodes of `conv2d_wide` none of whose sums exceeds 32 bits.

    The importer knows of activations only that they have 16 bits. Most are not negative, behind a ReLU, so that
    only weights of one sign add up: the bound is half as large, and layers of twice as many products have kernels
    with sums of 32 bits, which are several times faster. Kernels may wrap on the way: only the result has to fit.
    """
    bounds = bounds_of(graph)
    for node in [node for node in graph.nodes if node.op == WIDE]:
        if _fits(node, bounds):
            bias = node.inputs[2]
            node.inputs[2] = replace(
                bias, type=bias.type.of(element=Element.INT32), data=bias.constant.astype(np.int32)
            )
            node.op = "conv2d"
            _rows_of_pixels(graph, node)


def _fits(node: Node, bounds: Mapping[int, Bounds]) -> bool:
    """Returns whether no sum exceeds 32 bits, nor the bias alone: at borders, products may be missing."""
    x, _, bias = node.inputs
    if id(x) not in bounds:
        return False
    inputs = channels.by_channel(bounds[id(x)], x)
    sums = channels.weighted_sums(node, inputs, node.attrs.groups, partial=True)
    return all(bool((np.abs(part + bias.constant) <= INT32_MAX).all()) for part in sums)


def _rows_of_pixels(graph: Graph, node: Node) -> None:
    """Makes a linear layer of what the importer made of one: a convolution of images of one pixel."""
    x, weight, bias = node.inputs
    source, output = graph.producer(x), node.output
    if x.shape[2:] != (1, 1) or weight.shape[2:] != (1, 1) or node.attrs.groups != 1:
        return
    if source is None or source.op != "reshape":
        return
    rows = weight.shape[:2]
    node.op, node.attrs = "fully_connected", FullyConnectedAttrs(clamp=node.attrs.clamp)
    node.inputs = [
        Value(f"{x.name}_row", x.type.of(shape=x.shape[:2])),
        replace(weight, type=weight.type.of(shape=rows), data=weight.constant.reshape(rows)),
        bias,
    ]
    node.output = Value(f"{output.name}_row", output.type.of(shape=output.shape[:2]))
    insert_before(graph, node, derived(node, "reshape", [x], node.inputs[0]))
    insert_after(graph, node, derived(node, "reshape", [node.output], output))
