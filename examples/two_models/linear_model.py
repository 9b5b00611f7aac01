"""The small model of the cascade: one linear layer, which knows most digits."""

from __future__ import annotations

import torch
from torch import nn

from examples.digits import digits


class Linear(nn.Module):
    """(N, 1, 8, 8) -> (N, 10) logits."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Returns the trained network and an example input, as `cmsisnn compile` expects them."""
    data = digits.load()
    torch.manual_seed(digits.SEED)
    return digits.train(data, model=Linear()), (torch.from_numpy(data.train_images[:1]),)
