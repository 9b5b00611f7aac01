"""The networks of examples/mlperf_tiny as an image of the benchmark has them: weights, and how inputs are sent.

With trained weights (`MLPERF_TINY_WEIGHTS`, see ../networks.py) they are calibrated with the inputs that come with
these, and with random ones otherwise. Streaming wake word, `sww01`, is calibrated with made words: see listener.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from examples.mlperf_tiny.device.listener import SAMPLES as WINDOW
from examples.mlperf_tiny.device.listener import Listener, listener
from examples.mlperf_tiny.networks import NETWORKS, weights_folder

SAMPLES = 8
_RECONSTRUCTIONS = 20


@dataclass(frozen=True)
class Benchmark:
    """One benchmark of MLPerf Tiny. `network` takes factor * (number - zero) of each `dtype` that is sent, in the order
    of its memory (NHWC)."""

    network: str
    dtype: str
    factor: float = 1.0
    zero: int = 0

    def sent(self) -> np.ndarray:
        """Returns what the runner sends for the inputs that come with the weights, or for random ones: (SAMPLES, ...),
        as images have it (NHWC)."""
        network, folder = NETWORKS[self.network], weights_folder()
        if folder is None:
            draw = np.random.default_rng(0)
            shape = (SAMPLES, *self._nhwc(network.input_shape)[1:])
            if self.dtype == "float32":
                return draw.standard_normal(shape, np.float32)
            bounds = np.iinfo(self.dtype)
            return draw.integers(bounds.min, bounds.max, shape, self.dtype, endpoint=True)
        inputs = network.check_data(folder)[0][:SAMPLES]
        inputs = inputs.transpose(0, 2, 3, 1) if inputs.ndim == 4 else inputs
        if self.dtype == "float32":
            return self._reconstructed(inputs)
        bounds = np.iinfo(self.dtype)
        return np.clip(np.rint(inputs / self.factor) + self.zero, bounds.min, bounds.max).astype(self.dtype)

    def _reconstructed(self, inputs: np.ndarray) -> np.ndarray:
        """Returns inputs of an autoencoder that it reconstructs well, as it does normal sounds: those that come with
        the weights are noise."""
        module = self.module().eval()
        found = torch.from_numpy(inputs)
        with torch.no_grad():
            for _ in range(_RECONSTRUCTIONS):
                found = module(found)
        return found.numpy() + 0.3 * inputs.astype(np.float32)

    def taken(self, sent: np.ndarray) -> np.ndarray:
        """Returns what the network takes, float32 in NCHW, computed as device.cc does."""
        difference = (sent - np.float32(self.zero)) if self.dtype == "float32" else sent.astype(np.int32) - self.zero
        real = np.float32(self.factor) * difference.astype(np.float32)
        return real.transpose(0, 3, 1, 2) if real.ndim == 4 else real

    def module(self) -> nn.Module:
        network, folder = NETWORKS[self.network], weights_folder()
        return network.trained(folder) if folder else network.random()

    @staticmethod
    def _nhwc(shape: tuple[int, ...]) -> tuple[int, ...]:
        return (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape


BENCHMARKS = {
    "kws01": Benchmark("ds_cnn", "int8", 0.5847029089927673, 83),
    "ic01": Benchmark("resnet8", "uint8"),
    "vww01": Benchmark("mobilenet_v1_025", "uint8", 1 / 255),
    "ad01": Benchmark("autoencoder", "float32"),
}


def _model(name: str) -> tuple[nn.Module, tuple[torch.Tensor]]:
    benchmark = BENCHMARKS[name]
    example = torch.from_numpy(benchmark.taken(benchmark.sent()[:1]))
    if example.dim() == 4:
        example = example.contiguous(memory_format=torch.channels_last)
    return benchmark.module(), (example,)


def kws01() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return _model("kws01")


def ic01() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return _model("ic01")


def vww01() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return _model("vww01")


def ad01() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return _model("ad01")


def sww01() -> tuple[Listener, tuple[torch.Tensor]]:
    return listener(), (torch.zeros(1, WINDOW),)
