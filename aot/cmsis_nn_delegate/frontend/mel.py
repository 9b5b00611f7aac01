"""Banks of triangular filters whose centres are equally far apart in mel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Optional

import numpy as np
import torch

from ..support.checked import checked
from ..support.errors import UserError, closest


class _Scale(NamedTuple):
    to_mel: Callable[[np.ndarray], np.ndarray]
    to_hz: Callable[[np.ndarray], np.ndarray]


# Of Slaney's scale: 200 / 3 Hz a mel up to 1 kHz, and then 27 mel for a factor of 6.4.
_LINEAR, _KNEE = 200.0 / 3, 1000.0
_LOG_STEP = np.log(6.4) / 27


def _slaney_mel(hz: np.ndarray) -> np.ndarray:
    return np.where(hz < _KNEE, hz / _LINEAR, _KNEE / _LINEAR + np.log(np.maximum(hz, _KNEE) / _KNEE) / _LOG_STEP)


def _slaney_hz(mel: np.ndarray) -> np.ndarray:
    knee = _KNEE / _LINEAR
    return np.where(mel < knee, mel * _LINEAR, _KNEE * np.exp(np.maximum(mel - knee, 0) * _LOG_STEP))


# Young et al., The HTK Book, 5.4; Slaney, Auditory Toolbox, 1998.
SCALES: Mapping[str, _Scale] = {
    "htk": _Scale(lambda hz: 2595 * np.log10(1 + hz / 700), lambda mel: 700 * (10 ** (mel / 2595) - 1)),
    "slaney": _Scale(_slaney_mel, _slaney_hz),
}
NORMS = (None, "slaney")
TRIANGLES = ("hz", "mel")


@checked()
def mel_bank(
    sample_rate: float,
    fft_length: int,
    bands: int,
    low: float = 20.0,
    high: Optional[float] = None,
    *,
    scale: str = "htk",
    norm: Optional[str] = None,
    triangles: str = "hz",
) -> torch.Tensor:
    """Returns float32 [fft_length / 2 + 1, bands]: how much of each bin of a spectrum belongs to each band.

    Bands lie between `low` and `high` Hz (half of `sample_rate` if None). `scale` is "htk" or "slaney". Filters are
    triangles of height 1 or, with norm "slaney", of area 1 Hz; their sides are straight over Hz, or over mel.

    librosa.filters.mel has scale and norm "slaney", torchaudio.functional.melscale_fbanks the defaults, and
    tf.signal.linear_to_mel_weight_matrix triangles over "mel".

    Raises UserError for other names, for frequencies that are in the wrong order or above half of the sample rate, and
    for a band so narrow that it has no bin.
    """
    for what, name, known in (
        ("scale", scale, tuple(SCALES)),
        ("norm", norm, NORMS),
        ("triangles", triangles, TRIANGLES),
    ):
        if name not in known:
            names = [other for other in known if other is not None]
            raise UserError(f"{what}: {name!r} is none of {', '.join(map(repr, known))}; {closest(str(name), names)}")
    high = sample_rate / 2 if high is None else high
    if not 0 <= low < high <= sample_rate / 2:
        raise UserError(
            f"bands from {low:g} to {high:g} Hz: low has to be below high, and that at most half of the sample rate, "
            f"{sample_rate / 2:g} Hz"
        )
    if bands < 1:
        raise UserError(f"bands is {bands}, and not at least 1")
    to_mel, to_hz = SCALES[scale]
    first, last = to_mel(np.array([low, high], np.float64))
    edges_mel = np.linspace(first, last, bands + 2)
    edges = to_hz(edges_mel)
    bins = np.arange(fft_length // 2 + 1) * sample_rate / fft_length
    places, ends = (bins, edges) if triangles == "hz" else (to_mel(bins), edges_mel)
    rising = (places[:, None] - ends[:-2]) / (ends[1:-1] - ends[:-2])
    falling = (ends[2:] - places[:, None]) / (ends[2:] - ends[1:-1])
    bank = np.maximum(np.minimum(rising, falling), 0)
    empty = np.flatnonzero(bank.max(axis=0) == 0)
    if empty.size:
        band = int(empty[0])
        raise UserError(
            f"band {band}, from {edges[band]:.0f} to {edges[band + 2]:.0f} Hz, lies between two bins of the spectrum, "
            f"which are {sample_rate / fft_length:g} Hz apart: take fewer bands, a longer fft_length or a higher low; "
            "or give a bank of your own"
        )
    if norm == "slaney":
        bank *= 2 / (edges[2:] - edges[:-2])
    return torch.from_numpy(bank.astype(np.float32))
