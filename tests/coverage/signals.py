"""Sequences of inputs that look like signals: `signals`.

Numbers that are drawn anew in each step would make a recurrent network forget: its states would stay near their means.
Signals are slow, change their volume, and are silent at times."""

from __future__ import annotations

from typing import Optional

import torch

from tests.coverage.networks import WORDS

_FOLLOWERS = 6  # words that may come after a word
_WAVES = 4


def signals(
    example: torch.Tensor, count: int, generator: torch.Generator, time: Optional[int] = None
) -> list[torch.Tensor]:
    """Returns inputs like `example` for `count` inferences, one after the other. If `time` is one of its dimensions,
    each has as many steps as this is long, and the next one goes on where it ends; otherwise each is one step."""
    if not example.is_floating_point():
        return _text(example, count, generator)
    steps = 1 if time is None else example.shape[time]
    channels = example.numel() // steps
    signal = _signal(count * steps, channels, generator)
    if time is None:
        return [step.reshape(example.shape) for step in signal]
    others = [size for dim, size in enumerate(example.shape) if dim != time]
    return [part.reshape(steps, *others).movedim(0, time).contiguous() for part in signal.split(steps)]


def _signal(steps: int, channels: int, generator: torch.Generator) -> torch.Tensor:
    """Returns [steps, channels]: waves that all channels have in part, and noise of each, at a changing volume. The
    source is always the same; `generator` says when it is recorded."""
    source = torch.Generator().manual_seed(7)
    at = torch.arange(steps).unsqueeze(1)
    # Periods from a few steps to a few hundred.
    periods = torch.exp(1.5 + 4 * torch.rand(_WAVES, generator=source))
    delays = 6.28 * torch.rand(channels, _WAVES, generator=source)
    shares = torch.randn(channels, _WAVES, generator=source) / _WAVES**0.5
    phases = 6.28 * torch.rand(_WAVES, generator=generator)
    waves = (torch.sin(6.28 * at.unsqueeze(2) / periods + delays + phases) * shares).sum(2)
    noise = 0.5 * torch.randn(steps, channels, generator=generator)
    # Louder and softer every few hundred steps, and silent for a fifth of the time.
    loudness = torch.sin(6.28 * (at / 190 + torch.rand(1, generator=generator))) + torch.sin(6.28 * at / 73)
    return (waves + noise) * torch.clamp(0.4 + 0.6 * loudness, 0.02, 1.5)


def _text(example: torch.Tensor, count: int, generator: torch.Generator) -> list[torch.Tensor]:
    """Returns words of which each is followed by one of few, as in text."""
    followers = torch.randint(WORDS, (WORDS, _FOLLOWERS), generator=torch.Generator().manual_seed(7))
    choices = torch.randint(_FOLLOWERS, (count, example.numel()), generator=generator)
    word, found = 0, []
    for row in choices:
        words = []
        for choice in row:
            word = int(followers[word, choice])
            words.append(word)
        found.append(torch.tensor(words, dtype=example.dtype).reshape(example.shape))
    return found
