"""Rewrites pools that the kernels for pooling do not compute as layers that the kernels have.

Those kernels divide by the number of pixels that a window has in the image. An average with another divisor (with
count_include_pad, or of the user's own) is a depthwise convolution with equal weights, which are exact in 8 bits.
Where ceil_mode cuts off a window that counts padding, its divisor is smaller: there, the padding becomes pixels.

Adaptive pools whose windows happen to be alike are plain ones. An adaptive maximum of other windows is that of rows and
then of columns, window by window; an average of them has a kernel.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .rewriting import call_for, constant_for, finish

aten = torch.ops.aten

_Pair = tuple[int, int]
_ADAPTIVE: dict[Any, Any] = {
    aten.adaptive_avg_pool2d.default: aten.avg_pool2d.default,
    aten.adaptive_max_pool2d.default: aten.max_pool2d.default,
}


def rewrite_pools(model: GraphModule) -> None:
    """Rewrites what the module docstring says; other pools stay."""
    model.graph.eliminate_dead_code()  # such as indices that nothing reads
    for node in list(model.graph.nodes):
        if node.op != "call_function" or not _is_image(node.args[0] if node.args else None):
            continue
        if node.target is aten.avg_pool2d.default:
            _average_to_convolution(model, node)
        elif node.target is aten.max_pool2d_with_indices.default:
            _without_indices(node)
        elif node.target in _ADAPTIVE and not _adaptive_to_plain(node):
            _adaptive_to_parts(node)
    finish(model)


def _is_image(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.dim() == 4 and value.dtype == torch.float32


def _average_to_convolution(model: GraphModule, node: Node) -> None:
    defaults: tuple[Any, ...] = (None, None, [], [0, 0], False, True, None)
    arguments: list[Any] = [*node.args, *defaults[len(node.args) :]]
    source, kernel, stride, padding, _, counts_padding, divisor = arguments
    kernel, padding = _pair(kernel), _pair(padding)
    stride = _pair(stride) if stride else kernel
    _, channels, *size = source.meta["val"].shape
    # How far the last windows reach past the padded image, as they may with ceil_mode: into zeros that never count.
    ends = [(o - 1) * s + k for o, s, k in zip(node.meta["val"].shape[2:], stride, kernel)]
    beyond = [max(end - i - 2 * p, 0) for end, i, p in zip(ends, size, padding)]
    if divisor is None and any(beyond) and counts_padding and any(padding):
        _padding_to_pixels(node, source, kernel, stride, padding)
        return
    if divisor is None:
        if not (counts_padding and any(padding)):
            return
        divisor = kernel[0] * kernel[1]
    if divisor <= 0:
        return
    with node.graph.inserting_before(node):
        if any(beyond):
            amounts = [0, beyond[1], 0, beyond[0]]
            padded = aten.constant_pad_nd.default(source.meta["val"], amounts)
            source = call_for(node, aten.constant_pad_nd.default, padded, source, amounts, 0.0)
        weight = constant_for(model, node, "weight", torch.full((channels, 1, *kernel), 1 / divisor))
    node.target = aten.conv2d.default
    node.args = (source, weight, None, list(stride), list(padding), [1, 1], channels)
    node.kwargs = {}


def _padding_to_pixels(node: Node, source: Node, kernel: _Pair, stride: _Pair, padding: _Pair) -> None:
    """Makes an average over windows that reach past the padding that they count one over real zeros."""
    amounts = [padding[1], padding[1], padding[0], padding[0]]
    with node.graph.inserting_before(node):
        padded = aten.constant_pad_nd.default(source.meta["val"], amounts)
        pixels = call_for(node, aten.constant_pad_nd.default, padded, source, amounts, 0.0)
    # PyTorch leaves out a window that begins in the padding at the end, but not one that begins in pixels.
    ends = [(o - 1) * s + k for o, s, k in zip(node.meta["val"].shape[2:], stride, kernel)]
    height, width = (min(end, size) for end, size in zip(ends, padded.shape[2:]))
    with node.graph.inserting_before(node):
        for dim, size in ((2, height), (3, width)):
            if size < pixels.meta["val"].shape[dim]:
                part = aten.slice.Tensor(pixels.meta["val"], dim, 0, size)
                pixels = call_for(node, aten.slice.Tensor, part, pixels, dim, 0, size)
    node.args = (pixels, list(kernel), list(stride), [0, 0], True, False)
    node.kwargs = {}


def _maxima(node: Node) -> Optional[list[Node]]:
    """Returns the reads of the first result of `node`, which has several; None if another one is read."""
    readers = list(node.users) if isinstance(node.meta["val"], (list, tuple)) else []
    indices = any(reader.target is not operator.getitem or reader.args[1] != 0 for reader in readers)
    return None if indices else readers


def _replace_maxima(node: Node, readers: list[Node], result: Node) -> None:
    if readers:
        node.meta["val"] = node.meta["val"][0]
    for reader in readers:
        reader.replace_all_uses_with(result)


def _without_indices(node: Node) -> None:
    readers = _maxima(node)
    if readers is not None:
        node.target = aten.max_pool2d.default
        _replace_maxima(node, readers, node)


def _adaptive_to_plain(node: Node) -> bool:
    """Returns False if the windows are not all alike, or indices are read."""
    readers = _maxima(node)
    if readers is None:
        return False
    value = node.meta["val"]
    source: Any = node.args[0]
    outputs = (value[0] if readers else value).shape[2:]
    windows = [_window(i, o) for i, o in zip(source.meta["val"].shape[2:], outputs)]
    if any(window is None for window in windows):
        return False
    kernel, stride = zip(*(window for window in windows if window is not None))
    node.target = _ADAPTIVE[node.target]
    node.args = (source, list(kernel), list(stride))
    node.kwargs = {}
    _replace_maxima(node, readers, node)
    return True


def _adaptive_to_parts(node: Node) -> None:
    """Makes an adaptive maximum, whose windows differ, one of rows and one of columns, each window on its own."""
    readers = _maxima(node)
    if node.target is not aten.adaptive_max_pool2d.default or not readers:
        return
    result: Any = node.args[0]
    for dim, outputs in zip((2, 3), node.meta["val"][0].shape[2:]):
        with node.graph.inserting_before(node):
            result = _maxima_along(node, result, dim, outputs)
    for reader in readers:
        reader.replace_all_uses_with(result)


def _maxima_along(node: Node, source: Node, dim: int, outputs: int) -> Node:
    """Returns the adaptive maximum of `source` along one dimension."""
    size = source.meta["val"].shape[dim]
    parts = []
    for index in range(outputs):
        begin, end = index * size // outputs, math.ceil((index + 1) * size / outputs)
        value = aten.slice.Tensor(source.meta["val"], dim, begin, end)
        part = call_for(node, aten.slice.Tensor, value, source, dim, begin, end)
        parts.append(call_for(node, aten.amax.default, aten.amax.default(value, [dim], True), part, [dim], True))
    joined = aten.cat.default([part.meta["val"] for part in parts], dim)
    return call_for(node, aten.cat.default, joined, parts, dim)


def _window(size: int, outputs: int) -> Optional[_Pair]:
    """(kernel, stride) of an axis, if the windows of adaptive pooling are all alike."""
    starts = [i * size // outputs for i in range(outputs)]
    kernels = {math.ceil((i + 1) * size / outputs) - start for i, start in enumerate(starts)}
    strides = {b - a for a, b in zip(starts, starts[1:])} or set(kernels)
    return (kernels.pop(), strides.pop()) if len(kernels) == len(strides) == 1 else None


def _pair(value: Any) -> _Pair:
    values = [value] if isinstance(value, int) else list(value)
    return (values[0], values[-1])
