"""Features of sound as a PyTorch operator: `torch.ops.cmsis_nn_delegate.log_mel`.

    log_mel(samples, window, bank, hop, fft_length, power, eps, gain)
        = gain * ln(|rfft(window * frames)|^power @ bank + eps)

`samples` is float [..., samples], `window` float [frame_length], `bank` float [fft_length / 2 + 1, bands]. Frame t has
the samples from t * hop to t * hop + frame_length - 1; what is left behind the last whole frame counts nowhere. A frame
is padded with zeros to `fft_length`, a power of two. The result is float [..., frames, bands].

It is one operator because what lies between has no scale that would suit 16 bits: the powers of loud and quiet sounds
differ by a factor of 10^9. `frontend.LogMel` makes its window and bank. It has gradients, of samples, window and
bank.
"""

from __future__ import annotations

from typing import Any

import torch

from . import recurrent_ops  # noqa: F401  declares the library

# Types of modules whose functions compute cepstral coefficients of logarithms.
CEPSTRAL: set[str] = set()

_library: Any = torch.library.Library("cmsis_nn_delegate", "FRAGMENT")  # type: ignore[no-untyped-call]  # torch's


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


def _save(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs[:3])
    ctx.numbers = inputs[3:]


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    with torch.enable_grad():
        inputs = [tensor.detach().requires_grad_(True) for tensor in ctx.saved_tensors]
        result = log_mel(*inputs, *ctx.numbers)
    return (*torch.autograd.grad(result, inputs, gradient), *(None for _ in ctx.numbers))


def _out(*arguments: Any, out: torch.Tensor) -> torch.Tensor:
    return out.copy_(log_mel(*arguments))


_ARGUMENTS = "Tensor samples, Tensor window, Tensor bank, int hop, int fft_length, int power, float eps, float gain"
_library.define(f"log_mel({_ARGUMENTS}) -> Tensor")
_library.impl("log_mel", log_mel, "CompositeExplicitAutograd")
# ExecuTorch asks for it where a program calls the operator outside of the delegate.
_library.define(f"log_mel.out({_ARGUMENTS}, *, Tensor(a!) out) -> Tensor(a!)")
_library.impl("log_mel.out", _out, "CompositeExplicitAutograd")
torch.library.register_fake("cmsis_nn_delegate::log_mel", _shape, lib=_library)
torch.library.register_autograd("cmsis_nn_delegate::log_mel", _backward, setup_context=_save, lib=_library)

LOG_MEL = torch.ops.cmsis_nn_delegate.log_mel.default
