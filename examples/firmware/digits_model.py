"""The model of the firmware example: a network of 2 KB for handwritten digits."""

from __future__ import annotations

import torch
from torch import nn

from examples.digits import digits


class Small(nn.Module):
    """(N, 1, 8, 8) -> (N, 10) logits."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(8 * 4 * 4, 10),
        )

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Returns the trained network and an example input, as `cmsisnn compile` expects them."""
    data = digits.load()
    torch.manual_seed(digits.SEED)  # seed of the initial weights: every instruction set gets the same network
    return digits.train(data, model=Small()), (torch.from_numpy(data.train_images[:1]),)
