"""Handwritten digits: the data, a small convolutional network and its training.

The data is scikit-learn's copy of the UCI "Optical Recognition of Handwritten
Digits" test set: 1,797 real images of 8 x 8 pixels with values from 0 to 16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Optional

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 0
INPUT_SHAPE = (1, 1, 8, 8)


@dataclass(frozen=True)
class Digits:
    """Images, (count, 1, 8, 8) float32 in [0, 1], and labels, (count,) int64."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load(test_fraction: float = 0.2) -> Digits:
    """Returns the data with a fixed split: every class has its share of the held-out part."""
    data = load_digits()
    images = (data.images / 16.0).astype(np.float32)[:, None]
    train_x, test_x, train_y, test_y = train_test_split(
        images, data.target, test_size=test_fraction, random_state=SEED, stratify=data.target
    )
    return Digits(train_x, train_y, test_x, test_y)


class DigitsNet(nn.Module):
    """(N, 1, 8, 8) -> (N, 10) probabilities: a convolution, a separable residual block, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.block = nn.Sequential(
            nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 16, 1, bias=False),
            nn.BatchNorm2d(16),
        )
        self.activation = nn.ReLU()
        self.classifier = nn.Sequential(
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(32 * 4 * 4, 10),
        )
        self.probabilities = nn.Softmax(dim=1)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        return self.classifier(self.activation(x + self.block(x)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.probabilities(self.logits(x))


def _batches(count: int, size: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
    order = torch.randperm(count, generator=generator)
    for start in range(0, count, size):
        yield order[start : start + size]


def train(
    digits: Digits,
    model: Optional[nn.Module] = None,
    epochs: int = 20,
    progress: Callable[[str], None] = lambda line: None,
) -> nn.Module:
    """Trains a network and returns it in evaluation mode: `model`, which has a method `logits`, or a `DigitsNet`.

    Training is seeded: the same data gives the same `DigitsNet`.
    """
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # batches are too small for several threads, and results stay the same everywhere
    generator = torch.Generator().manual_seed(SEED)
    model = model or DigitsNet()
    images = torch.from_numpy(digits.train_images)
    labels = torch.from_numpy(digits.train_labels).long()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for batch in _batches(len(images), 32, generator):
            optimizer.zero_grad()
            loss = loss_function(model.logits(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        schedule.step()
        progress(f"epoch {epoch + 1:2}/{epochs}  loss {total / len(images):.4f}")
    return model.eval()


def accuracy(scores: np.ndarray, labels: np.ndarray) -> float:
    """Returns the share of rows of `scores` (count, classes) whose largest entry is the label's."""
    return float((scores.argmax(axis=1) == labels).mean())
