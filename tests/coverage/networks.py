"""Networks of the kinds that people bring to microcontrollers, written for this project: `NETWORKS`.

Each is a small one of its kind: operators and their connections are those of the network that it is named after,
the number of channels and layers is not; only streaming_wakeword is that of MLPerf Tiny. Weights are random, batch
norms have statistics as after training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Optional, Union

import torch
from torch import nn
from torch.nn import functional as F

from examples.mlperf_tiny.streaming_wakeword import INPUT_SHAPE, StreamingWakeword

WORDS = 100  # of the networks that read text


class Network(NamedTuple):
    """A module in eval mode, and one set of its inputs."""

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]


class M5(nn.Module):
    """A keyword network on raw sound [Dai et al. 2016, "Very deep convolutional neural networks for raw waveforms"]."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        widths = [(1, channels, 80, 16), (channels, channels, 3, 1), (channels, 2 * channels, 3, 1)]
        self.blocks = nn.Sequential(
            *(
                nn.Sequential(nn.Conv1d(i, o, k, stride=s), nn.BatchNorm1d(o), nn.ReLU(), nn.MaxPool1d(4))
                for i, o, k, s in widths
            )
        )
        self.classes = nn.Linear(2 * channels, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(x)
        x = F.avg_pool1d(x, x.shape[-1])
        return F.log_softmax(self.classes(x.permute(0, 2, 1)), dim=2)


class TcnBlock(nn.Module):
    """Two causal convolutions and a residual sum."""

    def __init__(self, inputs: int, outputs: int, dilation: int) -> None:
        super().__init__()
        self.cut = 2 * dilation
        self.first = nn.Conv1d(inputs, outputs, 3, padding=self.cut, dilation=dilation)
        self.second = nn.Conv1d(outputs, outputs, 3, padding=self.cut, dilation=dilation)
        self.match = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.first(x)[:, :, : -self.cut])
        y = F.relu(self.second(y)[:, :, : -self.cut])
        return F.relu(y + self.match(x))


def tcn() -> nn.Module:
    """A temporal convolutional network [Bai et al. 2018]."""
    return nn.Sequential(
        TcnBlock(6, 16, 1), TcnBlock(16, 16, 2), TcnBlock(16, 24, 4), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        nn.Linear(24, 6),
    )  # fmt: skip


def _double(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
    )  # fmt: skip


class UNet(nn.Module):
    """A segmentation network with skips [Ronneberger et al. 2015]; `transposed` or with upsampling."""

    def __init__(self, transposed: bool) -> None:
        super().__init__()
        self.first, self.second, self.bottom = _double(3, 8), _double(8, 16), _double(16, 32)
        if transposed:
            self.up2: nn.Module = nn.ConvTranspose2d(32, 16, 2, stride=2)
            self.up1: nn.Module = nn.ConvTranspose2d(16, 8, 2, stride=2)
        else:
            self.up2 = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(32, 16, 3, padding=1))
            self.up1 = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(16, 8, 3, padding=1))
        self.join2, self.join1, self.out = _double(32, 16), _double(16, 8), nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.first(x)
        b = self.second(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        b = self.join2(torch.cat([self.up2(c), b], 1))
        a = self.join1(torch.cat([self.up1(b), a], 1))
        return torch.sigmoid(self.out(a))


class SubSpectralNorm(nn.Module):
    """A batch norm for each band of frequencies."""

    def __init__(self, channels: int, bands: int) -> None:
        super().__init__()
        self.bands = bands
        self.norm = nn.BatchNorm2d(channels * bands)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, c, f, t = x.shape
        return self.norm(x.reshape(n, c * self.bands, f // self.bands, t)).reshape(n, c, f, t)


class BroadcastedBlock(nn.Module):
    """A residual block of a BC-ResNet: the mean over frequencies is computed on and added to all of them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.frequency = nn.Conv2d(channels, channels, (3, 1), padding=(1, 0), groups=channels)
        self.norm = SubSpectralNorm(channels, 4)
        self.time = nn.Conv2d(channels, channels, (1, 3), padding=(0, 1), groups=channels, bias=False)
        self.time_norm = nn.BatchNorm2d(channels)
        self.mix = nn.Conv2d(channels, channels, 1)
        self.dropout = nn.Dropout2d(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.frequency(x))
        z = F.silu(self.time_norm(self.time(y.mean(2, keepdim=True))))
        return F.relu(x + y + self.dropout(self.mix(z)))


def bc_resnet() -> nn.Module:
    """A keyword network [Kim et al. 2021, "Broadcasted residual learning"]."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=(2, 1), padding=2), nn.BatchNorm2d(16), nn.ReLU(),
        BroadcastedBlock(16), BroadcastedBlock(16),
        nn.Conv2d(16, 12, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    )  # fmt: skip


def _conv_silu(inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs), nn.SiLU()
    )


class YoloHead(nn.Module):
    """Two scales of a detector: features joined after upsampling, boxes and classes for each cell."""

    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.stem, self.small, self.large = _conv_silu(3, 8, 3, 2), _conv_silu(8, 16, 3, 2), _conv_silu(16, 32, 3, 2)
        self.reduce, self.join = _conv_silu(32, 16, 1), _conv_silu(32, 16)
        self.heads = nn.ModuleList(nn.Conv2d(c, 3 * (5 + classes), 1) for c in (16, 32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        small = self.small(self.stem(x))
        large = self.large(small)
        small = self.join(torch.cat([F.interpolate(self.reduce(large), scale_factor=2, mode="nearest"), small], 1))
        found = []
        for head, features in zip(self.heads, (small, large)):
            y = head(features)
            n, c, h, w = y.shape
            found.append(y.view(n, 3, c // 3, h, w).permute(0, 1, 3, 4, 2).reshape(n, 3 * h * w, c // 3))
        y = torch.cat(found, 1)
        place, score = y.split([4, y.shape[2] - 4], 2)
        return torch.cat([place, score.sigmoid()], 2)


class Encoder(nn.Module):
    """A transformer encoder: patches of a spectrogram with positions, two layers, a mean over them."""

    def __init__(self, tokens: int = 24, width: int = 64) -> None:
        super().__init__()
        self.embed = nn.Linear(40, width)
        self.position = nn.Parameter(0.1 * torch.randn(1, tokens, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm, self.classes = nn.LayerNorm(width), nn.Linear(width, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layers(self.embed(x) + self.position)
        return self.classes(self.norm(x).mean(1))


class TextClassifier(nn.Module):
    """A bag of words: the mean of the words' vectors [Joulin et al. 2016, "Bag of tricks for efficient text
    classification"]."""

    def __init__(self, words: int = WORDS, width: int = 32) -> None:
        super().__init__()
        self.words, self.classes = nn.Embedding(words, width, padding_idx=0), nn.Linear(width, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classes(self.words(x).mean(1))


class TextConvolution(nn.Module):
    """Convolutions of several widths over words [Kim 2014, "Convolutional neural networks for sentence
    classification"]."""

    def __init__(self, words: int = WORDS, width: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.widths = nn.ModuleList(nn.Conv1d(width, 8, taps) for taps in (2, 3, 4))
        self.classes = nn.Linear(24, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.words(x).transpose(1, 2)
        return self.classes(torch.cat([F.relu(layer(x)).amax(2) for layer in self.widths], 1))


class TextTransformer(nn.Module):
    """A transformer encoder of words and their positions; the first one gives the class."""

    def __init__(self, words: int = WORDS, tokens: int = 16, width: int = 32) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(tokens, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.classes = nn.Linear(width, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.words(x) + self.positions(torch.arange(x.shape[1]))
        return self.classes(self.layers(x)[:, 0])


def wav2letter() -> nn.Module:
    """Speech recognition by convolutions over time [Collobert et al. 2016]."""
    widths = [(1, 16, 48, 16), *[(16, 16, 7, 1)] * 3, (16, 32, 32, 1), (32, 32, 1, 1), (32, 12, 1, 1)]
    layers: list[nn.Module] = []
    for inputs, outputs, kernel, stride in widths:
        layers += [nn.Conv1d(inputs, outputs, kernel, stride, kernel // 2), nn.ReLU()]
    return nn.Sequential(*layers[:-1], nn.LogSoftmax(dim=1))


def random_like(example: torch.Tensor, generator: Optional[torch.Generator] = None) -> torch.Tensor:
    """Returns another input of a network: normally distributed numbers, or words."""
    if example.is_floating_point():
        return torch.randn(example.shape, generator=generator)
    return torch.randint(WORDS, example.shape, dtype=example.dtype, generator=generator)


def draw_statistics(norm: Union[nn.BatchNorm1d, nn.BatchNorm2d]) -> None:
    """Gives a batch norm numbers as after training."""
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.uniform_(norm.bias, -0.2, 0.2)
    norm.running_mean.normal_(0, 0.2)  # type: ignore[union-attr]  # a buffer of these classes
    norm.running_var.uniform_(0.5, 1.5)  # type: ignore[union-attr]


def network_of(
    build: Callable[[], nn.Module], *shape: int, dtype: torch.dtype = torch.float32
) -> Callable[[], Network]:
    """Returns what builds a network with random numbers, for inputs of `shape`."""

    def network() -> Network:
        torch.manual_seed(0)
        module = build().eval()
        for part in module.modules():
            if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
                draw_statistics(part)
        return Network(module, (random_like(torch.empty(shape, dtype=dtype)),))

    return network


NETWORKS: Mapping[str, Callable[[], Network]] = {
    "m5": network_of(M5, 1, 1, 4000),
    "tcn": network_of(tcn, 1, 6, 64),
    "streaming_wakeword": network_of(StreamingWakeword, *INPUT_SHAPE),
    "unet_transposed": network_of(lambda: UNet(True), 1, 3, 32, 32),
    "unet_upsampled": network_of(lambda: UNet(False), 1, 3, 32, 32),
    "bc_resnet": network_of(bc_resnet, 1, 1, 40, 32),
    "yolo_head": network_of(YoloHead, 1, 3, 64, 64),
    "transformer_encoder": network_of(Encoder, 1, 24, 40),
    "wav2letter": network_of(wav2letter, 1, 1, 1600),
    "text_classifier": network_of(TextClassifier, 1, 20, dtype=torch.int64),
    "text_convolution": network_of(TextConvolution, 1, 20, dtype=torch.int32),
    "text_transformer": network_of(TextTransformer, 1, 16, dtype=torch.int64),
}
