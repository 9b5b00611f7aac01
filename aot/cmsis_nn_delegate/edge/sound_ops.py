"""Features of sound as PyTorch operators: `torch.ops.cmsis_nn_delegate.log_mel` and `pcen`.

    log_mel(samples, window, bank, hop, fft_length, power, eps, gain)
        = gain * ln(|rfft(window * frames)|^power @ bank + eps)

`samples` is float [..., samples], `window` float [frame_length], `bank` float [fft_length / 2 + 1, bands]. Frame t has
the samples from t * hop to t * hop + frame_length - 1; what is left behind the last whole frame counts nowhere. A frame
is padded with zeros to `fft_length`, a power of two. The result is float [..., frames, bands].

It is one operator because what lies between has no scale that would suit 16 bits: the powers of loud and quiet sounds
differ by a factor of 10^9. `frontend.LogMel` makes its window and bank. It has gradients, of samples, window and
bank.

    pcen(energies, state, smooth, alpha, delta, root) = (E / M^alpha + delta)^root - delta^root

normalizes each band by what it was lately: E = exp(energies), and M = M + smooth * (E - M) goes from frame to frame.
`energies` is float [..., frames, bands], `state` float [..., bands]: the logarithm of M before the first frame, or 0
for none, when M begins as the first E. The others are floats that fit [bands]. The result is [..., frames, bands];
`pcen_last(output, ...)` takes that and what `pcen` takes, and gives the logarithm of M after the last frame. Both have
gradients, of all floats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .own_ops import define, give_gradients

# Types of modules whose functions compute cepstral coefficients of logarithms.
CEPSTRAL: set[str] = set()


def log_mel(
    samples: torch.Tensor,
    window: torch.Tensor,
    bank: torch.Tensor,
    hop: int,
    fft_length: int,
    power: int,
    eps: float,
    gain: float,
) -> torch.Tensor:
    """Returns what the operator computes, by PyTorch's own ones."""
    frames = samples.unfold(-1, window.shape[0], hop) * window
    spectrum = torch.fft.rfft(frames, fft_length)
    magnitudes = spectrum.abs() if power == 1 else spectrum.real.square() + spectrum.imag.square()
    return torch.log(magnitudes @ bank + eps) * gain


def _shape(samples: torch.Tensor, window: torch.Tensor, bank: torch.Tensor, hop: int, *_: Any) -> torch.Tensor:
    frames = (samples.shape[-1] - window.shape[0]) // hop + 1
    return samples.new_empty((*samples.shape[:-1], frames, bank.shape[1]))


def pcen(energies: torch.Tensor, state: torch.Tensor, smooth: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """Returns what the operator computes, by PyTorch's own ones."""
    alpha, delta, root = others
    energy_over_mean = torch.exp(energies - alpha * _means(energies, state, smooth))
    return (energy_over_mean + delta) ** root - delta**root


def pcen_last(
    output: torch.Tensor, energies: torch.Tensor, state: torch.Tensor, smooth: torch.Tensor, *others: torch.Tensor
) -> torch.Tensor:
    """Returns what the operator computes, by PyTorch's own ones."""
    return _means(energies, state, smooth).select(-2, -1).clone()


def _means(energies: torch.Tensor, state: torch.Tensor, smooth: torch.Tensor) -> torch.Tensor:
    """Returns the logarithms of the means after each frame, [..., frames, bands]."""
    frames = energies.exp().unbind(-2)
    mean = torch.where(state == 0, frames[0], state.exp())
    means = []
    for frame in frames:
        mean = mean + smooth * (frame - mean)
        means.append(mean)
    return torch.stack(means, -2).log()


def _register(
    name: str,
    arguments: str,
    function: Callable[..., torch.Tensor],
    shape: Callable[..., torch.Tensor],
    *,
    outside: bool = False,
) -> Any:
    """Declares an operator as `define` does, whose gradients are those of `function`, and returns it."""

    def save(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.numbers = [value for value in inputs if not isinstance(value, torch.Tensor)]
        ctx.save_for_backward(*(value for value in inputs if isinstance(value, torch.Tensor)))

    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        with torch.enable_grad():
            inputs = [tensor.detach().requires_grad_(True) for tensor in ctx.saved_tensors]
            result = function(*inputs, *ctx.numbers)
        found = torch.autograd.grad(result, inputs, gradient, allow_unused=True)
        return (*found, *(None for _ in ctx.numbers))

    operator = define(name, arguments, function, shape, outside=outside)
    give_gradients(name, backward, save)
    return operator


_LOG_MEL = "Tensor samples, Tensor window, Tensor bank, int hop, int fft_length, int power, float eps, float gain"
_PCEN = "Tensor energies, Tensor state, Tensor smooth, Tensor alpha, Tensor delta, Tensor root"
LOG_MEL = _register("log_mel", _LOG_MEL, log_mel, _shape, outside=True)
PCEN = _register("pcen", _PCEN, pcen, lambda energies, *_: torch.empty_like(energies))
PCEN_LAST = _register(
    "pcen_last", f"Tensor output, {_PCEN}", pcen_last, lambda output, energies, state, *_: torch.empty_like(state)
)

# What each computes, with PyTorch's operators, of those that such can take the place of.
NORMALIZATIONS = {PCEN: pcen, PCEN_LAST: pcen_last}
