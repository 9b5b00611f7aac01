"""Computes three-dimensional layers as layers of images, which the kernels compute: [N, C, D, H, W], or [C, D, H, W].

A convolution takes what its filter covers of the depth as further channels, and each place of the filter along the
depth as an image of the batch: the same products are summed in the same 32 bits, and rounded once. So does a transposed
convolution, once for each of the images that its stride puts between two of its input. An average is a convolution with
equal weights. A maximum is that of height and width, and then of the depth, and so are averages of
windows that differ in size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node
from torch.nn import functional as F

from .compositions import replace_by
from .rewriting import arguments_of, call_for, data_of, finish

aten = torch.ops.aten

_CONVOLUTIONS = {aten.conv3d.default, aten.conv3d.padding}
_OF_IMAGES = {aten.conv2d.default, aten.conv_transpose2d.input}
# That take a volume without a batch too, and have one result.
_LAYERS = {
    *(*_CONVOLUTIONS, aten.conv_transpose3d.input),
    *(aten.max_pool3d.default, aten.avg_pool3d.default, aten.adaptive_avg_pool3d.default),
}
# That may follow a convolution and are computed by its kernel.
_ACTIVATIONS = {aten.relu.default, aten.relu6.default, aten.hardtanh.default, aten.clamp.default}


def volumes_to_images(model: GraphModule) -> None:
    """Rewrites conv3d and conv_transpose3d with constant weights, and pools but for averages with a divisor of their
    own and ceil_mode, and maxima whose places are read."""
    for node in list(model.graph.nodes):
        if node.target in _LAYERS and _is_volume(node, 4):
            node = _of_a_batch(node)
        if node.op != "call_function" or not _is_volume(node, 5):
            continue
        if node.target in _CONVOLUTIONS and data_of(model, node.args[1]) is not None:
            _convolution(node)
        elif node.target is aten.conv_transpose3d.input and data_of(model, node.args[1]) is not None:
            _transposed(node)
        elif node.target is aten.max_pool3d.default:
            _maximum(node)
        elif node.target is aten.adaptive_max_pool3d.default:
            _adaptive_maximum(node)
        elif node.target is aten.batch_norm.default:
            _batch_norm(node)
        elif node.target is aten.avg_pool3d.default:
            _average(node)
        elif node.target is aten.adaptive_avg_pool3d.default:
            _adaptive_average(node)
    finish(model)


def _is_volume(node: Node, rank: int) -> bool:
    """Returns whether `node` computes a float32 tensor of `rank` dimensions, 5 with a batch, of such a one."""
    source: Any = node.args[0] if node.args else None
    values: list[Any] = [x.meta.get("val") if isinstance(x, Node) else None for x in (node, source)]
    values = [value[0] if isinstance(value, (list, tuple)) else value for value in values]
    if not all(isinstance(value, torch.Tensor) for value in values):
        return False
    return all(value.dim() == rank and value.dtype == torch.float32 for value in values)


def _of_a_batch(node: Node) -> Node:
    """Makes `node` one of a batch of one volume, which it returns: ExecuTorch's kernels could not run what stays."""
    source: Any = node.args[0]
    with node.graph.inserting_before(node):
        batch = call_for(node, aten.unsqueeze.default, source.meta["val"].unsqueeze(0), source, 0)
        layer = call_for(node, node.target, node.meta["val"].unsqueeze(0), batch, *node.args[1:])
        layer.kwargs = node.kwargs
        result = call_for(node, aten.squeeze.dim, node.meta["val"], layer, 0)
    node.replace_all_uses_with(result)
    return layer


def _convolution(node: Node) -> None:
    source, weight, bias, stride, padding, dilation, groups = arguments_of(node)
    stride, dilation = _triple(stride), _triple(dilation)
    if isinstance(padding, str):
        kernel = weight.meta["val"].shape[2:]
        total = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, kernel)]
        before = [t // 2 for t in total]
        after = [t - b for t, b in zip(total, before)]
    else:
        before = after = _triple(padding)

    def convolve(x: Any, w: Any, *b: Any) -> Any:
        return _convolved(x, w, b[0] if b else None, stride, before, after, dilation, groups)

    result = replace_by(node, convolve, [source, weight] if bias is None else [source, weight, bias])
    _compute_activation_at_once(result)


def _convolved(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: Optional[torch.Tensor],
    stride: Sequence[int],
    before: Sequence[int],
    after: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> torch.Tensor:
    rest = [a - b for a, b in zip(after, before)]  # along height and width, more at the end than at the beginning
    amounts = [0, rest[2], 0, rest[1], before[0], after[0]]
    if any(amounts):
        x = F.pad(x, amounts)
    outputs, _, taps, *kernel = weight.shape
    images = _windows(x, taps, stride[0], dilation[0])  # [N, C, D, H, W, taps]
    n, channels, depth, height, width, _ = images.shape
    # In memory, the channels of an image lie next to each other. Those of a group must, so that they go first then.
    if groups == 1:
        images, weight = images.permute(0, 2, 5, 1, 3, 4), weight.transpose(1, 2)
    else:
        images = images.permute(0, 2, 1, 5, 3, 4)
    images = images.reshape(n * depth, channels * taps, height, width)
    filters = weight.reshape(outputs, -1, *kernel)
    result = F.conv2d(images, filters, bias, stride[1:], before[1:], dilation[1:], groups)
    return result.reshape(n, depth, *result.shape[1:]).transpose(1, 2)


def _transposed(node: Node) -> None:
    source, weight, bias, stride, padding, output_padding, groups, dilation = arguments_of(node)
    amounts = [_triple(each) for each in (stride, padding, output_padding, dilation)]
    depth = node.meta["val"].shape[2]

    def convolve(x: Any, w: Any, *b: Any) -> Any:
        return _spread(x, w, b[0] if b else None, amounts, groups, depth)

    _compute_activation_at_once(
        replace_by(node, convolve, [source, weight] if bias is None else [source, weight, bias])
    )


def _spread(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: Optional[torch.Tensor],
    amounts: Sequence[Sequence[int]],
    groups: int,
    depth: int,
) -> torch.Tensor:
    """Image o of the result is the sum of images i of `x`, each with the tap for which o = i * stride - padding + tap *
    dilation. Those with the same remainder of o / stride have the same taps, and are computed together."""
    stride, padding, output_padding, dilation = amounts
    step, (n, _, images, *size) = stride[0], x.shape
    parts = []
    for first in range(min(step, depth)):
        count = (depth - first - 1) // step + 1
        taps = [tap for tap in range(weight.shape[2]) if (first + padding[0] - tap * dilation[0]) % step == 0]
        begins = [(first + padding[0] - tap * dilation[0]) // step for tap in taps] or [0]  # of `x`
        filters = [weight[:, :, tap] for tap in taps] or [torch.zeros_like(weight[:, :, 0])]
        before, after = max(-min(begins), 0), max(max(begins) + count - images, 0)
        padded = F.pad(x, [0, 0, 0, 0, before, after]) if before or after else x
        moved = [padded.narrow(2, begin + before, count).transpose(1, 2) for begin in begins]
        # The channels of a group have to lie next to each other.
        moved = [part.reshape(n, count, groups, -1, *size) for part in moved]
        channels = torch.cat(moved, 3) if len(moved) > 1 else moved[0]
        rows = torch.cat([part.reshape(groups, -1, *part.shape[1:]) for part in filters], 1).flatten(0, 1)
        part = F.conv_transpose2d(
            channels.reshape(n * count, -1, *size),
            rows,
            bias,
            stride[1:],
            padding[1:],
            output_padding[1:],
            groups,
            dilation[1:],
        )
        parts.append(part.reshape(n, count, *part.shape[1:]))
    if len(parts) == 1:
        return parts[0].transpose(1, 2)
    least = parts[-1].shape[1]  # the first have one more, if depth is no multiple of the stride
    longer = [part for part in parts if part.shape[1] > least]
    together = torch.stack([part[:, :least] if part.shape[1] > least else part for part in parts], 2).flatten(1, 2)
    if longer:
        together = torch.cat([together, *(part[:, least:] for part in longer)], 1)
    return together.transpose(1, 2)


def _windows(x: torch.Tensor, taps: int, stride: int, dilation: int) -> torch.Tensor:
    """Returns the windows along the depth, [N, C, windows, H, W, taps]."""
    windows = x.unfold(2, dilation * (taps - 1) + 1, stride)
    return windows[..., ::dilation] if dilation > 1 else windows


def _maximum(node: Node) -> None:
    source, kernel, stride, padding, dilation, ceil_mode = arguments_of(node)
    kernel, padding, dilation = _triple(kernel), _triple(padding), _triple(dilation)
    stride = _triple(stride) if stride else kernel

    def pool(x: Any, dims: slice) -> Any:
        amounts = ((kernel, 1), (stride, 1), (padding, 0), (dilation, 1))
        window, steps, around, gaps = (_pair(each[dims], fill) for each, fill in amounts)
        return F.max_pool2d(x, window, steps, around, gaps, ceil_mode)

    replace_by(node, lambda x: _pooled(x, pool), [source])


def _adaptive_maximum(node: Node) -> None:
    """Of results whose places nothing reads."""
    source, outputs = arguments_of(node)
    readers = list(node.users)
    if any(reader.target is not operator.getitem or reader.args[1] != 0 for reader in readers):
        return
    for reader in readers:
        replace_by(reader, lambda x: _pooled(x, lambda y, dims: _adaptive(y, outputs, dims)), [source])


def _adaptive(x: torch.Tensor, outputs: Sequence[int], dims: slice) -> torch.Tensor:
    return F.adaptive_max_pool2d(x, _pair(outputs[dims], 1))


def _pooled(x: torch.Tensor, pool: Callable[[torch.Tensor, slice], torch.Tensor]) -> torch.Tensor:
    """Pools height and width, and then the depth. `pool` is given images and which of the three dimensions they have;
    those of the depth have one column."""
    n, channels, depth, height, width = x.shape
    images = pool(x.transpose(1, 2).reshape(n * depth, channels, height, width), slice(1, 3))
    height, width = images.shape[2:]
    # Each pixel of each channel is a channel of an image whose height is the depth: in memory nothing moves.
    columns = images.permute(0, 2, 3, 1).reshape(n, depth, -1).transpose(1, 2).unsqueeze(-1)
    columns = pool(columns, slice(0, 1)).squeeze(-1).transpose(1, 2)
    return columns.reshape(n, -1, height, width, channels).permute(0, 4, 1, 2, 3)


def _pair(amounts: Sequence[int], fill: int) -> list[int]:
    """Returns the amounts of height and width; those of the depth alone are of the height."""
    return [*amounts, fill][:2]


def _average(node: Node) -> None:
    source, kernel, stride, padding, ceil_mode, counts_padding, divisor = arguments_of(node)
    kernel, padding = _triple(kernel), _triple(padding)
    stride = _triple(stride) if stride else kernel
    if ceil_mode or (any(padding) and not counts_padding and divisor is None):
        if divisor is None:  # the elements of a window are as many as in each dimension, multiplied

            def pool(x: Any, dims: slice) -> Any:
                amounts = ((kernel, 1), (stride, 1), (padding, 0))
                window, steps, around = (_pair(each[dims], fill) for each, fill in amounts)
                return F.avg_pool2d(x, window, steps, around, ceil_mode, counts_padding)

            replace_by(node, lambda x: _pooled(x, pool), [source])
        return
    if divisor is None:
        divisor = kernel[0] * kernel[1] * kernel[2]

    def average(x: Any) -> Any:
        weight = torch.full((x.shape[1], 1, *kernel), 1 / divisor)
        return _convolved(x, weight, None, stride, padding, padding, [1, 1, 1], x.shape[1])

    replace_by(node, average, [source])


def _adaptive_average(node: Node) -> None:
    """Averages over windows that are all alike are plain ones; of everything, they are means."""
    source: Any = node.args[0]
    sizes, outputs = source.meta["val"].shape[2:], list(node.meta["val"].shape[2:])
    if all(size == 1 for size in outputs):
        replace_by(node, lambda x: x.mean((2, 3, 4), keepdim=True), [source])
    elif not any(size % output for size, output in zip(sizes, outputs)):
        kernel = [size // output for size, output in zip(sizes, outputs)]
        node.target, node.args, node.kwargs = aten.avg_pool3d.default, (source, kernel), {}
        _average(node)
    else:

        def pool(x: Any, dims: slice) -> Any:
            return aten.adaptive_avg_pool2d.default(x, _pair(outputs[dims], 1))

        replace_by(node, lambda x: _pooled(x, pool), [source])


def _batch_norm(node: Node) -> None:
    """A batch norm that no layer has taken over is one of images whose rows are all pixels of a depth."""
    source: Any = node.args[0]
    value = source.meta["val"]
    n, channels, depth = shape = list(value.shape[:3])
    with node.graph.inserting_before(node):
        rows = [*shape, -1]
        image = call_for(node, aten.reshape.default, value.reshape(n, channels, depth, -1), source, rows)
        norm = call_for(node, node.target, image.meta["val"], image, *node.args[1:])
        result = call_for(node, aten.reshape.default, node.meta["val"], norm, list(value.shape))
    node.replace_all_uses_with(result)


def _compute_activation_at_once(result: Node) -> None:
    """Moves an activation that alone reads `result`, convolutions whose values are moved afterwards, before that."""
    if len(result.users) != 1:
        return
    (activation,) = result.users
    if activation.target not in _ACTIVATIONS:
        return
    layers = [result]
    for layer in layers:
        if layer.target not in _OF_IMAGES:
            layers += [x for x in layer.all_input_nodes if x not in layers]
    for layer in layers:
        if layer.target not in _OF_IMAGES:
            continue
        with layer.graph.inserting_after(layer):
            early = call_for(activation, activation.target, layer.meta["val"], layer, *activation.args[1:])
            early.kwargs = activation.kwargs
        for reader in list(layer.users):
            if reader is not early:
                reader.replace_input_with(layer, early)
    activation.replace_all_uses_with(result)


def _triple(value: Any) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * 3 if len(values) == 1 else values
