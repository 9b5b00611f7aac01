"""Trains the networks of `format_networks.py`, each in a few minutes of one core.

Other machines round otherwise, so that they train slightly different weights.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tests.coverage.format_data import Part, digits_on_photos, generator_of, noisy_crops, sounds

UNET_WEIGHTS = Path(__file__).with_name("format_unet.npz")


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Keeps PyTorch on one core, where sums have one order, and threads do not wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def _training(module: nn.Module) -> Iterator[torch.Generator]:
    """Trains on one core; gives the generator of the data, and leaves the module in eval mode."""
    with on_one_core():
        module.train()
        yield generator_of(Part.TRAINING)
        module.eval()


class _Descent:
    """AdamW, whose rate rises for the first tenth of all steps and then falls as a cosine."""

    def __init__(self, module: nn.Module, rate: float, steps: int) -> None:
        self._parameters = list(module.parameters())
        self._optimizer = torch.optim.AdamW(self._parameters, lr=rate, weight_decay=1e-3)
        rise = max(1, steps // 10)
        self._rates = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer,
            lambda step: min((step + 1) / rise, 0.5 + 0.5 * math.cos(math.pi * max(0, step - rise) / (steps - rise))),
        )

    def step(self, loss: torch.Tensor) -> None:
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimizer.step()
        self._rates.step()


def train_unet(module: nn.Module, steps: int = 3000, batch: int = 16) -> None:
    """Teaches a network to take noise off photographs."""
    with _training(module) as generator:
        descent = _Descent(module, 3e-3, steps)
        for _ in range(steps):
            noisy, clean = noisy_crops(Part.TRAINING, batch, generator)
            descent.step(255 * F.mse_loss(module(noisy), clean))


def train_classifier(module: nn.Module, steps: int = 1200, batch: int = 64) -> None:
    """Teaches a network to tell digits on photographs."""
    with _training(module) as generator:
        module.to(memory_format=torch.channels_last)  # a third faster
        descent = _Descent(module, 3e-3, steps)
        for _ in range(steps):
            images, labels = digits_on_photos(Part.TRAINING, batch, generator)
            images = images.to(memory_format=torch.channels_last)
            descent.step(F.cross_entropy(module(images), labels, label_smoothing=0.05))
        module.to(memory_format=torch.contiguous_format)


def train_denoiser(module: nn.Module, steps: int = 150, batch: int = 64, length: int = 80) -> None:
    """Teaches a network that keeps its state in buffers to find gains of bands, step by step through sequences."""
    initial = {name: state.clone() for name, state in module.named_buffers()}
    with _training(module) as generator:
        descent = _Descent(module, 4e-3, steps)
        for _ in range(steps):
            data = sounds(batch, length, generator)
            for name, state in initial.items():
                setattr(module, name, state.expand(batch, -1).clone())
            # Each step overwrites the states that the gradients of the step before need.
            with torch.autograd.graph.allow_mutation_on_saved_tensors():
                outputs = [module(data.features[:, step]) for step in range(length)]
                gains, sounding = (torch.stack(output, 1) for output in zip(*outputs))
                # The square root as in the paper: errors of small gains are heard, too.
                difference = (gains + 1e-3).sqrt() - (data.gains + 1e-3).sqrt()
                found = F.binary_cross_entropy(sounding[..., 0], data.sounding)
                descent.step(10 * difference.square().mean() + 0.5 * found)
    for name, state in initial.items():
        setattr(module, name, state)


def keep(module: nn.Module, path: Path) -> None:
    """Writes parameters and buffers as float16."""
    np.savez_compressed(path, **{name: value.half().numpy() for name, value in module.state_dict().items()})


def restore(module: nn.Module, path: Path) -> None:
    """Gives a module the parameters and buffers that `keep` wrote."""
    with np.load(path) as kept:
        module.load_state_dict({name: torch.from_numpy(kept[name]).float() for name in kept.files})
