"""Networks whose layers need different formats: `FORMAT_NETWORKS`. Weights are random, batch norms have statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Optional

import torch
from torch import nn
from torch.nn import functional as F

from tests.coverage.hub import observe_norms
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


class SqueezeExcitation(nn.Module):
    """Weighs channels by what all of the image says."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.squeeze, self.excite = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.gate(self.excite(F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))


def _layer(
    inputs: int,
    outputs: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    activation: Optional[type[nn.Module]] = None,
) -> nn.Module:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), *([] if activation is None else [activation()]))


class InvertedResidual(nn.Module):
    """Widens, filters each channel, and narrows again."""

    def __init__(
        self, inputs: int, kernel: int, wide: int, outputs: int, excites: bool, swish: bool, stride: int
    ) -> None:
        super().__init__()
        activation = nn.Hardswish if swish else nn.ReLU
        self.widen = _layer(inputs, wide, 1, activation=activation) if wide != inputs else nn.Identity()
        self.filter = _layer(wide, wide, kernel, stride, wide, activation)
        self.weigh = SqueezeExcitation(wide, max(8, (wide // 4 + 4) // 8 * 8)) if excites else nn.Identity()
        self.narrow = _layer(wide, outputs, 1)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.narrow(self.weigh(self.filter(self.widen(x))))
        return x + y if self.adds else y


# Inputs, kernel, wide, outputs, squeeze and excitation, hardswish, stride: table 2 of the paper.
_SMALL = (
    (16, 3, 16, 16, True, False, 2), (16, 3, 72, 24, False, False, 2), (24, 3, 88, 24, False, False, 1),
    (24, 5, 96, 40, True, True, 2), (40, 5, 240, 40, True, True, 1), (40, 5, 240, 40, True, True, 1),
    (40, 5, 120, 48, True, True, 1), (48, 5, 144, 48, True, True, 1), (48, 5, 288, 96, True, True, 2),
    (96, 5, 576, 96, True, True, 1), (96, 5, 576, 96, True, True, 1),
)  # fmt: skip


class MobileNetV3Small(nn.Module):
    """Classifies images [Howard et al. 2019, "Searching for MobileNetV3"], the small one, with fewer classes."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = _layer(3, 16, 3, 2, activation=nn.Hardswish)
        self.blocks = nn.Sequential(*(InvertedResidual(*row) for row in _SMALL))
        self.last = _layer(96, 576, 1, activation=nn.Hardswish)
        self.head = nn.Sequential(nn.Linear(576, 128), nn.Hardswish(), nn.Linear(128, classes))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.last(self.blocks(self.stem(image))).mean((2, 3)))


class FormatNetwork(NamedTuple):
    """build: with one set of inputs. more: dB beyond those of int8 that its formats are to keep. steps: of the one
    sequence of data, if it keeps a state."""

    build: Callable[[], Network]
    more: float
    steps: int = 0


def _unet() -> Network:
    torch.manual_seed(0)
    return Network(DenoisingUnet().eval(), (torch.randn(1, 1, 32, 32),))


def _mobilenet() -> Network:
    torch.manual_seed(0)
    module = MobileNetV3Small().eval()
    observe_norms(module, 64)
    return Network(module, (torch.randn(1, 3, 64, 64),))


FORMAT_NETWORKS: Mapping[str, FormatNetwork] = {
    "denoising_unet": FormatNetwork(_unet, 6.0),
    "mobilenet_v3_small": FormatNetwork(_mobilenet, 6.0),
    "rnnoise": FormatNetwork(STATEFUL_NETWORKS["rnnoise"].build, 2.0, steps=48),
}
