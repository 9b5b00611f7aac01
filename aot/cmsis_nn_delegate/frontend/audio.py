"""Features of sound: `LogMel` and `Mfcc`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Optional, Union

import torch
from torch import nn

from ..edge.sound_ops import CEPSTRAL, LOG_MEL
from ..support.checked import checked
from ..support.errors import UserError, closest
from .mel import mel_bank

_WINDOWS: Mapping[str, Callable[[int], torch.Tensor]] = {
    "hann": torch.hann_window,
    "hamming": torch.hamming_window,
    "rectangular": torch.ones,
}


class LogMel(nn.Module):
    """Logarithms of the energy of sound in bands that are equally wide in mel.

    `forward(samples)` takes float32 [..., samples], from -1 to 1, and returns float32 [..., frames, bands]:

        gain * ln(|rfft(window * frame)|^power @ bank + eps)

    for frames of `window_length` samples, each `hop` after the one before; samples behind the last whole frame are not
    used. `fft_length` is a power of two from 32 to 4096, by default the least that holds a window. `window` is "hann",
    "hamming" (both periodic), "rectangular", or a tensor [window_length]. `bank` is a tensor
    [fft_length / 2 + 1, bands]; without it, it is `mel_bank(sample_rate, fft_length, bands, low, high, **mel)`. For
    decibels, `gain` is 10 / ln(10).

    Window and bank are buffers. In a compiled model they are integers: it takes int16 samples, as a microphone's
    converter gives them, and the call computes in fixed point.

    Raises UserError for parameters that the delegate cannot compute with, and for fewer samples than a window has.
    """

    window: torch.Tensor
    bank: torch.Tensor

    @checked("mel")
    def __init__(
        self,
        sample_rate: float = 16000,
        *,
        window_length: int = 480,
        hop: int = 320,
        fft_length: Optional[int] = None,
        bands: int = 40,
        low: float = 20.0,
        high: Optional[float] = None,
        power: int = 2,
        eps: float = 1e-6,
        gain: float = 1.0,
        window: Union[str, torch.Tensor] = "hann",
        bank: Optional[torch.Tensor] = None,
        **mel: Any,
    ) -> None:
        super().__init__()
        if window_length < 1 or hop < 1:
            raise UserError(f"window_length is {window_length} and hop {hop}: both have to be at least 1")
        self.fft_length = fft_length or max(32, 1 << (window_length - 1).bit_length())
        if self.fft_length & (self.fft_length - 1) or not 32 <= self.fft_length <= 4096:
            raise UserError(f"fft_length is {self.fft_length}, and has to be a power of two from 32 to 4096")
        if self.fft_length < window_length:
            raise UserError(
                f"fft_length is {self.fft_length}, and a window has {window_length} samples: take a longer one"
            )
        if power not in (1, 2):
            raise UserError(f"power is {power}, and has to be 1, for magnitudes, or 2, for energies")
        if not 0 < eps < math.inf or not 0 < gain < math.inf:
            raise UserError(f"eps is {eps:g} and gain {gain:g}: both have to be above 0, and finite")
        self.hop, self.power, self.eps, self.gain = hop, power, eps, gain
        self.register_buffer("window", _window(window, window_length))
        others = set(mel) - set(inspect.signature(mel_bank).parameters)
        if others:
            name = sorted(others)[0]
            raise UserError(f"LogMel has no parameter {name!r}; {closest(name, inspect.signature(LogMel).parameters)}")
        if bank is None:
            bank = mel_bank(sample_rate, self.fft_length, bands, low, high, **mel)
        elif mel:
            raise UserError(f"{', '.join(sorted(mel))}: a bank of your own is taken as it is; leave one of them out")
        elif bank.dim() != 2 or bank.shape[0] != self.fft_length // 2 + 1 or not bank.numel():
            raise UserError(
                f"the bank has the shape {list(bank.shape)}, and a spectrum {self.fft_length // 2 + 1} bins: give "
                f"[{self.fft_length // 2 + 1}, bands]"
            )
        if bool((bank < 0).any()):
            raise UserError("the bank has negative weights, and a logarithm needs energies that are none")
        self.register_buffer("bank", bank.detach().to(torch.float32))

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        if samples.shape[-1] < self.window.shape[0]:
            raise UserError(f"{samples.shape[-1]} samples are fewer than a window has, {self.window.shape[0]}")
        features: torch.Tensor = LOG_MEL(
            *(samples, self.window, self.bank, self.hop, self.fft_length, self.power, self.eps, self.gain)
        )
        return features


class Mfcc(nn.Module):
    """Mel-frequency cepstral coefficients: the first `coefficients` of the orthonormal discrete cosine transform (type
    II) of a `LogMel`, whose parameters follow. `forward` takes float32 [..., samples] and returns float32
    [..., frames, coefficients]. The transform is a linear layer that is not trained."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        CEPSTRAL.add(f"{cls.__module__}.{cls.__qualname__}")

    @checked("log_mel")
    def __init__(self, sample_rate: float = 16000, *, coefficients: int = 13, **log_mel: Any) -> None:
        super().__init__()
        self.log_mel = LogMel(sample_rate, **log_mel)
        bands = self.log_mel.bank.shape[1]
        if not 1 <= coefficients <= bands:
            raise UserError(f"coefficients is {coefficients}, and has to be from 1 to {bands}, the number of bands")
        self.dct = nn.Linear(bands, coefficients, bias=False).requires_grad_(False)
        angles = (
            torch.arange(coefficients, dtype=torch.float64)[:, None] * (torch.arange(bands) + 0.5) * math.pi / bands
        )
        basis = torch.cos(angles) * math.sqrt(2 / bands)
        basis[0] /= math.sqrt(2)
        self.dct.weight.copy_(basis)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        coefficients: torch.Tensor = self.dct(self.log_mel(samples))
        return coefficients


CEPSTRAL.add(f"{Mfcc.__module__}.{Mfcc.__qualname__}")


def _window(window: Union[str, torch.Tensor], length: int) -> torch.Tensor:
    if isinstance(window, str):
        if window not in _WINDOWS:
            raise UserError(f"window: {window!r} is none of {', '.join(_WINDOWS)}; {closest(window, _WINDOWS)}")
        return _WINDOWS[window](length)
    if list(window.shape) != [length]:
        raise UserError(f"the window has the shape {list(window.shape)}, and has to have [{length}]")
    return window.detach().to(torch.float32)
