"""Networks that read signals and text step by step, as they run on devices for hours: `STATEFUL_NETWORKS`.

Most keep what they remember in buffers, which `forward` writes: one inference is one step. The others read a window in
each inference and have a recurrent layer inside. As in `networks.py`, operators and their connections are those of the
network that it is named after, and sizes are mostly smaller. Weights are random; but gates forget as slowly as those of
trained networks do, or no error could add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, Optional

import torch
from torch import nn
from torch.nn import functional as F

from tests.coverage.networks import WORDS, Network, draw_statistics

REMEMBERED = 50  # steps, at most, after which a unit of a recurrent layer has forgotten most of an input


class StatefulNetwork(NamedTuple):
    """How a network is built, and which dimension of its inputs is time, if one inference reads several steps."""

    build: Callable[[], Network]
    time: Optional[int] = None


class Rnnoise(nn.Module):
    """Suppresses noise in speech [Valin 2018, "A hybrid DSP/deep learning approach to real-time full-band speech
    enhancement"], in the published sizes: gains of 22 bands and the probability of speech from 42 features. All of its
    GRUs are those of PyTorch, with tanh."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(42, 24)
        self.speech, self.noise, self.denoise = nn.GRUCell(24, 24), nn.GRUCell(90, 48), nn.GRUCell(114, 96)
        self.gains, self.probability = nn.Linear(96, 22), nn.Linear(24, 1)
        self.register_buffer("speech_state", torch.zeros(1, 24))
        self.register_buffer("noise_state", torch.zeros(1, 48))
        self.register_buffer("denoise_state", torch.zeros(1, 96))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.tanh(self.dense(x))
        speech = self.speech(y, self.speech_state)
        noise = self.noise(torch.cat([y, speech, x], 1), self.noise_state)
        denoise = self.denoise(torch.cat([speech, noise, x], 1), self.denoise_state)
        self.speech_state.copy_(speech)
        self.noise_state.copy_(noise)
        self.denoise_state.copy_(denoise)
        return torch.sigmoid(self.gains(denoise)), torch.sigmoid(self.probability(speech))


class VoiceActivity(nn.Module):
    """The probability of speech in a frame of sound, like Silero VAD: filters over the frame and the end of the one
    before, convolutions over time, and an LSTM cell. Silero's filters are those of a Fourier transform, of which it
    takes magnitudes; 8 bits cannot hold the squares of that."""

    def __init__(self, frame: int = 256, window: int = 128, hidden: int = 64) -> None:
        super().__init__()
        self.context = window // 2
        self.filters = nn.Sequential(nn.Conv1d(1, 64, window, stride=window // 2, bias=False), nn.ReLU())
        widths = [(64, 64, 1), (64, 32, 2), (32, 32, 2), (32, hidden, 1)]
        self.encoder = nn.Sequential(
            *(nn.Sequential(nn.Conv1d(i, o, 3, stride=s, padding=1), nn.ReLU()) for i, o, s in widths)
        )
        self.cell, self.out = nn.LSTMCell(hidden, hidden), nn.Linear(hidden, 1)
        self.register_buffer("past", torch.zeros(1, 1, self.context))
        self.register_buffer("hidden", torch.zeros(1, hidden))
        self.register_buffer("cells", torch.zeros(1, hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sound = torch.cat([self.past, x], 2)
        self.past.copy_(x[..., -self.context :])
        y = self.encoder(self.filters(sound)).mean(2)
        hidden, cells = self.cell(y, (self.hidden, self.cells))
        self.hidden.copy_(hidden)
        self.cells.copy_(cells)
        return torch.sigmoid(self.out(F.relu(hidden)))


class KeywordCrnn(nn.Module):
    """Spots keywords in a stream of spectra [Arik et al. 2017, "Convolutional recurrent neural networks for
    small-footprint keyword spotting"]: a convolution over the last 5 spectra, a GRU, classes."""

    def __init__(self, bands: int = 40, channels: int = 16, hidden: int = 64) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, channels, (5, 8), stride=(1, 4)), nn.BatchNorm2d(channels), nn.ReLU())
        self.cell = nn.GRUCell(channels * ((bands - 8) // 4 + 1), hidden)
        self.classes = nn.Linear(hidden, 12)
        self.register_buffer("past", torch.zeros(1, 1, 4, bands))
        self.register_buffer("hidden", torch.zeros(1, hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spectra = torch.cat([self.past, x[:, None, None]], 2)
        self.past.copy_(spectra[:, :, 1:])
        hidden = self.cell(self.conv(spectra).flatten(1), self.hidden)
        self.hidden.copy_(hidden)
        return self.classes(hidden)


class DeepConvLstm(nn.Module):
    """Recognizes activities in a window of sensor data [Ordóñez and Roggen 2016, "Deep convolutional and LSTM recurrent
    neural networks for multimodal wearable activity recognition"]."""

    def __init__(self, sensors: int = 9, channels: int = 16, hidden: int = 32) -> None:
        super().__init__()
        widths = [1, channels, channels, channels, channels]
        self.convs = nn.Sequential(
            *(nn.Sequential(nn.Conv2d(i, o, (5, 1)), nn.ReLU()) for i, o in zip(widths, widths[1:]))
        )
        self.lstm = nn.LSTM(channels * sensors, hidden, 2, batch_first=True)
        self.classes = nn.Linear(hidden, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.convs(x.unsqueeze(1))  # [batch, channels, steps, sensors]
        y, _ = self.lstm(y.transpose(1, 2).flatten(2))
        return self.classes(y[:, -1])


class LstmAutoencoder(nn.Module):
    """Rebuilds a window of vibration from the last hidden state of its encoder [Malhotra et al. 2016, "LSTM-based
    encoder-decoder for multi-sensor anomaly detection"]; where the result is far from the input, something is wrong."""

    def __init__(self, axes: int = 3, hidden: int = 24) -> None:
        super().__init__()
        self.encoder = nn.LSTM(axes, hidden, batch_first=True)
        self.decoder = nn.LSTM(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, axes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.encoder(x)
        y, _ = self.decoder(hidden[-1].unsqueeze(1).repeat(1, x.shape[1], 1))
        return self.out(y)


class StreamingConv(nn.Module):
    """A causal convolution that reads one step, and has the steps before in a buffer."""

    def __init__(self, inputs: int, outputs: int, dilation: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, 3, dilation=dilation)
        self.register_buffer("past", torch.zeros(1, inputs, 2 * dilation))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = torch.cat([self.past, x], 2)
        self.past.copy_(steps[:, :, 1:])
        return self.conv(steps)


class StreamingTcnBlock(nn.Module):
    """Two causal convolutions and a residual sum, for one step."""

    def __init__(self, inputs: int, outputs: int, dilation: int) -> None:
        super().__init__()
        self.first, self.second = StreamingConv(inputs, outputs, dilation), StreamingConv(outputs, outputs, dilation)
        self.match = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.second(F.relu(self.first(x))))
        return F.relu(y + self.match(x))


def streaming_tcn() -> nn.Module:
    """A temporal convolutional network [Bai et al. 2018] that computes one step in each inference."""
    return nn.Sequential(
        StreamingTcnBlock(6, 16, 1), StreamingTcnBlock(16, 16, 2), StreamingTcnBlock(16, 24, 4),
        StreamingTcnBlock(24, 24, 8), nn.Flatten(), nn.Linear(24, 6),
    )  # fmt: skip


class SpeechBiGru(nn.Module):
    """The probabilities of letters at each second spectrum of an utterance [Amodei et al. 2016, "Deep Speech 2"]."""

    def __init__(self, bands: int = 40, channels: int = 32, hidden: int = 32) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(bands, channels, 5, stride=2, padding=2), nn.BatchNorm1d(channels), nn.Hardtanh(0, 20)
        )
        self.gru = nn.GRU(channels, hidden, 2, batch_first=True, bidirectional=True)
        self.letters = nn.Linear(2 * hidden, 29)
        self.letters.weight.data *= 4  # as sure of its letters as a trained network

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, _ = self.gru(self.conv(x).transpose(1, 2))
        return F.log_softmax(self.letters(y), dim=2)


class Mamba(nn.Module):
    """A selective state space layer for one step [Gu and Dao 2023, "Mamba"]: what is remembered and what is read of it
    depends on the input."""

    def __init__(self, width: int = 16, inner: int = 32, states: int = 8) -> None:
        super().__init__()
        self.inner, self.states = inner, states
        self.norm, self.both = nn.LayerNorm(width), nn.Linear(width, 2 * inner, bias=False)
        self.conv = nn.Conv1d(inner, inner, 4, groups=inner)
        self.select, self.step = nn.Linear(inner, 2 * states, bias=False), nn.Linear(inner, inner)
        self.out = nn.Linear(inner, width, bias=False)
        # As in the paper: the rates of decay are 1, 2, ... for each channel, and steps begin between 0.001 and 0.1.
        self.rates = nn.Parameter(-torch.arange(1.0, states + 1).repeat(inner, 1))
        steps = torch.exp(torch.empty(inner).uniform_(math.log(0.001), math.log(0.1)))
        self.step.bias.data.copy_(steps.expm1().log())
        self.through = nn.Parameter(torch.ones(inner))
        self.register_buffer("past", torch.zeros(1, inner, 3))
        self.register_buffer("hidden", torch.zeros(1, inner, states))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, gate = self.both(self.norm(x)).split(self.inner, 1)
        steps = torch.cat([self.past, y.unsqueeze(2)], 2)
        self.past.copy_(steps[:, :, 1:])
        y = F.silu(self.conv(steps)[:, :, 0])
        step = F.softplus(self.step(y)).unsqueeze(2)
        written, read = self.select(y).unsqueeze(1).split(self.states, 2)
        hidden = torch.exp(step * self.rates) * self.hidden + step * written * y.unsqueeze(2)
        self.hidden.copy_(hidden)
        y = (hidden * read).sum(2) + self.through * y
        return x + self.out(y * F.silu(gate))


class CachedLayer(nn.Module):
    """A layer of a decoder, which has the keys and values of the last words in buffers, and reads one word."""

    def __init__(self, width: int, heads: int, words: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries, self.keys, self.values = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.join = nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        # What lies further back counts less, in each head to another degree [Press et al. 2022].
        slopes = 2.0 ** -torch.arange(1, heads + 1)
        self.register_buffer("nearness", -slopes[:, None, None] * torch.arange(words - 1, -1, -1.0))
        self.register_buffer("cached_keys", torch.zeros(1, heads, words, width // heads))
        self.register_buffer("cached_values", torch.zeros(1, heads, words, width // heads))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        query, key, value = (self._of_heads(layer(y)) for layer in (self.queries, self.keys, self.values))
        keys = torch.cat([self.cached_keys[:, :, 1:], key], 2)
        values = torch.cat([self.cached_values[:, :, 1:], value], 2)
        self.cached_keys.copy_(keys)
        self.cached_values.copy_(values)
        scores = query @ keys.transpose(2, 3) / math.sqrt(query.shape[-1]) + self.nearness
        y = torch.softmax(scores, -1) @ values
        x = x + self.join(y.transpose(1, 2).flatten(2))
        return x + self.narrow(F.gelu(self.wide(self.second_norm(x))))

    def _of_heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(1, 1, self.heads, -1).transpose(1, 2)


class TextDecoder(nn.Module):
    """Generates text: logits of the next word from one word, and the 16 words before in the caches of two layers."""

    def __init__(self, width: int = 32, heads: int = 4, words: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.layers = nn.Sequential(*(CachedLayer(width, heads, words) for _ in range(2)))
        self.norm, self.logits = nn.LayerNorm(width), nn.Linear(width, WORDS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.logits(self.norm(self.layers(self.words(x))))[:, 0]


def _network(build: Callable[[], nn.Module], *shape: int, dtype: torch.dtype = torch.float32) -> Callable[[], Network]:
    def network() -> Network:
        torch.manual_seed(0)
        module = build().eval()
        for part in module.modules():
            if isinstance(part, (nn.GRUCell, nn.GRU, nn.LSTMCell, nn.LSTM)):
                _draw_gates(part)
            elif isinstance(part, (nn.Linear, nn.Conv1d, nn.Conv2d)):
                part.weight.data *= 3**0.5  # PyTorch's give results that are smaller than what they are computed from
            elif isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
                draw_statistics(part)
        return Network(module, (torch.zeros(shape, dtype=dtype),))

    return network


def _draw_gates(layer: nn.Module) -> None:
    """Draws weights of a recurrent layer that keep the size of what they multiply, as those of layers. The gates that
    say what is kept get biases for memories of different lengths [Tallec and Ollivier 2018, "Can recurrent neural
    networks warp time?"]."""
    count = 4 if isinstance(layer, (nn.LSTMCell, nn.LSTM)) else 3
    for name, parameter in layer.named_parameters():
        gates = parameter.data.view(count, -1, *parameter.shape[1:])
        if name.startswith("weight_ih"):
            gates.normal_(0, gates.shape[-1] ** -0.5)
        elif name.startswith("weight_hh"):
            # Larger ones make the LSTM cell here amplify any difference between inputs, also in float.
            gain = 0.5 if isinstance(layer, nn.LSTMCell) else 1.0
            for gate in gates:
                nn.init.orthogonal_(gate, gain)
        elif name.startswith("bias_hh"):
            gates[1] = torch.empty(gates.shape[1]).uniform_(1, REMEMBERED - 1).log()


STATEFUL_NETWORKS: Mapping[str, StatefulNetwork] = {
    "rnnoise": StatefulNetwork(_network(Rnnoise, 1, 42)),
    "voice_activity": StatefulNetwork(_network(VoiceActivity, 1, 1, 256), time=2),
    "keyword_crnn": StatefulNetwork(_network(KeywordCrnn, 1, 40)),
    "deep_conv_lstm": StatefulNetwork(_network(DeepConvLstm, 1, 32, 9), time=1),
    "lstm_autoencoder": StatefulNetwork(_network(LstmAutoencoder, 1, 32, 3), time=1),
    "streaming_tcn": StatefulNetwork(_network(streaming_tcn, 1, 6, 1), time=2),
    "speech_bigru": StatefulNetwork(_network(SpeechBiGru, 1, 40, 64), time=2),
    "mamba": StatefulNetwork(_network(Mamba, 1, 16)),
    "text_decoder": StatefulNetwork(_network(TextDecoder, 1, 1, dtype=torch.int64)),
}
