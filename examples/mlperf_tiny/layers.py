"""Building blocks of the MLPerf Tiny networks."""

from __future__ import annotations

import torch
from torch import nn


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Returns (before, after) of TensorFlow's "same" padding: an odd pixel goes to the end."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def conv_block(
    size: tuple[int, int],
    channels: tuple[int, int],
    kernel: tuple[int, int],
    stride: int = 1,
    *,
    depthwise: bool = False,
    relu: bool = True,
    batch_norm: bool = True,
) -> nn.Sequential:
    """[ZeroPad2d] Conv2d [BatchNorm2d] [ReLU] with "same" padding.

    `size` is (height, width) of the input, `channels` (in, out). Padding that is
    the same on both sides belongs to the convolution; other padding is a separate
    layer, because PyTorch's Conv2d has no asymmetric padding.
    """
    top, bottom = same_padding(size[0], kernel[0], stride)
    left, right = same_padding(size[1], kernel[1], stride)
    symmetric = top == bottom and left == right
    block = nn.Sequential()
    if not symmetric:
        block.append(nn.ZeroPad2d((left, right, top, bottom)))
    block.append(
        nn.Conv2d(
            *channels,
            kernel,
            stride,
            padding=(top, left) if symmetric else 0,
            groups=channels[0] if depthwise else 1,
            bias=not batch_norm,
        )
    )
    if batch_norm:
        block.append(nn.BatchNorm2d(channels[1]))
    if relu:
        block.append(nn.ReLU())
    return block


def randomize(module: nn.Module, seed: int = 0) -> nn.Module:
    """Sets seeded weights and batch norm statistics, and evaluation mode.

    Batch norm's defaults (mean 0, variance 1) would hide errors in folding.
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(tensor: torch.Tensor, low: float, high: float) -> None:
        with torch.no_grad():
            tensor.copy_(torch.rand(tensor.shape, generator=generator) * (high - low) + low)

    for layer in module.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            # He initialization keeps the magnitude of activations through the layers.
            bound = (6.0 / layer.weight[0].numel()) ** 0.5
            uniform(layer.weight, -bound, bound)
            if layer.bias is not None:
                uniform(layer.bias, -0.1, 0.1)
        elif isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            uniform(layer.weight, 0.5, 1.5)
            uniform(layer.bias, -0.2, 0.2)
            uniform(layer.running_mean, -0.2, 0.2)
            uniform(layer.running_var, 0.5, 1.5)
    return module.eval()
