"""The model of this example, a small random network; `net.py FILE.npz` writes inputs to calibrate it with."""

from __future__ import annotations

import sys

import numpy as np
import torch
from torch import nn


def model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Returns the network, (1, 1, 12, 12) -> (1, 10), and an example input, as `cmsisnn compile` expects them."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 5 * 5, 10))
    return network, (torch.zeros(1, 1, 12, 12),)


if __name__ == "__main__":
    np.savez(sys.argv[1], x=np.random.default_rng(2).random((16, 1, 12, 12), np.float32))
