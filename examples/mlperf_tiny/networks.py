"""The MLPerf Tiny reference networks, with seeded random or with trained weights.

    cmsisnn compile examples/mlperf_tiny/networks.py:ds_cnn --target cortex-m55 ...

Trained weights are not part of this project. `WEIGHTS_VARIABLE` names a folder with
one NAME.npz per network: arrays "00.weight", "00.bias", ... in the order of the
layers, with batch norm folded (no bias for a layer without one), and "check.input_nhwc" /
"check.output", inputs and the outputs of the original network.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np
import torch
from torch import nn

from . import autoencoder as _autoencoder
from . import ds_cnn as _ds_cnn
from . import mobilenet_v1 as _mobilenet_v1
from . import resnet8 as _resnet8
from . import streaming_wakeword as _streaming_wakeword
from .layers import randomize

WEIGHTS_VARIABLE = "MLPERF_TINY_WEIGHTS"


@dataclass(frozen=True)
class Network:
    """A network: `build(batch_norm)` creates the module, `weights` names the file with trained weights."""

    name: str
    build: Callable[[bool], nn.Module]
    input_shape: tuple[int, ...]
    weights: str
    is_classifier: bool = True

    def random(self, seed: int = 0) -> nn.Module:
        """Returns the module with seeded random weights and batch norm statistics."""
        return randomize(self.build(True), seed)

    def trained(self, folder: Path) -> nn.Module:
        """Returns the module with the weights in `folder`; ValueError if they do not fit."""
        module = self.build(False)
        layers = [m for m in module.modules() if isinstance(m, (nn.Conv1d, nn.Conv2d, nn.Linear))]
        arrays = self._load(folder)
        names = sorted({key.split(".")[0] for key in arrays if key.endswith(".weight")})
        if len(names) != len(layers):
            raise ValueError(f"{self.weights} has {len(names)} layers, {self.name} has {len(layers)}")
        with torch.no_grad():
            for name, layer in zip(names, layers):
                weight = torch.from_numpy(arrays[f"{name}.weight"])
                if weight.shape != layer.weight.shape:
                    raise ValueError(
                        f"{self.weights}: {name}.weight is {list(weight.shape)}, "
                        f"{self.name} needs {list(layer.weight.shape)}"
                    )
                layer.weight.copy_(weight)
                if layer.bias is not None:
                    layer.bias.copy_(torch.from_numpy(arrays[f"{name}.bias"]))
        return module.eval()

    def check_data(self, folder: Path) -> tuple[np.ndarray, np.ndarray]:
        """Returns inputs (NCHW) and the float outputs of the original network."""
        arrays = self._load(folder)
        inputs = arrays["check.input_nhwc"]
        if inputs.ndim == 4:
            inputs = np.ascontiguousarray(inputs.transpose(0, 3, 1, 2))
        return inputs, arrays["check.output"]

    def random_inputs(self, count: int, seed: int = 1) -> torch.Tensor:
        """Returns `count` seeded inputs, (count, ...), standard normal."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn((count, *self.input_shape[1:]), generator=generator)

    def _load(self, folder: Path) -> dict[str, np.ndarray]:
        path = Path(folder) / self.weights
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist: give the folder that holds {self.weights}")
        with np.load(path) as data:
            return dict(data)


NETWORKS = {
    network.name: network
    for network in (
        Network("ds_cnn", _ds_cnn.DsCnn, _ds_cnn.INPUT_SHAPE, "ds_cnn_kws.npz"),
        Network("resnet8", _resnet8.ResNet8, _resnet8.INPUT_SHAPE, "resnet8_cifar10.npz"),
        Network(
            "mobilenet_v1_025",
            _mobilenet_v1.MobileNetV1,
            _mobilenet_v1.INPUT_SHAPE,
            "mobilenet_v1_025_vww.npz",
        ),
        Network(
            "autoencoder",
            _autoencoder.Autoencoder,
            _autoencoder.INPUT_SHAPE,
            "autoencoder_toycar.npz",
            is_classifier=False,
        ),
    )
}

# Not one of NETWORKS: of the four others there are trained weights with inputs and outputs to check.
STREAMING_WAKEWORD = Network(
    "streaming_wakeword",
    _streaming_wakeword.StreamingWakeword,
    _streaming_wakeword.INPUT_SHAPE,
    "streaming_wakeword.npz",
)


def weights_folder() -> Optional[Path]:
    """Returns the folder named by MLPERF_TINY_WEIGHTS, if that is set."""
    folder = os.environ.get(WEIGHTS_VARIABLE)
    return Path(folder) if folder else None


def _model(name: str) -> tuple[nn.Module, tuple[torch.Tensor]]:
    network = NETWORKS[name]
    folder = weights_folder()
    module = network.trained(folder) if folder else network.random()
    return module, (network.random_inputs(1),)


def ds_cnn() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Keyword spotting: (1, 1, 49, 10) -> (1, 12)."""
    return _model("ds_cnn")


def resnet8() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Image classification: (1, 3, 32, 32) -> (1, 10)."""
    return _model("resnet8")


def mobilenet_v1_025() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Visual wake words: (1, 3, 96, 96) -> (1, 2)."""
    return _model("mobilenet_v1_025")


def autoencoder() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Anomaly detection: (1, 640) -> (1, 640)."""
    return _model("autoencoder")
