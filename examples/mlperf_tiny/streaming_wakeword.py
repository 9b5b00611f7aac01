"""Streaming wake word: separable convolutions over time, 3 classes of 30 frames of 40 mel bands.

A new frame arrives every 32 ms. `--stream 2` compiles a model that takes one frame at a time and remembers the rest of
the window; without it, each window is computed anew, as the benchmark's reference does.
"""

from __future__ import annotations

import torch
from torch import nn

INPUT_SHAPE = (1, 40, 30)

# Channels that come out, and taps over time, of each block; no padding, so that one column is left of 30.
_BLOCKS = ((128, 3), (128, 5), (128, 10), (32, 15))


class StreamingWakeword(nn.Module):
    """(N, 40, 30) -> (N, 3) probabilities. Without `batch_norm`, the second convolution of a block has a bias."""

    def __init__(self, batch_norm: bool = True) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        inputs = 40
        for outputs, taps in _BLOCKS:
            layers += [
                nn.Conv1d(inputs, inputs, taps, groups=inputs, bias=False),
                nn.Conv1d(inputs, outputs, 1, bias=not batch_norm),
                *([nn.BatchNorm1d(outputs)] if batch_norm else []),
                nn.ReLU(),
                nn.Dropout(0.2),
            ]
            inputs = outputs
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(inputs, 3), nn.Softmax(dim=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))
