"""Networks whose layers need different formats: `FORMAT_NETWORKS`. Weights are random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from tests.coverage.networks import Network
from tests.coverage.stateful_networks import STATEFUL_NETWORKS


class DenoisingUnet(nn.Module):
    """Takes the noise off an image [Ronneberger et al. 2015, "U-Net"; Zhang et al. 2017, "Beyond a Gaussian denoiser"]:
    it computes the noise, and the image less that."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.bottom = nn.Conv2d(2 * width, 2 * width, 3, padding=1)
        self.up = nn.Conv2d(2 * width, width, 3, padding=1)
        self.join = nn.Conv2d(2 * width, width, 3, padding=1)
        self.noise = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        fine = F.relu(self.first(image))
        coarse = F.relu(self.bottom(F.relu(self.down(fine))))
        y = F.relu(self.up(F.interpolate(coarse, scale_factor=2, mode="nearest")))
        return image - self.noise(F.relu(self.join(torch.cat([y, fine], 1))))


class FormatNetwork(NamedTuple):
    """build: with one set of inputs. more: dB beyond those of int8 that its formats are to keep. steps: of the one
    sequence of data, if it keeps a state."""

    build: Callable[[], Network]
    more: float
    steps: int = 0


def _unet() -> Network:
    torch.manual_seed(0)
    return Network(DenoisingUnet().eval(), (torch.randn(1, 1, 32, 32),))


FORMAT_NETWORKS: Mapping[str, FormatNetwork] = {
    "denoising_unet": FormatNetwork(_unet, 6.0),
    "rnnoise": FormatNetwork(STATEFUL_NETWORKS["rnnoise"].build, 2.0, steps=48),
}
