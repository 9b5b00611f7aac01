"""Quantization-aware training on real data: how well a network classifies in float, quantized after training, and
trained further with quantization.

Usage:

    ./bazelw run //examples/digits:qat

All weights of a layer share one scale here (`weights="per-tensor"`), which is less exact than the default: batch norms
make the channels of depthwise layers differ in size, and the small ones are rounded to few numbers. Even so these
images keep their classes; the loss shows that training with quantization goes on from where training in float ended:

    float                               accuracy 98.89%  loss 0.0465
    int8, quantized after training      accuracy 98.89%  loss 0.0456
    int8, trained with quantization     accuracy 99.17%  loss 0.0403

README.md goes on from here to a firmware.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import torch
from torch import nn
from torch.fx import GraphModule
from torchao.quantization.pt2e import (
    move_exported_model_to_eval,
    move_exported_model_to_train,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig, convert_trained, quantizable_module
from examples.digits import digits

EPOCHS, FURTHER_EPOCHS = 8, 2
BATCH = 30  # divides the number of held-out images; the graphs have a fixed batch size
WEIGHTS = QuantizationConfig(weights="per-tensor")


class Separable(nn.Module):
    """(N, 1, 8, 8) -> (N, 10) logits: a batch norm of the input, depthwise and pointwise layers, and a classifier."""

    def __init__(self) -> None:
        super().__init__()

        def layer(inputs: int, outputs: int, kernel: int, groups: int = 1) -> nn.Module:
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU6(),
            )

        blocks = [layer(16, 16, kernel, groups) for _ in range(3) for kernel, groups in ((3, 16), (1, 1))]
        self.features = nn.Sequential(nn.BatchNorm2d(1), layer(1, 16, 3), *blocks)
        self.classifier = nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return self(x)


class Score(NamedTuple):
    """Of the held-out images: the share that is classified rightly, and the mean cross entropy."""

    accuracy: float
    loss: float


def score(model: Callable[[torch.Tensor], torch.Tensor], data: digits.Digits) -> Score:
    with torch.no_grad():
        logits = torch.cat([model(batch) for batch in torch.from_numpy(data.test_images).split(BATCH)])
    loss = nn.functional.cross_entropy(logits, torch.from_numpy(data.test_labels).long())
    return Score(digits.accuracy(logits.numpy(), data.test_labels), float(loss))


def quantize_after_training(model: nn.Module, data: digits.Digits) -> GraphModule:
    images = torch.from_numpy(data.train_images)
    module = quantizable_module(torch.export.export(model.eval(), (images[:BATCH],)))
    prepared = prepare_pt2e(module, CmsisNnQuantizer("minmax").set_global(WEIGHTS))
    with torch.no_grad():
        for start in range(0, 10 * BATCH, BATCH):
            prepared(images[start : start + BATCH])
    return convert_pt2e(prepared)


def quantize_in_training(model: nn.Module, data: digits.Digits) -> GraphModule:
    """Returns `model`, trained further with quantization and converted. It takes batches of any size."""
    images, labels = torch.from_numpy(data.train_images), torch.from_numpy(data.train_labels).long()
    module = quantizable_module(torch.export.export(model.train(), (images[:BATCH],)))
    prepared = prepare_qat_pt2e(module, CmsisNnQuantizer(qat=True).set_global(WEIGHTS))
    move_exported_model_to_train(prepared)
    generator = torch.Generator().manual_seed(digits.SEED)
    optimizer = torch.optim.Adam(prepared.parameters(), lr=4e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, FURTHER_EPOCHS)
    for _ in range(FURTHER_EPOCHS):
        for batch in torch.randperm(len(images), generator=generator).split(BATCH):
            if len(batch) == BATCH:
                optimizer.zero_grad()
                nn.functional.cross_entropy(prepared(images[batch]), labels[batch]).backward()
                optimizer.step()
        schedule.step()
    move_exported_model_to_eval(prepared)
    return convert_trained(prepared)


def train(data: digits.Digits, progress: Callable[[str], None] = lambda line: None) -> nn.Module:
    """Returns the float network."""
    torch.manual_seed(digits.SEED)
    return digits.train(data, Separable(), EPOCHS, progress)


def compare(progress: Callable[[str], None] = lambda line: None) -> dict[str, Score]:
    """Returns the scores, by how the network is quantized."""
    data = digits.load()
    model = train(data, progress)
    return {
        "float": score(model, data),
        "int8, quantized after training": score(quantize_after_training(model, data), data),
        "int8, trained with quantization": score(quantize_in_training(model, data), data),
    }


def main() -> int:
    for name, found in compare(progress=print).items():
        print(f"  {name:34}  accuracy {found.accuracy:.2%}  loss {found.loss:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
