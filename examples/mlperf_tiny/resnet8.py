"""Image classification: a residual network of 8 layers, 10 classes of 32 x 32 RGB images."""

from __future__ import annotations

from typing import Optional

import torch
from torch import nn

from .layers import conv_block

INPUT_SHAPE = (1, 3, 32, 32)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions; the shortcut is a 1x1 convolution where the shape changes."""

    def __init__(self, size: int, channels: tuple[int, int], stride: int, batch_norm: bool) -> None:
        super().__init__()
        out = channels[1]
        self.body = nn.Sequential(
            conv_block((size, size), channels, (3, 3), stride, batch_norm=batch_norm),
            conv_block((size // stride,) * 2, (out, out), (3, 3), relu=False, batch_norm=batch_norm),
        )
        self.shortcut: Optional[nn.Module] = None
        if channels[0] != out:
            self.shortcut = conv_block((size, size), channels, (1, 1), stride, relu=False, batch_norm=False)
        self.activation = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.shortcut is None else self.shortcut(x)
        return self.activation(shortcut + self.body(x))


class ResNet8(nn.Module):
    """(N, 3, 32, 32) -> (N, 10) probabilities."""

    def __init__(self, batch_norm: bool = True) -> None:
        super().__init__()
        self.stem = conv_block((32, 32), (3, 16), (3, 3), batch_norm=batch_norm)
        self.blocks = nn.Sequential(
            ResidualBlock(32, (16, 16), 1, batch_norm),
            ResidualBlock(32, (16, 32), 2, batch_norm),
            ResidualBlock(16, (32, 64), 2, batch_norm),
        )
        self.classifier = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10), nn.Softmax(dim=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.blocks(self.stem(x)))
