"""Answers isnan, isinf and isfinite where the answer is always the same: of what sums, products, layers and the like
compute of finite numbers, since a quantized number is finite.

Functions that are not finite for all numbers, such as 1 / x and log(x), are not listed here: a test of what they
compute is there to catch that. It stays in float, and so does what it looks at, since in int8 it would be finite.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .overrides import keep_tested
from .rewriting import constant_for
from .truth_values import Truths

aten = torch.ops.aten

_ANSWERS: dict[Any, bool] = {aten.isnan.default: False, aten.isinf.default: False, aten.isfinite.default: True}
_LAYERS = {
    *(aten.linear, aten.matmul, aten.mm, aten.bmm, aten.addmm, aten.embedding),
    *(aten.conv1d, aten.conv2d, aten.conv3d),
    *(aten.conv_transpose1d, aten.conv_transpose2d, aten.conv_transpose3d),
    *(aten.gru, aten.lstm, aten.rnn_tanh, aten.rnn_relu, aten.batch_norm),
}
# Finite for all finite numbers. Constants that are not finite are looked for.
_TOTAL = {
    operator.getitem,
    *_LAYERS,
    # moves
    *(aten.alias, aten.clone, aten.contiguous, aten.to, aten._to_copy, aten.dropout),
    *(aten.view, aten.reshape, aten.flatten, aten.unflatten, aten.squeeze, aten.unsqueeze),
    *(aten.permute, aten.transpose, aten.t, aten.movedim, aten.flip, aten.roll),
    *(aten.slice, aten.select, aten.narrow, aten.split, aten.split_with_sizes, aten.chunk, aten.unbind),
    *(aten.index, aten.index_select, aten.gather, aten.take),
    *(aten.cat, aten.stack, aten.expand, aten.expand_as, aten.repeat, aten.pad, aten.constant_pad_nd),
    *(aten.pixel_shuffle, aten.pixel_unshuffle, aten.upsample_nearest2d, aten.upsample_bilinear2d),
    *(aten.where, aten.masked_fill),
    # sums and products
    *(aten.add, aten.sub, aten.rsub, aten.mul, aten.neg, aten.square, aten.sum, aten.mean, aten.cumsum),
    *(aten.avg_pool1d, aten.avg_pool2d, aten.adaptive_avg_pool1d, aten.adaptive_avg_pool2d),
    # the largest and the smallest, and limits
    *(aten.minimum, aten.maximum, aten.amin, aten.amax, aten.max_pool1d, aten.max_pool2d),
    *(aten.abs, aten.clamp, aten.clamp_min, aten.clamp_max, aten.sign, aten.heaviside),
    *(aten.floor, aten.ceil, aten.round, aten.trunc),
    # activations
    *(aten.relu, aten.relu6, aten.hardtanh, aten.leaky_relu, aten.elu, aten.gelu, aten.silu, aten.mish),
    *(aten.sigmoid, aten.tanh, aten.hardsigmoid, aten.hardswish, aten.softplus, aten.softmax, aten.log_softmax),
    *(aten.sin, aten.cos, aten.atan, aten.erf),
}


def decide_finiteness(model: GraphModule, truths: Truths) -> None:
    """Rewrites `model` as the module docstring says, and marks what has to stay in float."""
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in _ANSWERS:
            continue
        source: Any = node.args[0]
        if source.meta["val"].dtype != torch.float32:
            continue
        doubtful = {x for x in _computing(truths, source) if not _is_finite(truths, x)}
        if doubtful:
            _keep(source, doubtful)
            continue
        with model.graph.inserting_before(node):
            answer = torch.full(node.meta["val"].shape, _ANSWERS[node.target])
            node.replace_all_uses_with(constant_for(model, node, "answer", answer))


def _computing(truths: Truths, node: Node) -> list[Node]:
    """Returns `node` and the floats that it is computed of, up to inputs and constants."""
    found, seen = [node], {node}
    for x in found:
        if truths.data(x) is None:
            new = [y for y in x.all_input_nodes if y not in seen and _has_floats(y)]
            seen.update(new)
            found += new
    return found


def _has_floats(node: Node) -> bool:
    value = node.meta.get("val")
    values = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(x, torch.Tensor) and x.is_floating_point() for x in values)


def _is_finite(truths: Truths, node: Node) -> bool:
    """Returns whether `node` is finite if what it reads is."""
    data = truths.data(node)
    if data is not None:
        return bool(data.isfinite().all())
    if node.op == "placeholder":
        return True  # calibration and the runtime take finite numbers
    numbers = [x for x in (*node.args, *node.kwargs.values()) if isinstance(x, float)]
    return _packet(node) in _TOTAL and all(map(math.isfinite, numbers))


def _packet(node: Node) -> Any:
    return getattr(node.target, "overloadpacket", node.target)


def _keep(source: Node, doubtful: set[Node]) -> None:
    """Keeps what is between a test of `source` and `doubtful` nodes in float, but no layers, and nothing before them:
    that would be most of the model."""
    kept: dict[Node, bool] = {}

    def keep(node: Node) -> bool:
        if node not in kept:
            kept[node] = False
            if node.op == "call_function" and _packet(node) not in _LAYERS:
                kept[node] = any([keep(x) for x in node.all_input_nodes]) or node in doubtful
        return kept[node]

    keep(source)
    for node, is_kept in kept.items():
        if is_kept:
            keep_tested(node)
