"""A network that says which key it hears, and its training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from cmsis_nn_delegate.frontend import LogMel
from examples.dial_tones import tones
from examples.dial_tones.tones import KEYS, RATE

SEED = 0
HOP = 320  # samples, 20 ms: of each inference
WINDOW = 512  # samples of a frame
NOTHING = len(KEYS)  # the class of what is no key
FRAMES = 5  # that the network sees
SAMPLES = WINDOW + (FRAMES - 1) * HOP  # of them together

_BANDS, _LOW, _HIGH = 24, 600.0, 1750.0
_CHANNELS = 32
_TRAINING_KEYS = 1500
_UNSURE = -1  # the class of frames in which a sound begins or ends
_BATCHES, _BATCH = 360, 256


class Detector(nn.Module):
    """(N, samples) -> (N, 17): the probabilities of the keys, and of nothing, in the middle of the last five frames.

    Energies of bands, and then convolutions over the frames. None is padded: each result depends on five frames and on
    nothing before them, so that the network can stream.
    """

    def __init__(self) -> None:
        super().__init__()
        self.features = LogMel(
            RATE, window_length=WINDOW, hop=HOP, bands=_BANDS, low=_LOW, high=_HIGH, eps=1e-3, triangles="mel"
        )
        self.layers = nn.Sequential(
            nn.Conv1d(_BANDS, _CHANNELS, 3),
            nn.BatchNorm1d(_CHANNELS),
            nn.ReLU(),
            nn.Conv1d(_CHANNELS, _CHANNELS, 3),
            nn.BatchNorm1d(_CHANNELS),
            nn.ReLU(),
            nn.Conv1d(_CHANNELS, NOTHING + 1, 1),
        )

    def probabilities(self, samples: torch.Tensor) -> torch.Tensor:
        """(N, samples) -> (N, frames - 4, 17)."""
        return torch.softmax(self.layers(self.features(samples).transpose(1, 2)), 1).transpose(1, 2)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layers(self.features(samples).transpose(1, 2))[:, :, -1], 1)


def as_float(samples: np.ndarray) -> torch.Tensor:
    """Returns int16 samples as the network takes them: (1, count), from -1 to 1."""
    return torch.from_numpy(samples.astype(np.float32) / 32768)[None]


def train(progress: Callable[[str], None] = lambda line: None) -> Detector:
    """Trains on a tape of random keys, and returns the network in evaluation mode. Training is seeded."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # batches are too small for several threads, and results stay the same everywhere
    random = np.random.default_rng(SEED)
    model = Detector()
    tape = tones.tape(random, _TRAINING_KEYS)
    with torch.no_grad():
        frames = model.features(as_float(tape.samples))[0]  # (count, bands): nothing in it is trained
    windows = frames.unfold(0, FRAMES, 1)  # (count - 4, bands, 5)
    classes = torch.from_numpy(_classes(tape, len(frames)))[FRAMES // 2 : len(frames) - FRAMES // 2]
    windows, classes = windows[classes != _UNSURE], classes[classes != _UNSURE]
    progress(f"{len(windows):,} windows of {len(tape.samples) / RATE:.0f} s with {len(tape.presses):,} keys")
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=_BATCHES)
    for batch in range(_BATCHES):
        chosen = torch.from_numpy(random.integers(len(windows), size=_BATCH))
        optimizer.zero_grad()
        loss = functional.cross_entropy(model.layers(windows[chosen])[:, :, 0], classes[chosen])
        loss.backward()
        optimizer.step()
        schedule.step()
        if (batch + 1) % (_BATCHES // 6) == 0:
            progress(f"batch {batch + 1}/{_BATCHES}  loss {loss.item():.4f}")
    return model.eval()


def _classes(tape: tones.Tape, frames: int) -> np.ndarray:
    """Returns the class of each frame: that of a key which sounds in the middle half of the frame, at least."""
    classes = np.full(frames, NOTHING, np.int64)
    quarter = WINDOW // 4
    starts = np.arange(frames) * HOP
    for press in tape.presses:
        touched = (starts + 3 * quarter > press.start) & (starts + quarter < press.stop)
        filled = (starts + quarter >= press.start) & (starts + 3 * quarter <= press.stop)
        classes[touched] = _UNSURE
        classes[filled] = press.key
    return classes
