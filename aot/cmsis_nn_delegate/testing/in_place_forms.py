"""Models that write in place, in all the forms that people use: `FORMS`, name -> a function of a `Writer`'s
two convolutions and an image."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

INPUT_SHAPE = (1, 3, 8, 8)


class Writer(nn.Module):
    """A convolution, one of `FORMS`, another convolution. (1, 3, 8, 8) -> (1, 4, 8, 8)."""

    def __init__(self, form: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.form = FORMS[form]
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.2, 2)
        self.second = nn.Conv2d(4, 4, 3, padding=1)
        self.register_buffer("memory", torch.zeros(1, 4, 8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.form(self, x)


def _written(write):
    """The form: the convolution's output is changed by `write`, whose result does not matter."""

    def form(m: Writer, x: torch.Tensor) -> torch.Tensor:
        y = m.first(x)
        write(y)
        return m.second(y)

    return form


def _slice(y):
    y[:, :2] = 0


def _index(y):
    y[:, torch.tensor([0, 2])] = 0.5


def _mask(y):
    y[y > 0.3] = -1.0


def _chunk(y):
    a, _ = y.chunk(2, 1)
    a.mul_(3.0)


def _unbind(y):
    for i, part in enumerate(y.unbind(1)):
        part.add_(0.5 * i)


def _loop(y):
    for i in range(3):
        y[:, i] *= 1 - i


def _new_buffer(m, x):
    y = torch.zeros(1, 4, 8, 8)
    y[:, :2] = m.first(x)[:, 2:]
    return m.second(y)


def _own_buffer(m, x):
    m.memory[:, :2] = m.first(x)[:, 2:]
    return m.second(m.memory)


def _remembered(m, x):
    m.memory.add_(m.first(x))
    return m.second(m.memory)


def _input(m, x):
    x.add_(1.0)
    return m.second(m.first(x))


def _part_of_input(m, x):
    x[:, 1] = 2.0
    return m.second(m.first(x))


def _read_before(m, x):
    y = m.first(x)
    z = y.view(1, 4, 64)
    y.mul_(2.0)
    return m.second(y) + z.view(1, 4, 8, 8)


def _under_old_name(m, x):
    y = m.first(x)
    z = F.relu_(y)
    return m.second(z) + y


def _before_norm(m, x):
    y = m.first(x)
    y.view(-1).add_(1.0)
    return m.second(m.norm(y))


def _after_norm(m, x):
    y = m.norm(m.first(x))
    y[:, :, ::2] = 0
    return m.second(y)


def _norm_and_layer(m, x):
    y = m.first(x)
    z = m.norm(y)
    y.relu_()
    return m.second(z) + y


def _dropout(m, x):
    y = m.first(x)
    F.dropout(y, 0.5, training=False).mul_(2.0)
    return m.second(y)


FORMS = {
    "slice": _written(_slice),
    "view": _written(lambda y: y.view(1, 4, -1).mul_(2.0)),
    "reshape": _written(lambda y: y.reshape(-1)[10:50].neg_()),
    "relu_of_slice": _written(lambda y: F.relu_(y[:, :2])),
    "new_buffer": _new_buffer,
    "own_buffer": _own_buffer,
    "remembered": _remembered,
    "index": _written(_index),
    "mask": _written(_mask),
    "masked_fill": _written(lambda y: y.masked_fill_(y < 0, 0.25)),
    "copy": _written(lambda y: y[:, 1:3].copy_(y[:, :2] * 2)),
    "select": _written(lambda y: y.select(1, 0).fill_(0.3)),
    "transpose": _written(lambda y: y.transpose(2, 3)[:, :, 0].add_(1.0)),
    "permute": _written(lambda y: y.permute(0, 2, 3, 1)[..., 1].mul_(-2.0)),
    "chunk": _written(_chunk),
    "unbind": _written(_unbind),
    "narrow": _written(lambda y: y.narrow(3, 2, 3).clamp_(-0.1, 0.1)),
    "diagonal": _written(lambda y: y.diagonal(0, 2, 3).zero_()),
    "as_strided": _written(lambda y: y.as_strided((4, 8), (64, 8)).zero_()),
    "squeeze": _written(lambda y: y.squeeze(0)[1].exp_()),
    "loop": _written(_loop),
    "input": _input,
    "part_of_input": _part_of_input,
    "read_before": _read_before,
    "under_old_name": _under_old_name,
    "before_norm": _before_norm,
    "after_norm": _after_norm,
    "norm_and_layer": _norm_and_layer,
    "dropout": _dropout,
}
