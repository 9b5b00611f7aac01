"""Keyword spotting: depthwise separable CNN, 12 classes of 49 x 10 MFCC features."""

from __future__ import annotations

import torch
from torch import nn

from .layers import conv_block

INPUT_SHAPE = (1, 1, 49, 10)


class DsCnn(nn.Module):
    """(N, 1, 49, 10) -> (N, 12) probabilities."""

    def __init__(self, batch_norm: bool = True) -> None:
        super().__init__()
        self.features = nn.Sequential(
            conv_block((49, 10), (1, 64), (10, 4), stride=2, batch_norm=batch_norm),
            nn.Dropout(0.2),
        )
        for _ in range(4):
            self.features.append(conv_block((25, 5), (64, 64), (3, 3), depthwise=True, batch_norm=batch_norm))
            self.features.append(conv_block((25, 5), (64, 64), (1, 1), batch_norm=batch_norm))
        self.classifier = nn.Sequential(
            nn.Dropout(0.4),
            nn.AvgPool2d((25, 5)),
            nn.Flatten(),
            nn.Linear(64, 12),
            nn.Softmax(dim=1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))
