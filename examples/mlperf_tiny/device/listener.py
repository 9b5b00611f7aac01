"""The streaming wake word benchmark from samples to probabilities, and the training of its network on made words."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from cmsis_nn_delegate.frontend import LogMel, mel_bank
from examples.mlperf_tiny.device import words
from examples.mlperf_tiny.device.words import RATE
from examples.mlperf_tiny.networks import STREAMING_WAKEWORD

HOP = 512  # samples of each inference, 32 ms
FRAME = 1024
FRAMES = 30  # that the network sees
BANDS = 40
SAMPLES = FRAME + (FRAMES - 1) * HOP + 1  # one before the first frame, for pre-emphasis
WARM_UP = 31  # inferences until that many have come
WAKE, SILENCE, OTHER = range(3)  # the network's classes

_EMPHASIS = 1 - 2**-5
_RANGE_DB = 64  # of a feature from 0 to 1
_OFFSET_DB = 52 - 10 * math.log10(FRAME)
_TRAINING_WORDS = 300
_UNSURE = -1  # the class of windows in which a wake word begins or ends
_BATCHES, _BATCH = 150, 126

# Written by write_data.py. In a build it does not lie beside this file, but in the folder of the program's data.
_WEIGHTS = Path("examples/mlperf_tiny/device/sww01/streaming_wakeword.npz")


class Listener(nn.Module):
    """(N, SAMPLES) from -1 to 1 -> (N, 3), the probabilities of the wake word, of silence and of other sounds, and
    (N, FRAMES, BANDS), the features from 0 to 1.

    The features are those of the benchmark: pre-emphasis, energies of frames with a Hamming window divided by their
    length, 40 bands of the HTK scale from 0 to 8 kHz, and decibels, of which those from -52 to 12 become 0 to 1. As
    factor and offset are part of the bank and the gain, nothing is computed after the logarithm but the limits.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        bank = mel_bank(RATE, FRAME, BANDS, 0.0, RATE / 2, triangles="mel") * 10 ** (_OFFSET_DB / 10)
        self.features = LogMel(
            RATE,
            window_length=FRAME,
            hop=HOP,
            bank=bank,
            eps=0.05,  # 0.003 of a feature at 0 dB, and a lower limit for what 8 bits have to hold
            gain=10 / math.log(10) / _RANGE_DB,
            window=torch.hamming_window(FRAME, periodic=False),
        )
        self.network = network

    def frames(self, samples: torch.Tensor) -> torch.Tensor:
        """(N, samples) -> (N, frames, BANDS): a frame for each HOP samples, from the second sample on."""
        return self.features(samples[:, 1:] - _EMPHASIS * samples[:, :-1]).clamp(0, 1)

    def forward(self, samples: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.frames(samples)
        return self.network(features.transpose(1, 2)), features


def as_float(samples: np.ndarray) -> torch.Tensor:
    """Returns int16 samples (..., count) as the network takes them: float32 from -1 to 1."""
    return torch.from_numpy(samples.astype(np.float32) / 32768)


def windows(samples: np.ndarray) -> np.ndarray:
    """Returns the windows of a tape, one for each HOP samples: (count, SAMPLES), float32 from -1 to 1."""
    return as_float(np.lib.stride_tricks.sliding_window_view(samples, SAMPLES)[::HOP]).numpy()


def trained_weights() -> dict[str, np.ndarray]:
    """Trains on a tape of made words, and returns the weights as a file of `networks.py` has them. Training is
    seeded."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # results stay the same everywhere
    random = np.random.default_rng(0)
    network = STREAMING_WAKEWORD.build(True)
    tape = words.tape(random, _TRAINING_WORDS)
    with torch.no_grad():
        frames = Listener(network).frames(as_float(tape.samples)[None])[0]
    seen = frames.unfold(0, FRAMES, 1)  # (count, BANDS, FRAMES)
    classes = torch.from_numpy(_classes(tape, len(seen)))
    by_class = [torch.nonzero(classes == c)[:, 0] for c in (WAKE, SILENCE, OTHER)]
    optimizer = torch.optim.Adam(network.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=_BATCHES)
    logits = nn.Sequential(network.features, *network.classifier[:-1])
    for _ in range(_BATCHES):
        chosen = torch.cat([some[torch.from_numpy(random.integers(len(some), size=_BATCH // 3))] for some in by_class])
        optimizer.zero_grad()
        functional.cross_entropy(logits(seen[chosen]), classes[chosen]).backward()
        optimizer.step()
        schedule.step()
    return _folded(network.eval())


def _classes(tape: words.Tape, count: int) -> np.ndarray:
    """Returns the class of each of the first `count` windows: that of a wake word which is in it as a whole."""
    starts = np.arange(count) * HOP
    stops = starts + SAMPLES
    classes = np.full(count, SILENCE, np.int64)
    for word in tape.words:
        touched = (starts < word.stop) & (stops > word.start)
        classes[touched & (classes == SILENCE)] = OTHER
    for word in tape.words:
        if word.wakes:
            classes[(starts < word.stop) & (stops > word.start) & (classes != WAKE)] = _UNSURE
            classes[(starts <= word.start) & (stops >= word.stop)] = WAKE
    return classes


def _folded(network: nn.Module) -> dict[str, np.ndarray]:
    """Returns the weights in the order of the layers, batch norm folded into the convolution before it."""
    found: list[dict[str, torch.Tensor]] = []
    for layer in network.modules():
        if isinstance(layer, (nn.Conv1d, nn.Linear)):
            found.append({"weight": layer.weight.detach()})
            if layer.bias is not None:
                found[-1]["bias"] = layer.bias.detach()
        elif isinstance(layer, nn.BatchNorm1d):
            factor = layer.weight.detach() / torch.sqrt(layer.running_var + layer.eps)
            found[-1]["weight"] = found[-1]["weight"] * factor[:, None, None]
            found[-1]["bias"] = layer.bias.detach() - layer.running_mean * factor
    return {f"{i:02}.{name}": array.numpy() for i, arrays in enumerate(found) for name, array in arrays.items()}


def listener() -> Listener:
    """Returns it with the weights that the build has trained, or found in the folder of trained ones."""
    found = [Path(folder) / _WEIGHTS for folder in sys.path if (Path(folder) / _WEIGHTS).is_file()]
    if not found:
        raise FileNotFoundError(f"{_WEIGHTS} is in no folder of sys.path: write_data.py writes it")
    return Listener(STREAMING_WAKEWORD.trained(found[0].parent)).eval()
