"""Automatic gain for bands of sound: `Pcen`."""

from __future__ import annotations

from typing import Union

import torch
from torch import nn

from ..edge.pcen_ranges import PCEN_RANGES
from ..edge.sound_ops import PCEN, PCEN_LAST
from ..support.checked import checked
from ..support.errors import UserError


class Pcen(nn.Module):
    """Per-channel energy normalization [Wang et al., Trainable frontend for robust and far-field keyword spotting,
    2017]: automatic gain for each band, which takes away what is always there, such as the distance of a microphone or
    the noise of a fan.

    `forward(energies)` takes float32 [..., frames, bands], the natural logarithms that a `LogMel` with a `gain` of 1
    gives, and returns float32 [..., frames, bands]:

        (E / M^alpha + delta)^root - delta^root

    with E = exp(energies) and the mean M = M + smooth * (E - M), which the first frame begins. Numbers or tensors
    [bands]: `smooth`, from 2^-10 to 1 - 2^-10, is how much of a mean a frame makes up; `alpha`, from 0 to 1, how much
    of the gain is taken away; `delta`, above 0, and `root`, from 1/64 to 1, compress the rest. With `trainable`, all
    four are trained; keep them in their ranges, for example by `clamp_` after each step.

    What a `LogMel` adds before its logarithm, `eps`, is a part of E here, so that silence counts as noise of that
    energy. Wang et al. add it to M alone.

    With `keep`, for a model that takes a frame or a few at a time, the logarithms of the means are kept in the buffer
    `means`, [1, bands], and energies are [1, frames, bands]: the next call goes on with them. Zeros begin anew.

    In a compiled model the logarithms and the means have 16 bits. One that streams (`stream=Stream(...)`) goes on with
    its means without `keep`; its `LogMel` needs samples that are padded by `window_length - hop` zeros at the start.

    Raises UserError for parameters that the delegate cannot compute with, and for other bands than `bands`.
    """

    means: torch.Tensor

    @checked()
    def __init__(
        self,
        bands: int,
        *,
        smooth: Union[float, torch.Tensor] = 0.025,
        alpha: Union[float, torch.Tensor] = 0.98,
        delta: Union[float, torch.Tensor] = 2.0,
        root: Union[float, torch.Tensor] = 0.5,
        trainable: bool = False,
        keep: bool = False,
    ) -> None:
        super().__init__()
        if bands < 1:
            raise UserError(f"bands is {bands}, and has to be at least 1")
        for name, given in {"smooth": smooth, "alpha": alpha, "delta": delta, "root": root}.items():
            numbers = torch.as_tensor(given, dtype=torch.float32).detach().clone()
            if list(numbers.shape) not in ([], [bands]):
                raise UserError(f"{name} has the shape {list(numbers.shape)}: give a number, or a tensor [{bands}]")
            low, high = PCEN_RANGES[name]
            if not bool(((numbers >= low) & (numbers <= high)).all()):
                raise UserError(f"{name} has to be from {low:g} to {high:g}, and is {given}")
            setattr(self, name, nn.Parameter(numbers, requires_grad=trainable))
        self.keep = keep
        self.register_buffer("means", torch.zeros(1, bands))

    def forward(self, energies: torch.Tensor) -> torch.Tensor:
        bands = self.means.shape[1]
        if energies.dim() < 2 or energies.shape[-1] != bands or (self.keep and energies.shape[:-2] != (1,)):
            shape = "1" if self.keep else "..."
            raise UserError(f"energies {list(energies.shape)} have to be [{shape}, frames, {bands}]")
        means = self.means if self.keep else self.means[0].expand(*energies.shape[:-2], bands)
        parameters = (self.smooth, self.alpha, self.delta, self.root)
        normalized: torch.Tensor = PCEN(energies, means, *parameters)
        if self.keep:
            self.means.copy_(PCEN_LAST(normalized, energies, means, *parameters))
        return normalized
