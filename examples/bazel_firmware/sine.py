"""What the firmware runs: a network of three linear layers that has learned the sine."""

from __future__ import annotations

import math

import torch
from torch import nn


def model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """The trained network, (N, 1) -> (N, 1) for angles from 0 to 2 pi, and an example input."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)
    )
    angles = torch.linspace(0, 2 * math.pi, 256).reshape(-1, 1)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(2000):
        optimizer.zero_grad()
        nn.functional.mse_loss(network(angles), torch.sin(angles)).backward()
        optimizer.step()
    return network.eval(), (angles[:1],)
