"""Pools keep their results when they are rewritten, whatever their parameters."""

import random

import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.quantization.pools import rewrite_pools
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Branch, Branches, Function, branches_apart, lowered

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
    assert targets.count(aten.avg_pool2d.default) > 5  # of the pixels in the image alone
    assert targets.count(aten.constant_pad_nd.default) > 5  # cut off at the end


def test_adaptive_pools_of_any_size():
    sizes = [(h, w) for h in range(1, 9) for w in (1, 3, 5, 8)]
    targets = rewritten([nn.AdaptiveAvgPool2d(size) for size in sizes], torch.randn(1, 2, 6, 8))
    plain = targets.count(aten.avg_pool2d.default)
    assert plain + targets.count(aten.adaptive_avg_pool2d.default) == len(sizes)
    assert plain == 5 * 2  # to heights of 1, 2, 3, 5 and 6 and widths of 1 and 8 all windows are alike
    targets = rewritten([nn.AdaptiveMaxPool2d(size) for size in sizes], torch.randn(1, 2, 6, 8))
    assert targets.count(aten.max_pool2d.default) == plain
    assert aten.adaptive_max_pool2d.default not in targets


def test_indices_are_kept():
    pools = [
        Function(lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True)),
        Function(lambda x: F.adaptive_max_pool2d(x, 4, return_indices=True)),
        Function(lambda x: F.max_pool2d(x, 2, return_indices=True)),
    ]
    targets = rewritten(pools, torch.randn(1, 2, 6, 6))
    assert targets.count(aten.adaptive_max_pool2d.default) == 2
    assert targets.count(aten.max_pool2d_with_indices.default) == 1


def test_indices_that_are_read_are_refused_under_the_name_of_the_pool():
    module = Function(lambda x: torch.add(*F.max_pool2d(x, 2, return_indices=True)))
    reports = lowered(module, torch.randn(1, 2, 6, 6)).reports
    (pool,) = [report for report in reports if "max_pool2d" in report.target]
    assert "its indices are read" in pool.message and "upsampling" in pool.message


CASES = {
    "padding counts": (nn.AvgPool2d(3, 2, 1), "depthwise_conv2d"),
    "divisor": (nn.AvgPool2d(2, divisor_override=3), "depthwise_conv2d"),
    "divisor, cut off": (nn.AvgPool2d(3, 2, ceil_mode=True, divisor_override=2), "depthwise_conv2d"),
    "cut off": (nn.AvgPool2d(3, 2, ceil_mode=True), "avg_pool2d"),
    "padding counts, cut off": (nn.AvgPool2d(3, 2, 1, ceil_mode=True), "pad_nd avg_pool2d"),
    "adaptive": (nn.AdaptiveAvgPool2d((5, 3)), "avg_pool2d"),
    "adaptive, uneven": (nn.AdaptiveAvgPool2d((4, 9)), "adaptive_avg_pool2d"),
    "adaptive maximum": (nn.AdaptiveMaxPool2d((3, 5)), "max_pool2d"),
    "maximum with gaps": (nn.MaxPool2d(2, 1, 1, dilation=(2, 3)), "max_pool2d"),
    "maximum of a sequence with gaps": (Function(lambda x: F.max_pool1d(x[:, 0], 3, 2, 1, 2)), "max_pool2d"),
    "indices that nothing reads": (Function(lambda x: F.max_pool2d(x, 2, return_indices=True)[0]), "max_pool2d"),
}


def test_they_are_delegated():
    torch.manual_seed(0)
    found = branches_apart({name: Branch(module, (torch.randn(1, 3, 6, 6),)) for name, (module, _) in CASES.items()})
    assert {name: apart.distance for name, apart in found.items() if apart.distance > 1} == {}
    ops = {name: " ".join(op for op in apart.ops[1:-1] if op != "strided_copy") for name, apart in found.items()}
    assert ops == {name: op for name, (_, op) in CASES.items()}


def test_uneven_adaptive_maxima_are_delegated():
    found = branches_apart({"uneven": Branch(nn.AdaptiveMaxPool2d((4, 4)), (torch.randn(1, 3, 6, 6),))})
    assert found["uneven"].distance == 0 and found["uneven"].ops.count("max_pool2d") == 8
