"""Softmax and its logarithm along any dimension and of any length, next to the quantized module in PyTorch."""

import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart


def spread(*shape):
    return 3 * torch.randn(*shape, generator=torch.Generator().manual_seed(1))


BRANCHES = {
    "softmax of a long row": Branch(nn.Softmax(dim=1), (spread(2, 600),)),
    "softmax of many equal numbers": Branch(nn.Softmax(dim=-1), (torch.zeros(1, 5000),)),
    "softmax over height": Branch(nn.Softmax(dim=2), (spread(1, 3, 4, 5),)),
    "softmax over the batch": Branch(nn.Softmax(dim=0), (spread(3, 5),)),
    "log_softmax along the middle": Branch(nn.LogSoftmax(dim=-2), (spread(2, 6, 5),)),
    "log_softmax": Branch(nn.LogSoftmax(dim=1), (spread(3, 12),)),
    "log_softmax of a long row": Branch(Function(lambda x: F.log_softmax(x, -1)), (spread(1, 3000),)),
    "log_softmax of images": Branch(nn.LogSoftmax(dim=1), (spread(2, 5, 3, 4),)),
}


def test_results_are_those_of_the_quantized_module():
    found = branches_apart(BRANCHES)
    assert {name: branch.distance for name, branch in found.items() if branch.distance > 1} == {}
    assert all({"softmax", "log_softmax"} & set(branch.ops) for branch in found.values())
