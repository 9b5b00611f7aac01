"""Visual wake words: MobileNetV1 of width 0.25, 2 classes of 96 x 96 RGB images."""

from __future__ import annotations

import torch
from torch import nn

from .layers import conv_block

INPUT_SHAPE = (1, 3, 96, 96)

# (output channels, stride) of each depthwise separable block.
_BLOCKS = (
    (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1),
    (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1),
)  # fmt: skip


class MobileNetV1(nn.Module):
    """(N, 3, 96, 96) -> (N, 2) probabilities."""

    def __init__(self, batch_norm: bool = True) -> None:
        super().__init__()
        self.features = nn.Sequential(conv_block((96, 96), (3, 8), (3, 3), stride=2, batch_norm=batch_norm))
        channels, size = 8, 48
        for out, stride in _BLOCKS:
            self.features.append(
                conv_block((size, size), (channels, channels), (3, 3), stride, depthwise=True, batch_norm=batch_norm)
            )
            size //= stride
            self.features.append(conv_block((size, size), (channels, out), (1, 1), batch_norm=batch_norm))
            channels = out
        self.classifier = nn.Sequential(nn.AvgPool2d(3), nn.Flatten(), nn.Linear(256, 2), nn.Softmax(dim=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))
