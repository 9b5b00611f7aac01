"""Anomaly detection: a fully connected autoencoder of 640 features (5 frames of 128 log-mel bands)."""

from __future__ import annotations

import torch
from torch import nn

INPUT_SHAPE = (1, 640)

_WIDTHS = (640, 128, 128, 128, 128, 8, 128, 128, 128, 128)


class Autoencoder(nn.Module):
    """(N, 640) -> (N, 640), the reconstructed features."""

    def __init__(self, batch_norm: bool = True) -> None:
        super().__init__()
        self.layers = nn.Sequential()
        for inputs, outputs in zip(_WIDTHS, _WIDTHS[1:]):
            self.layers.append(nn.Linear(inputs, outputs))
            if batch_norm:
                self.layers.append(nn.BatchNorm1d(outputs))
            self.layers.append(nn.ReLU())
        self.layers.append(nn.Linear(_WIDTHS[-1], 640))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)
