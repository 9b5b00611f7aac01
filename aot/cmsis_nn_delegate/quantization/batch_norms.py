"""Turns batch norms that no layer took over into the layers that they are: a weight and a bias for each channel.

`prepare_pt2e` folds a batch norm into the convolution or linear layer before it. Others (before the first layer, after
a sum, after pooling) become depthwise convolutions of one pixel, which the kernels compute. The weight of a channel has
its own scale, so that it is exact in 8 bits but for the rounding of that scale.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .prepare import BATCH_NORM
from .rewriting import call_for, constant_for, data_of, finish

aten = torch.ops.aten

# With their arguments in one order. An instance norm that uses running statistics is a batch norm.
_WITH_STATISTICS = {aten.batch_norm.default, aten.instance_norm.default}


def batch_norms_to_convolutions(model: GraphModule) -> None:
    """Rewrites the batch norms of images [N, C, H, W] and vectors [N, C]; those that are trained stay.

    Those behind a grouped transposed convolution, which `prepare_pt2e` leaves alone, are folded into it.
    """
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target in BATCH_NORM | _WITH_STATISTICS:
            _rewrite(model, node)
    finish(model)


def _rewrite(model: GraphModule, node: Node) -> None:
    found = _weight_and_bias(model, node)
    value = node.meta.get("val")
    if isinstance(value, (list, tuple)):
        value = value[0]
    if found is None or not isinstance(value, torch.Tensor) or value.dim() not in (2, 4):
        return
    if value.dtype != torch.float32:
        return
    weight, bias = found
    layer: Any = node.args[0]
    if layer.op == "call_function" and layer.target is aten.conv_transpose2d.input and len(layer.users) == 1:
        if all(p is None or data_of(model, p) is not None for p in layer.args[1:3]):
            _fold(model, layer, weight, bias)
            _replace(node, layer)
            return
    channels = weight.shape[0]
    graph = node.graph
    with graph.inserting_before(node):
        parameters = [
            constant_for(model, node, "weight", weight.reshape(channels, 1, 1, 1)),
            constant_for(model, node, "bias", bias),
        ]
        source: Any = node.args[0]
        if value.dim() == 2:
            source = call_for(
                node, aten.reshape.default, value.reshape(*value.shape, 1, 1), source, [*value.shape, 1, 1]
            )
        result = call_for(
            node,
            aten.conv2d.default,
            value if value.dim() == 4 else value.reshape(*value.shape, 1, 1),
            source,
            *parameters,
            [1, 1],
            [0, 0],
            [1, 1],
            channels,
        )
        if value.dim() == 2:
            result = call_for(node, aten.reshape.default, value, result, list(value.shape))
    _replace(node, result)


def _replace(node: Node, result: Node) -> None:
    """Makes everything that reads the norm read `result`."""
    if node.target in _WITH_STATISTICS:
        node.replace_all_uses_with(result)
        return
    for user in list(node.users):  # results 1 and 2 are empty
        if user.args[1] == 0:
            user.replace_all_uses_with(result)


def _weight_and_bias(model: GraphModule, node: Node) -> Optional[tuple[torch.Tensor, torch.Tensor]]:
    """Returns float32 (weight, bias) of each channel; None if the norm is in training or computed from activations."""
    arguments: tuple[Any, ...] = node.args
    _, weight, bias, mean, variance = arguments[:5]
    if node.target in _WITH_STATISTICS and arguments[5]:
        return None
    eps: float = arguments[7 if node.target in _WITH_STATISTICS else 6]
    parameters = (weight, bias, mean, variance)
    if mean is None or variance is None:
        return None
    read = [data_of(model, parameter) for parameter in parameters]
    if any(parameter is not None and data is None for parameter, data in zip(parameters, read)):
        return None
    data: list[Any] = [None if found is None else found.double() for found in read]
    scale = torch.rsqrt(data[3] + eps) * (1.0 if data[0] is None else data[0])
    offset = (0.0 if data[1] is None else data[1]) - data[2] * scale
    return scale.float(), offset.float()


def _fold(model: GraphModule, layer: Node, scale: torch.Tensor, offset: torch.Tensor) -> None:
    """Folds a batch norm into the transposed convolution before it. `prepare_pt2e` does that only without groups."""
    weight, bias = (data_of(model, arg) for arg in (*layer.args[1:3], None)[:2])
    assert weight is not None
    groups = scale.numel() // weight.shape[1]
    # [groups, in / groups, out / groups, ...]
    grouped = weight.reshape(groups, -1, *weight.shape[1:])
    scaled = grouped * scale.reshape(groups, 1, -1, *[1] * (weight.dim() - 2))
    folded = offset if bias is None else offset + bias * scale
    with layer.graph.inserting_before(layer):
        parameters = (
            constant_for(model, layer, "weight", scaled.flatten(0, 1)),
            constant_for(model, layer, "bias", folded),
        )
    layer.args = (layer.args[0], *parameters, *layer.args[3:])
