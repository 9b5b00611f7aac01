"""Small random models, as Python source: what a stranger might write.

`random_model` writes a class with layers and a forward, line by line. Each line is run as it is written and
dropped if PyTorch refuses it, so that every model works in PyTorch; whether it can be compiled is the question.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch import nn
from torch.nn import functional as F

# Layers for an input `v` of rank 2 to 5; {c} is its second dimension, {l} the last, {k} 1 to 3, {g} 1 or {c}.
_LAYERS = {
    2: [
        "nn.Linear({l}, {k})",
        "nn.BatchNorm1d({c})",
        "nn.LSTM({l}, {k})",
        "nn.GLU(1)",
        "nn.Softmax(1)",
        "nn.LayerNorm({l})",
        "nn.utils.parametrizations.weight_norm(nn.Linear({l}, 3))",
        "nn.Bilinear({l}, {l}, 2)",
        "nn.PReLU()",
    ],
    3: [
        "nn.Conv1d({c}, {k}, {k}, padding=1)",
        "nn.MaxPool1d(2)",
        "nn.AvgPool1d({k})",
        "nn.GRU({l}, {k})",
        "nn.Linear({l}, {k})",
        "nn.MultiheadAttention({l}, 1)",
        "nn.BatchNorm1d({c})",
        "nn.ConvTranspose1d({c}, {c}, {k}, groups={g})",
        "nn.TransformerEncoderLayer({l}, 1, 4)",
        "nn.LayerNorm({l})",
        "nn.InstanceNorm1d({c}, affine=True)",
        "nn.AdaptiveAvgPool1d({k})",
        "nn.RNN({l}, {k})",
        "nn.Softmax(2)",
        "nn.ConstantPad1d(1, 0.5)",
    ],
    4: [
        "nn.Conv2d({c}, {k}, {k}, padding={p})",
        "nn.Conv2d({c}, {c}, {k}, groups={g}, bias=False)",
        "nn.BatchNorm2d({c})",
        "nn.Sequential(nn.Conv2d({c}, {c}, 1), nn.BatchNorm2d({c}), nn.{act}())",
        "nn.MaxPool2d({k}, padding={p})",
        "nn.AvgPool2d({k}, ceil_mode=True)",
        "nn.AdaptiveAvgPool2d({k})",
        "nn.AdaptiveMaxPool2d({k})",
        "nn.Upsample(scale_factor=2)",
        "nn.ConvTranspose2d({c}, {c}, {k}, groups={g})",
        "nn.Sequential(nn.ConvTranspose2d({c}, {c}, 2, groups={g}), nn.BatchNorm2d({c}))",
        "nn.GroupNorm(1, {c})",
        "nn.InstanceNorm2d({c})",
        "nn.Softmax2d()",
        "nn.PixelShuffle(2)",
        "nn.PixelUnshuffle(2)",
        "nn.ZeroPad2d({k})",
        "nn.ReflectionPad2d(1)",
        "nn.Linear({l}, {k})",
        "nn.Conv2d({c}, {c}, 3, padding='same', padding_mode='{mode}')",
        "nn.Conv2d({c}, 2, 3, padding='same', dilation={k})",
        "nn.Dropout2d()",
        "nn.PReLU({c})",
        "nn.Flatten()",
        "nn.Unfold(2)",
        "nn.UpsamplingBilinear2d(scale_factor=2)",
        "nn.LocalResponseNorm(2)",
        "nn.ChannelShuffle(1)",
        "nn.LPPool2d(2, 2)",
        "nn.utils.parametrizations.spectral_norm(nn.Conv2d({c}, 2, 1))",
        "nn.FractionalMaxPool2d(2, output_size=1)",
    ],
    5: ["nn.Conv3d({c}, {k}, 1)", "nn.MaxPool3d(1)", "nn.BatchNorm3d({c})", "nn.AdaptiveAvgPool3d(1)"],
}
_ACTIVATIONS = [
    "ReLU",
    "ReLU6",
    "Hardswish",
    "Hardsigmoid",
    "SiLU",
    "GELU",
    "ELU",
    "Sigmoid",
    "Tanh",
    "LeakyReLU",
    "Softplus",
    "Hardtanh",
    "Mish",
    "SELU",
    "CELU",
    "LogSigmoid",
    "Softsign",
    "Tanhshrink",
    "Hardshrink",
    "Identity",
]
# Lines of forward; a and b are values, n a new name. Those that name no n change a value in place.
_LINES = [
    "{n} = {a} + {b}",
    "{n} = {a} - {b}",
    "{n} = {a} * {b}",
    "{n} = {a} / ({b}.abs() + 1)",
    "{n} = {a} + 3",
    "{n} = 2.5 * {a}",
    "{n} = 1 - {a}",
    "{n} = {a} + {a}",
    "{n} = torch.cat([{a}, {b}], 1)",
    "{n} = torch.stack([{a}, {b}])",
    "{n} = {a}.mean()",
    "{n} = {a}.mean((-2, -1))",
    "{n} = {a}.mean((2, 3), keepdim=True)",
    "{n} = {a}.sum(1)",
    "{n}, i{n} = torch.max({a}, 1)",
    "{n} = {a}.amax(-1, keepdim=True)",
    "{n} = {a}.flatten(1)",
    "{n} = {a}.view({a}.shape[0], -1)",
    "{n} = {a}.reshape(-1)",
    "{n} = {a}.transpose(1, -1)",
    "{n} = {a}.permute(*reversed(range({a}.dim())))",
    "{n} = {a}.unsqueeze(0)",
    "{n} = {a}.squeeze()",
    "{n} = {a}[:, :1]",
    "{n} = {a}[..., ::2]",
    "{n} = {a}[0]",
    "{n}, _ = {a}.chunk(2, 1)",
    "{n} = torch.split({a}, 1, 1)[-1]",
    "{n} = {a}.unbind(0)[0]",
    "{n} = F.pad({a}, (1, 0))",
    "{n} = F.pad({a}, (0, 1, 1, 0), value=1.0)",
    "{n} = {a}.expand(2, *{a}.shape[1:])",
    "{n} = {a}.repeat_interleave(2, 1)",
    "{n} = {a}.clamp(-0.5, 0.5)",
    "{n} = {a}.clamp(min={b})",
    "{n} = {a}.double().float()",
    "{n} = {a}.half().float()",
    "{n} = {a}.int().float()",
    "{n} = torch.where({a} > 0, {a}, {b})",
    "{n} = {a}.pow(2).sqrt()",
    "{n} = torch.exp(-{a}.abs())",
    "{n} = {a}.topk(1)[0]",
    "{n} = {a}.sort()[0]",
    "{n} = {a}.argmax(1)",
    "{n} = {a} > 0",
    "{n} = {a} @ {b}",
    "{n} = {a}.matmul({b}.transpose(-1, -2))",
    "{n} = torch.einsum('i...,i...->i...', {a}, {b})",
    "{n} = {a}.cumsum(1)",
    "{n} = {a}.norm(dim=1)",
    "{n} = {a}.flip(1)",
    "{n} = {a}.roll(1, 1)",
    "{n} = {a}.var(1)",
    "{n} = F.softmax({a}, -1)",
    "{n} = F.log_softmax({a}, 1)",
    "{n} = F.scaled_dot_product_attention({a}, {b}, {b})",
    "{n} = F.interpolate({a}, scale_factor=2)",
    "{n} = F.normalize({a})",
    "{n} = F.avg_pool2d({a}, 2, 1, 1)",
    "{n} = F.max_pool2d({a}, 2, return_indices=True)[0]",
    "{n} = F.adaptive_avg_pool2d({a}, 1)",
    "{n} = {a}.detach()",
    "{n} = {a}.clone()",
    "{n} = {a}.contiguous(memory_format=torch.channels_last)",
    "{n} = {a}.contiguous()",
    "{n} = torch.zeros_like({a})",
    "{n} = {a} + torch.ones({a}.shape[-1])",
    "{n} = {a} + self.scale",
    "{n} = {a} * self.offset",
    "{n} = torch.tensor([1.0]) * {a}",
    "{n} = {a}.index_select(1, torch.tensor([0]))",
    "{n} = {a}.new_full((2,), 3.0)",
    "{n} = {a}.T",
    "{n} = F.one_hot({a}.argmax(-1), {a}.shape[-1]).float()",
    "{n} = F.dropout({a}, 0.5, self.training)",
    "{n} = torch.prod({a}, -1)",
    "{n} = {a} if {a}.shape[0] == 1 else {b}",
    "{n} = sum([{a}, {b}, {a}])",
    "{n} = F.conv2d({a}, {b})",
    "{n} = F.linear({a}, {b})",
    "{n} = torch.bmm({a}, {b})",
    "{n} = torch.addmm({a}, {a}, {b})",
    "{n} = F.relu({a}.view(-1)).view({a}.shape)",
    "{n} = {a}.tile(1, 2)",
    "{n} = torch.cdist({a}, {b})",
    "{n} = {a}.std()",
    "{n} = torch.outer({a}.reshape(-1), {b}.reshape(-1))",
    "{n} = torch.erfinv({a})",
    "{n} = torch.fft.rfft({a}).real",
    "{n} = {a}.to(torch.bfloat16).float()",
    "{n} = {a}.masked_fill({a} > 0, -1.0)",
    "{n} = torch.round({a})",
    "{n} = torch.nonzero({a})",
    "{n} = {a}[{a} > 0]",
    "{n} = torch.rand_like({a}) + {a}",
    "{n} = torch.complex({a}, {b}).abs()",
    "{n} = torch.cond({a}.sum() > 0, lambda x: x + 1, lambda x: x - 1, ({a},))",
    "{n} = {a} + {a}.item()",
    "{n} = {a}.sum().item() * {b}",
    "{n} = {a}.triu()",
    "{n} = torch.linalg.inv({a})",
    "{n} = {a}.unfold(1, 1, 1)",
    "{n} = {a}.as_strided((1,), (1,))",
    "{a}.add_(1)",
    "{a}.mul_({b})",
    "{a}[:, :1] = 0",
    "F.relu_({a})",
    "F.relu_({a}[:, :1])",
    "{a}.view(-1).mul_(2)",
    "{a}[0].copy_({b}[0])",
    "F.hardswish({a}, inplace=True)",
    "F.leaky_relu_({a})",
    "{a} += {b}",
    "self.state.add_({a}.mean())",
    "{a}.clamp_(0, 1)",
    "{a}.zero_()",
    "{a} = {a}.transpose(0, 1)",
    "{a}.transpose_(0, 1)",
    "self.count += 1",
    "{a}.data.add_(1)",
]
_SHAPES = [
    (1, 2, 6, 6),
    (1, 2, 6, 6),
    (2, 3, 5, 4),
    (1, 3, 8, 8),
    (1, 1, 1, 1),
    (1, 4),
    (3, 4),
    (1, 6),
    (4,),
    (),
    (1, 5, 4),
    (2, 2, 6),
    (1, 2, 3, 4, 4),
]
_RETURNS = [
    "{a}",
    "{a}",
    "{a}",
    "{a}, {b}",
    "[{a}, {b}]",
    "{{'y': {a}, 'z': {b}}}",
    "({a}, [{b}, ({a},)])",
    "{a}, None",
    "{a}, 3, 'text'",
    "Pair({a}, {b})",
    "torch.max({a}, -1)",
    "{a}, x0",
    "x0",
    "None",
    "{a}, self.offset",
    "{a}.sort(), {b}",
    "{a}.shape, {a}",
    "{a}.tolist()",
    "{a}.numpy()",
    "Record({a})",
    "{a} is {b}",
    "torch.ones(2)",
    "{a}.sum().item()",
    "iter([{a}])",
    "{{1: {a}}}",
    "{a}.size(0)",
]
_CALLS = ["({x0},{rest})", "[{x0},{rest}]", "{{'x0': {x0}, {named}}}"]
_DATA = [
    "torch.randn({shape})",
    "torch.rand({shape})",
    "torch.zeros({shape})",
    "torch.ones({shape})",
    "1e30 * torch.randn({shape})",
    "1e-30 * torch.randn({shape})",
    "100 * torch.randn({shape})",
]

_HEADER = """\
from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

Pair = namedtuple("Pair", "first second")


@dataclass
class Record:
    first: torch.Tensor


class Net(nn.Module):
"""


@dataclass
class RandomModel:
    """`source` defines `model()`, which returns the module and its example inputs, and `calibration()`."""

    source: str

    def load(self) -> tuple[nn.Module, Any, Any]:
        """(module, example inputs, calibration data)"""
        names: dict[str, Any] = {"__name__": "random_model"}
        exec(compile(self.source, "<random model>", "exec"), names)
        return *names["model"](), names["calibration"]()


def random_model(draw: random.Random, lines: int = 5) -> RandomModel:
    """A model of about `lines` lines. `draw` decides everything."""
    torch.manual_seed(0)
    shapes = [draw.choice(_SHAPES)]
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        shapes.append(draw.choice([shapes[0], shapes[0], draw.choice(_SHAPES)]))
    writer = _Writer(draw, shapes)
    for _ in range(draw.randint(1, lines)):
        writer.line()
    return RandomModel(writer.source())


class _Writer:
    def __init__(self, draw: random.Random, shapes: list[tuple[int, ...]]) -> None:
        self.draw, self.shapes = draw, shapes
        self.layers = ["self.offset = nn.Parameter(torch.rand(1))"]
        self.layers += [
            f"self.register_buffer({name!r}, torch.tensor({value}))"
            for name, value in (("scale", 2.0), ("state", 0.5), ("count", 0))
        ]
        self.body: list[str] = []
        self.net = nn.Module()
        self.names: dict[str, Any] = {"self": self.net, "nn": nn, "torch": torch, "F": F}
        for line in self.layers:
            exec(line, self.names)
        self.net.eval()
        self.names |= {f"x{i}": torch.rand(shape) for i, shape in enumerate(shapes)}

    def line(self) -> None:
        """One more line, if there is one that works."""
        for _ in range(20):
            values = [name for name, value in self.names.items() if isinstance(value, torch.Tensor)]
            a = self.draw.choice(values[-3:] if self.draw.random() < 0.7 else values)
            b = self.draw.choice(values)
            new = f"v{len(self.body)}"
            kind = self.draw.choice(["layer", "layer", "activation", "line", "line"])
            if kind == "line":
                if self._works(self.draw.choice(_LINES).format(a=a, b=b, n=new)):
                    return
            elif self._add_layer(self._layer(self.names[a], kind), a, b, new):
                return

    def _layer(self, value: torch.Tensor, kind: str) -> Optional[str]:
        draw, shape = self.draw, value.shape
        activation = draw.choice(_ACTIVATIONS)
        if kind == "activation":
            inplace = hasattr(getattr(nn, activation)(), "inplace") and draw.random() < 0.4
            return f"nn.{activation}({'inplace=True' if inplace else ''})"
        if value.dim() not in _LAYERS:
            return None
        sizes = {"c": shape[1], "l": shape[-1], "k": draw.randint(1, 3), "p": draw.choice([0, 0, 1, "'same'"])}
        mode = draw.choice(["zeros", "reflect", "circular"])
        return draw.choice(_LAYERS[value.dim()]).format(
            **sizes, g=draw.choice([1, shape[1]]), act=activation, mode=mode
        )

    def _add_layer(self, layer: Optional[str], a: str, b: str, new: str) -> bool:
        if layer is None:
            return False
        name = f"l{len(self.layers)}"
        inputs = a
        if "Attention" in layer:
            inputs = f"{a}, {a}, {a}"
        elif "Bilinear" in layer:
            inputs = f"{a}, {b}"
        take = "[0]" if any(word in layer for word in ("LSTM", "GRU", "RNN", "Attention")) else ""
        reuse = [line for line in self.layers if line.startswith("self.l")]
        if reuse and self.draw.random() < 0.15:  # a layer that is called twice
            name = self.draw.choice(reuse).split(" ")[0].removeprefix("self.")
            return self._works(f"{new} = self.{name}({inputs}){take}")
        try:
            module = eval(layer, self.names).eval()
        except Exception:
            return False
        setattr(self.net, name, module)
        if not self._works(f"{new} = self.{name}({inputs}){take}"):
            delattr(self.net, name)
            return False
        self.layers.append(f"self.{name} = {layer}")
        return True

    def _works(self, line: str) -> bool:
        """Runs a line and keeps it if that succeeds with tensors of a reasonable size."""
        names = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in self.names.items()}
        try:
            with torch.no_grad():
                exec(line, names)
        except Exception:
            return False
        values = [value for value in names.values() if isinstance(value, torch.Tensor)]
        if any(value.numel() > 5000 for value in values):
            return False
        self.names = {k: v for k, v in names.items() if k != "__builtins__"}
        self.body.append(line)
        return True

    def source(self) -> str:
        draw = self.draw
        values = [name for name, value in self.names.items() if isinstance(value, torch.Tensor)]
        result = draw.choice(_RETURNS).format(a=values[-1], b=draw.choice(values))
        count = len(self.shapes)
        rest = ", ".join(f"x{i}" for i in range(1, count))
        parameters = ", ".join(f"x{i}" for i in range(count))
        if count > 1 and draw.random() < 0.3:
            parameters = f"x0, *, {rest}"
        lines = [_HEADER.rstrip()]
        lines += [
            "    def __init__(self):",
            "        super().__init__()",
            *(f"        {line}" for line in self.layers),
            "",
        ]
        lines += [f"    def forward(self, {parameters}):", *(f"        {line}" for line in self.body)]
        lines += [f"        return {result}", ""]
        inputs = [f"torch.rand({list(shape)})" for shape in self.shapes]
        form = _CALLS[2] if "*" in parameters else draw.choice(_CALLS)
        named = ", ".join(f"'x{i}': {value}" for i, value in enumerate(inputs) if i)
        call = form.format(x0=inputs[0], rest=", ".join(inputs[1:]), named=named)
        data = draw.choice(_DATA)
        sample = ", ".join(f"'x{i}': {data.format(shape=list(shape))}" for i, shape in enumerate(self.shapes))
        lines += ["", "def model():", "    torch.manual_seed(0)", f"    return Net(), {call}", ""]
        lines += ["", "def calibration():", f"    return [{{{sample}}}]", ""]
        return "\n".join(lines)
