"""Trained networks whose layers need different formats, with their data: `FORMAT_NETWORKS`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.quantization.calibration import Sequences
from cmsis_nn_delegate.search.limits import Limits
from tests.coverage.format_data import Part, Sounds, digits_on_photos, generator_of, noisy_crops, sounds
from tests.coverage.format_training import UNET_WEIGHTS, restore, train_classifier, train_denoiser
from tests.coverage.stateful_networks import Rnnoise


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


class Case(NamedTuple):
    """A trained network in eval mode, and its data in the forms that calibration data may have.

    inputs: one sample. calibration: what the ranges of tensors come from. choice, labels: what the formats have to keep
    their limit on. held_out: what none of these depends on. accuracy: of the outputs for these samples, in the
    network's unit. without: the accuracy of the best answer that reads no input, or leaves it as it is.
    """

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]
    calibration: Any
    choice: Any
    labels: Optional[np.ndarray]
    held_out: Any
    accuracy: Callable[[Sequence[Sequence[torch.Tensor]]], float]
    without: float


class FormatNetwork(NamedTuple):
    """task: what it was trained to do, with which data, and how its accuracy is measured, in sentences. unit: dB or %.
    limits: what the chosen formats have to keep. prefer: what they are to take little of."""

    build: Callable[[], Case]
    task: str
    unit: str
    limits: Limits
    prefer: str = "speed"


def _decibels(signal: torch.Tensor, noise: torch.Tensor) -> float:
    return 10 * math.log10(float(signal.double().square().sum() / noise.double().square().sum()))


def _samples(inputs: torch.Tensor) -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in inputs.split(1)]


def _unet() -> Case:
    module = DenoisingUnet()
    restore(module.eval(), UNET_WEIGHTS)
    calibration, _ = noisy_crops(Part.CHOICE, 64, generator_of(Part.CHOICE, 1))
    choice, _ = noisy_crops(Part.CHOICE, 32, generator_of(Part.CHOICE, 2))
    noisy, clean = noisy_crops(Part.HELD_OUT, 64, generator_of(Part.HELD_OUT))

    def psnr(images: torch.Tensor) -> float:
        return _decibels(torch.ones_like(clean), images - clean)

    return Case(
        module,
        (noisy[:1],),
        _samples(calibration),
        _samples(choice),
        None,
        _samples(noisy),
        lambda outputs: psnr(torch.cat([images for (images,) in outputs])),
        psnr(noisy),
    )


def _mobilenet() -> Case:
    torch.manual_seed(0)
    module = MobileNetV3Small()
    train_classifier(module)
    calibration, _ = digits_on_photos(Part.CHOICE, 64, generator_of(Part.CHOICE, 1))
    choice, labels = digits_on_photos(Part.CHOICE, 512, generator_of(Part.CHOICE, 2))
    images, classes = digits_on_photos(Part.HELD_OUT, 1000, generator_of(Part.HELD_OUT))

    def right(found: torch.Tensor) -> float:
        return 100 * float((found == classes).double().mean())

    return Case(
        module,
        (images[:1],),
        _samples(calibration),
        _samples(choice),
        labels.numpy(),
        _samples(images),
        lambda outputs: right(torch.cat([scores for (scores,) in outputs]).argmax(1)),
        right(classes.mode().values),
    )


def _rnnoise() -> Case:
    torch.manual_seed(0)
    module = Rnnoise()
    train_denoiser(module)
    calibration, choice = (sounds(3, 50, generator_of(Part.CHOICE, seed)) for seed in (1, 2))
    held_out = sounds(16, 60, generator_of(Part.HELD_OUT))
    gains = held_out.gains.reshape(-1, held_out.gains.shape[2])

    def exactness(found: torch.Tensor) -> float:
        return _decibels(gains, found - gains)

    return Case(
        module,
        (held_out.features[0, :1],),
        _sequences(calibration),
        _sequences(choice),
        None,
        _sequences(held_out),
        lambda outputs: exactness(torch.cat([found for found, _ in outputs])),
        exactness(gains.mean(0).expand_as(gains)),
    )


def _sequences(data: Sounds) -> Sequences:
    return Sequences([_samples(sequence) for sequence in data.features])


FORMAT_NETWORKS: Mapping[str, FormatNetwork] = {
    "denoising_unet": FormatNetwork(
        _unet,
        "takes noise off photographs. Two real ones, those of scikit-learn, were cut into tiles: some for training, "
        "some for calibration and choice, and some that are held out. Its weights are kept in the sources. Accuracy is "
        "the ratio of peak to noise (PSNR) of 64 held-out images; of the noisy images themselves it is",
        "dB",
        Limits(min_sqnr=52),
    ),
    "mobilenet_v3_small": FormatNetwork(
        _mobilenet,
        "tells handwritten digits, the real ones of scikit-learn, which were turned, coloured and drawn on pieces of "
        "the photographs. Accuracy is the share of 1,000 held-out images that it tells right, of other digits on other "
        "pieces; without looking at them it is",
        "%",
        Limits(max_drop=0.01),
        "flash",
    ),
    "rnnoise": FormatNetwork(
        _rnnoise,
        "finds how much of each of 22 bands is sound and not noise. Its data, energies of bands of harmonic sounds in "
        "coloured noise, are generated. Accuracy is the ratio of the ideal gains to the errors of those found, in 16 "
        "held-out sequences; of the mean gains of each band it is",
        "dB",
        Limits(min_sqnr=38),
        "flash",
    ),
}
