"""Handwritten digits that pass under a line camera, and a network that reads them: the data, the network, its training.

A line camera sees one column of pixels at a time. Nobody tells it where a digit begins or ends; the network has to
remember what it has seen of one, and says which it was in the two columns behind it.

The digits are real: scikit-learn's 8 x 8 images, of which a part is held out (`examples.digits`). The script only puts
them in a row, in random order, with 2 to 6 empty columns in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from examples.digits import digits
from examples.score import Score

SEED = 0
ROWS = 8
NOTHING = 10  # the class of all columns in which no digit has just ended
SAID = 2  # columns behind a digit in which the network says which it was
_GAPS = 2, 6  # columns between digits

_BATCHES, _BATCH, _COLUMNS = 320, 24, 72  # of training


@dataclass(frozen=True)
class Tape:
    """What the camera sees: `columns`, (8, count) float32 in [0, 1]; `classes`, (count,), what the network should say
    in each; `ends`, of each digit the column behind it, and the digit."""

    columns: np.ndarray
    classes: np.ndarray
    ends: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Reading:
    """A digit that was said, from a column on."""

    column: int
    digit: int


def tape(images: np.ndarray, labels: np.ndarray, random: np.random.Generator, count: int) -> Tape:
    """Returns `count` different images, (..., 1, 8, 8), one behind the other."""
    columns = [np.zeros((ROWS, _GAPS[1]), np.float32)]
    classes = [np.full(_GAPS[1], NOTHING)]
    ends = []
    end = _GAPS[1]
    for index in random.permutation(len(images))[:count]:
        gap = int(random.integers(_GAPS[0], _GAPS[1], endpoint=True))
        columns += [images[index, 0], np.zeros((ROWS, gap), np.float32)]
        said = np.full(ROWS + gap, NOTHING)
        said[ROWS : ROWS + SAID] = labels[index]
        classes.append(said)
        ends.append((end + ROWS, int(labels[index])))
        end += ROWS + gap
    return Tape(np.concatenate(columns, 1), np.concatenate(classes), tuple(ends))


class LineReader(nn.Module):
    """(N, 8, columns) -> (N, 11): the probabilities of the digits, and of nothing, behind the last column.

    The convolutions are padded at the start alone: no column waits for later ones, so that the network can stream.
    """

    def __init__(self, channels: int = 32, hidden: int = 48) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(ROWS, channels, 3), nn.Conv1d(channels, channels, 3)
        self.gru = nn.GRU(channels, hidden, batch_first=True)
        self.out = nn.Linear(hidden, NOTHING + 1)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """(N, 8, columns) -> (N, columns, 11)."""
        x = functional.relu(self.first(functional.pad(x, (2, 0))))
        x = functional.relu(self.second(functional.pad(x, (2, 0))))
        steps, _ = self.gru(x.transpose(1, 2))
        return self.out(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.logits(x)[:, -1], -1)


def train(data: digits.Digits, progress: Callable[[str], None] = lambda line: None) -> LineReader:
    """Trains on tapes of the training images, and returns the network in evaluation mode. Training is seeded."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # batches are too small for several threads, and results stay the same everywhere
    random = np.random.default_rng(SEED)
    model = LineReader()
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=_BATCHES)
    weights = torch.ones(NOTHING + 1)
    weights[NOTHING] = 0.3  # there are many more of these columns
    for batch in range(_BATCHES):
        columns, classes = _batch(data, random)
        optimizer.zero_grad()
        loss = functional.cross_entropy(model.logits(columns).flatten(0, 1), classes.flatten(), weights)
        loss.backward()
        optimizer.step()
        schedule.step()
        if (batch + 1) % (_BATCHES // 8) == 0:
            progress(f"batch {batch + 1}/{_BATCHES}  loss {loss.item():.4f}")
    return model.eval()


def _batch(data: digits.Digits, random: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    pieces = [piece(data, random, _COLUMNS) for _ in range(_BATCH)]
    columns, classes = (np.stack(part) for part in zip(*pieces))
    return torch.from_numpy(columns), torch.from_numpy(classes)


def piece(data: digits.Digits, random: np.random.Generator, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the columns and classes of a piece of a tape of training images, which may begin within a digit."""
    whole = tape(data.train_images, data.train_labels, random, columns // ROWS + 1)
    start = int(random.integers(0, 2 * ROWS))
    part = slice(start, start + columns)
    if whole.columns.shape[1] < part.stop:
        part = slice(whole.columns.shape[1] - columns, None)
    return whole.columns[:, part], whole.classes[part].astype(np.int64)


def readings(probabilities: np.ndarray) -> list[Reading]:
    """Returns what the network says, (columns, 11), over time: one digit for each run of columns in which it says any,
    the most probable of the run."""
    said = probabilities.argmax(1) != NOTHING
    found = []
    start = 0
    for column in range(len(said)):
        if not said[column]:
            continue
        if not column or not said[column - 1]:
            start = column
        if column + 1 == len(said) or not said[column + 1]:
            digit = int(probabilities[start : column + 1, :NOTHING].sum(0).argmax())
            found.append(Reading(start, digit))
    return found


def score(found: list[Reading], ends: tuple[tuple[int, int], ...]) -> Score:
    """Compares readings with the digits that passed. A reading belongs to a digit that has just ended."""
    left = list(found)
    right = wrong = missed = 0
    for end, digit in ends:
        its = next((reading for reading in left if abs(reading.column - end) <= SAID), None)
        if its is None:
            missed += 1
            continue
        left.remove(its)
        right, wrong = right + (its.digit == digit), wrong + (its.digit != digit)
    return Score(right, wrong, missed, len(left))
