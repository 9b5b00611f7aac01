"""Pools keep their results when they are rewritten, whatever their parameters."""

import random

import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.quantization.pools import rewrite_pools
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Branch, Branches, Function, branches_apart

make_torch_faster()
aten = torch.ops.aten


def average(draw):
    kernel = draw.randint(1, 3), draw.randint(1, 3)
    padding = tuple(draw.randint(0, k // 2) for k in kernel)
    stride = draw.randint(1, 3), draw.randint(1, 3)
    return nn.AvgPool2d(kernel, stride, padding, draw.random() < 0.5, draw.random() < 0.7, draw.choice([None, 2, 5]))


def rewritten(modules, x):
    module = Branches([Branch(m, (x,)) for m in modules]).eval()
    inputs = [x.clone() for _ in modules]
    graph = torch.export.export(module, tuple(inputs)).module(check_guards=False)
    wanted = module(*inputs)
    rewrite_pools(graph)
    torch.testing.assert_close(graph(*inputs), wanted)
    return [node.target for node in graph.graph.nodes if node.op == "call_function"]


def test_averages_of_any_parameters():
    draw = random.Random(0)
    targets = rewritten([average(draw) for _ in range(60)], torch.randn(1, 3, 7, 8))
    assert targets.count(aten.conv2d.default) > 20
    assert targets.count(aten.avg_pool2d.default) > 5  # of the pixels in the image alone, or cut off at the end


def test_adaptive_pools_of_any_size():
    sizes = [(h, w) for h in range(1, 9) for w in (1, 3, 5, 8)]
    targets = rewritten([nn.AdaptiveAvgPool2d(size) for size in sizes], torch.randn(1, 2, 6, 8))
    plain = targets.count(aten.avg_pool2d.default)
    assert plain + targets.count(aten.adaptive_avg_pool2d.default) == len(sizes)
    assert plain == 5 * 2  # to heights of 1, 2, 3, 5 and 6 and widths of 1 and 8 all windows are alike
    targets = rewritten([nn.AdaptiveMaxPool2d(size) for size in sizes], torch.randn(1, 2, 6, 8))
    assert targets.count(aten.max_pool2d.default) == plain


def test_indices_are_kept():
    indices = Function(lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True))
    assert aten.adaptive_max_pool2d.default in rewritten([indices], torch.randn(1, 2, 6, 6))


CASES = {
    "padding counts": (nn.AvgPool2d(3, 2, 1), "depthwise_conv2d"),
    "divisor": (nn.AvgPool2d(2, divisor_override=3), "depthwise_conv2d"),
    "divisor, cut off": (nn.AvgPool2d(3, 2, ceil_mode=True, divisor_override=2), "depthwise_conv2d"),
    "cut off": (nn.AvgPool2d(3, 2, ceil_mode=True), "avg_pool2d"),
    "adaptive": (nn.AdaptiveAvgPool2d((5, 3)), "avg_pool2d"),
    "adaptive maximum": (nn.AdaptiveMaxPool2d((3, 5)), "max_pool2d"),
}


def test_they_are_delegated():
    torch.manual_seed(0)
    found = branches_apart({name: Branch(module, (torch.randn(1, 3, 6, 6),)) for name, (module, _) in CASES.items()})
    assert {name: apart.distance for name, apart in found.items() if apart.distance > 1} == {}
    assert {name: apart.ops[1:-1] for name, apart in found.items()} == {name: [op] for name, (_, op) in CASES.items()}
