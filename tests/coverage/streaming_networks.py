"""Networks that look at a window of a signal, which streams: `STREAMING_NETWORKS`.

Operators, sizes and connections are those of the network that each is named after, or of `networks.py`; weights are
random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import nn

from cmsis_nn_delegate.streaming.option import Stream
from tests.coverage.networks import NETWORKS, Network, network_of


class StreamingNetwork(NamedTuple):
    build: Callable[[], Network]
    stream: Stream


class DsCnn(nn.Module):
    """MLPerf Tiny's keyword spotter: 49 frames of 10 coefficients, padded at both ends."""

    def __init__(self, channels: int = 64, classes: int = 12) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.ZeroPad2d((1, 1, 4, 5)), nn.Conv2d(1, channels, (10, 4), 2), nn.ReLU()]
        for _ in range(4):
            depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
            layers += [depthwise, nn.BatchNorm2d(channels), nn.ReLU()]
            layers += [nn.Conv2d(channels, channels, 1), nn.BatchNorm2d(channels), nn.ReLU()]
        self.layers, self.classes = nn.Sequential(*layers), nn.Linear(channels, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classes(self.layers(x).mean((2, 3))).softmax(-1)


class CausalTcn(nn.Module):
    """A temporal convolutional network of six residual blocks, of which the last column is classified."""

    def __init__(self, inputs: int = 8, channels: int = 24) -> None:
        super().__init__()
        self.first = nn.Conv1d(inputs, channels, 1)
        self.layers = nn.ModuleList(nn.Conv1d(channels, channels, 3, dilation=2**i) for i in range(6))
        self.classes = nn.Linear(channels, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for i, layer in enumerate(self.layers):
            x = x + torch.relu(layer(nn.functional.pad(x, (2 * 2**i, 0))))
        return self.classes(x[:, :, -1])


STREAMING_NETWORKS: Mapping[str, StreamingNetwork] = {
    "ds_cnn": StreamingNetwork(network_of(DsCnn, 1, 1, 49, 10), Stream(2, 1)),
    "ds_cnn_by_two": StreamingNetwork(network_of(DsCnn, 1, 1, 49, 10), Stream(2, 2)),
    "streaming_wakeword": StreamingNetwork(NETWORKS["streaming_wakeword"], Stream(2, 1)),
    "causal_tcn": StreamingNetwork(network_of(CausalTcn, 1, 8, 128), Stream(2, 1)),
    "tcn": StreamingNetwork(NETWORKS["tcn"], Stream(2, 1)),
    "wav2letter": StreamingNetwork(NETWORKS["wav2letter"], Stream(2, 16)),
}
