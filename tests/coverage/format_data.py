"""What the networks of `format_networks.py` are trained, calibrated and measured with: photographs, handwritten digits
on them, and sounds of which only the energies of bands are generated. `Part` keeps the three apart.

The photographs are those of scikit-learn, in gray and half as large, because it has no decoder of JPEG itself:
`Image.open(file).convert("L").reduce(2)` with Pillow made format_photos.npz. Both are under the Creative Commons
Attribution 2.0 licence: china.jpg is by danielbuechele, flower.jpg by vultilion (flickr.com/photos/ and these names).
"""

from __future__ import annotations

import enum
import functools
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.nn import functional as F

_PHOTOS = Path(__file__).with_name("format_photos.npz")
NOISE = 10 / 255  # the standard deviation of what is added to photographs, whose values are 0 to 1


class Part(enum.Enum):
    """What data is for: parameters come from TRAINING, ranges and formats from CHOICE, and accuracy from HELD_OUT. The
    numbers are those of its fifths of the photographs and of the digits."""

    TRAINING = (0, 1, 2)
    CHOICE = (3,)
    HELD_OUT = (4,)


def generator_of(part: Part, seed: int = 0) -> torch.Generator:
    """Returns numbers that differ from part to part."""
    return torch.Generator().manual_seed(1000 * seed + list(Part).index(part))


@functools.cache
def _tiles(part: Part) -> tuple[torch.Tensor, ...]:
    """Returns the part's tiles of the photographs, [71, 64] each, 0 to 1: some of each of three rows."""
    with np.load(_PHOTOS) as photos:
        images = [torch.from_numpy(photos[name]).float() / 255 for name in ("china", "flower")]
    return tuple(
        image[71 * row : 71 * (row + 1), 64 * column : 64 * (column + 1)]
        for image in images
        for row in range(3)
        for column in range(5)
        if (column + 2 * row) % 5 in part.value
    )


def crops(part: Part, count: int, size: int, generator: torch.Generator) -> torch.Tensor:
    """Returns pieces of the photographs, [count, 1, size, size], half of them mirrored."""
    tiles, pieces = _tiles(part), []
    for number in range(count):
        tile = tiles[number % len(tiles)]
        row, column = (int(torch.randint(edge - size + 1, (), generator=generator)) for edge in tile.shape)
        piece = tile[row : row + size, column : column + size]
        pieces.append(piece.flip(1) if torch.rand((), generator=generator) < 0.5 else piece)
    return torch.stack(pieces).unsqueeze(1)


def noisy_crops(part: Part, count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns pieces of photographs with noise, and without, each [count, 1, 32, 32]."""
    clean = crops(part, count, 32, generator)
    return clean + NOISE * torch.randn(clean.shape, generator=generator), clean


@functools.cache
def _digits(part: Part) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the part's images of 8 x 8, 0 to 1, and their labels: real ones, which people wrote."""
    data = load_digits()
    fifths = torch.arange(len(data.target)) % 5
    kept = torch.isin(fifths, torch.tensor(part.value))
    return torch.from_numpy(data.images / 16).float()[kept].unsqueeze(1), torch.from_numpy(data.target)[kept]


def digits_on_photos(part: Part, count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns digits on pieces of photographs, [count, 3, 64, 64], -1 to 1, and their labels. As in MNIST-M [Ganin and
    Lempitsky 2015, "Unsupervised domain adaptation by backpropagation"]; but digits are turned and moved, both have
    colours, and there is noise."""

    def uniform(low: float, high: float, *shape: int) -> torch.Tensor:
        return low + (high - low) * torch.rand(shape, generator=generator)

    images, labels = _digits(part)
    chosen = torch.randint(len(labels), (count,), generator=generator)
    angle, scale = uniform(-0.25, 0.25, count), uniform(0.9, 1.3, count)
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], 1).reshape(count, 2, 2)
    maps = torch.cat([turn * scale[:, None, None], uniform(-0.2, 0.2, count, 2, 1)], 2)
    grid = F.affine_grid(maps, [count, 1, 64, 64], align_corners=False)
    ink = F.grid_sample(images[chosen], grid, mode="bilinear", align_corners=False)
    tint, colour = uniform(0.6, 1.4, count, 3, 1, 1), uniform(0.5, 1.0, count, 3, 1, 1)
    sign = 2.0 * torch.randint(2, (count, 1, 1, 1), generator=generator) - 1
    picture = 2 * crops(part, count, 64, generator) * tint - 1 + 2 * sign * colour * ink
    return (picture + 0.05 * torch.randn(picture.shape, generator=generator)).clamp(-1, 1), labels[chosen]


BANDS = 22
# The bands of "A hybrid DSP/deep learning approach to real-time full-band speech enhancement" [Valin 2018], in Hz.
_EDGES = 200.0 * torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 34, 40, 48, 60, 78, 100])


class Sounds(NamedTuple):
    """Sounds in noise: features [sequences, steps, 42], and what is to be found: gains of bands [sequences, steps, 22],
    and whether there is a sound [sequences, steps]."""

    features: torch.Tensor
    gains: torch.Tensor
    sounding: torch.Tensor


def sounds(sequences: int, steps: int, generator: torch.Generator) -> Sounds:
    """Returns harmonic sounds, with formants as those of a voice, and pauses, in coloured noise of -5 to 20 dB."""
    features, gains, sounding = _sounds(sequences, steps, generator)
    mean, deviation = _statistics()
    return Sounds((features - mean) / deviation, gains, sounding)


@functools.cache
def _statistics() -> tuple[torch.Tensor, torch.Tensor]:
    features = _sounds(64, 100, torch.Generator().manual_seed(-1)).features
    return features.mean((0, 1)), features.std((0, 1))


def _smooth(shape: tuple[int, ...], steps: int, generator: torch.Generator) -> torch.Tensor:
    """Returns normal numbers, [*shape], that change slowly along dimension 1: within about so many steps."""
    noise = torch.randn((shape[0], shape[1] + 2 * steps, *shape[2:]), generator=generator)
    window = torch.hann_window(2 * steps + 1, periodic=False)
    flat = noise.reshape(*noise.shape[:2], -1).transpose(1, 2).reshape(-1, 1, noise.shape[1])
    slow = F.conv1d(flat, (window / window.norm()).reshape(1, 1, -1))
    return slow.reshape(shape[0], -1, shape[1]).transpose(1, 2).reshape(shape)


def _sounds(sequences: int, steps: int, generator: torch.Generator) -> Sounds:
    both = (sequences, steps)
    pitch = 100 * 2 ** (1.5 * torch.rand((sequences, 1), generator=generator) + 0.15 * _smooth(both, 12, generator))
    sounding = (_smooth(both, 15, generator) > -0.2).float()
    harmonics = torch.arange(1, 101) * pitch[..., None]  # Hz, [sequences, steps, 100]
    formants = torch.tensor([500.0, 1500.0, 2600.0]) * 1.25 ** _smooth((*both, 3), 10, generator)
    octaves = (harmonics[..., None] / formants[:, :, None]).log2()
    level = -6 * (harmonics / 500).log2().abs() + (18 * torch.exp(-((octaves / 0.25) ** 2))).sum(3)
    level += 4 * _smooth(both, 5, generator)[..., None]
    energies = 10 ** (level / 10) * (harmonics < _EDGES[-1])
    sound = _in_bands(energies, harmonics) * sounding[..., None]

    # Noise has a tilt, a shape and a level that change slowly, and narrow bands fluctuate more.
    place = torch.linspace(-1, 1, BANDS)
    tilt = 12 * torch.randn((sequences, 1, 1), generator=generator) * place
    shape = 4 * torch.randn((sequences, 1, BANDS), generator=generator) + 2 * _smooth((*both, 1), 20, generator)
    fluctuation = torch.randn((*both, BANDS), generator=generator) * torch.linspace(3.0, 0.7, BANDS)
    noise = 10 ** ((tilt + shape + fluctuation) / 10)
    ratio = 10 ** ((25 * torch.rand((sequences, 1, 1), generator=generator) - 5) / 10)
    total = sound.sum((1, 2), keepdim=True).clamp_min(1.0)
    noise *= total / noise.sum((1, 2), keepdim=True) / ratio

    gains = (sound / (sound + noise)).sqrt()
    return Sounds(_features(sound + noise, gains, pitch, sounding, generator), gains, sounding)


def _in_bands(energies: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Returns the energies of bands, [..., 22]: triangles that reach from one centre to the next ones."""
    above = torch.searchsorted(_EDGES, frequencies, right=True).clamp(1, BANDS - 1)
    low, high = _EDGES[above - 1], _EDGES[above]
    share = ((frequencies - low) / (high - low)).clamp(0, 1)
    bands = torch.zeros(*energies.shape[:-1], BANDS)
    return bands.scatter_add(-1, above, energies * share).scatter_add(-1, above - 1, energies * (1 - share))


def _features(
    mixed: torch.Tensor, gains: torch.Tensor, pitch: torch.Tensor, sounding: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """Returns the kinds of features that the paper has: the cepstrum of the bands, 6 first and 6 second differences of
    it, 6 of how well bands correlate with the pitch, the period, and how much the spectrum changes."""
    k = torch.arange(BANDS, dtype=torch.float32)
    transform = math.sqrt(2 / BANDS) * torch.cos(math.pi / BANDS * (k[:, None] + 0.5) * k)
    cepstrum = (mixed + 1e-2).log10() @ transform

    def before(x: torch.Tensor, steps: int) -> torch.Tensor:
        return torch.cat([x[:, :1].expand(-1, steps, -1), x], 1)[:, : x.shape[1]]

    low = cepstrum[..., :6]
    first, second = low - before(low, 2), low - 2 * before(low, 1) + before(low, 2)
    found = gains**2 + 0.2 * torch.randn(gains.shape, generator=generator)  # no detector of pitch is exact
    correlation = (found @ transform)[..., :6]
    guessed = 100 * 2 ** (2 * torch.rand(pitch.shape, generator=generator))
    period = torch.where(sounding > 0, 1 / pitch, 1 / guessed)[..., None]
    change = torch.stack([(cepstrum - before(cepstrum, n)).square().mean(2) for n in (1, 2, 4)]).mean(0)
    return torch.cat([cepstrum, first, second, correlation, 1000 * period, change[..., None].log1p()], 2)
