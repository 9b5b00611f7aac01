"""Means, sums, maxima and minima over dimensions, from the module to the integers."""

import itertools

import torch
from torch import nn

from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart, lowered, reports_of_branches

# Dimensions that are not next to each other in memory, neither row-major nor, for images, with the channels last.
APART = {3: [(0, 2)], 4: [(0, 3), (0, 1, 3)]}


def reduced(name, dims, keep):
    return Function(lambda x: getattr(torch, name)(x, dims, keepdim=keep))


def test_over_any_dimensions():
    torch.manual_seed(5)
    shapes = [(2, 3, 4, 5), (3, 4, 5), (6, 7)]
    branches = {}
    for shape in shapes:
        rank = len(shape)
        subsets = [dims for count in range(1, rank + 1) for dims in itertools.combinations(range(rank), count)]
        for index, dims in enumerate(subsets):
            if dims in APART.get(rank, ()):
                continue
            name = ("mean", "sum")[index % 2]
            keep = index % 3 == 0
            branches[f"{name} of {shape} over {dims}"] = Branch(reduced(name, dims, keep), (torch.randn(shape),))
    branches["mean of all"] = Branch(Function(lambda x: x.mean()), (torch.randn(2, 5),))
    branches["sum of all"] = Branch(Function(lambda x: x.sum()), (torch.randn(2, 3, 4, 5),))
    branches["rows"] = Branch(Function(lambda x: x.mean((1, 2))), (torch.randn(2, 3, 4, 5),))
    branches["with a batch of one"] = Branch(Function(lambda x: x.sum((0, 3))), (torch.randn(1, 3, 4, 5),))
    branches["then relu"] = Branch(Function(lambda x: torch.relu(x.sum(1))), (torch.randn(2, 3, 4),))
    found = branches_apart(branches)
    far = {name: apart.distance for name, apart in found.items() if apart.distance > 1}
    assert not far
    assert all({"reduce_sum", "avg_pool2d"} & set(apart.ops) for apart in found.values())
    assert "max_pool2d" not in found["then relu"].ops


EXTREMA = {
    "max along a dimension": lambda x: x.max(1).values,
    "min along a dimension": lambda x: torch.min(x, -1, keepdim=True)[0],
    "max of all": lambda x: x.max(),
    "min of all": lambda x: torch.min(x),
    "minimum of both": lambda x: x.aminmax(dim=2)[0],
    "maximum of both": lambda x: torch.aminmax(x).max,
    "the largest one": lambda x: x.topk(1, 1)[0],
    "the smallest one": lambda x: x.topk(1, largest=False).values,
    "width alone": lambda x: x.amax(3),
    "an image's size": lambda x: x.amax((-2, -1), keepdim=True),
    "then relu": lambda x: torch.relu(x.amin(1)),
    "no dimensions": lambda x: x.amax(()),
}


def test_maxima_and_minima():
    """Over any dimensions, also those apart in memory, and as PyTorch has them besides amax and amin."""
    torch.manual_seed(6)
    branches = {name: Branch(Function(f), (torch.randn(2, 3, 4, 5),)) for name, f in EXTREMA.items()}
    for shape in [(2, 3, 4, 5), (3, 4, 5), (6, 7)]:
        rank = len(shape)
        subsets = [dims for count in range(1, rank + 1) for dims in itertools.combinations(range(rank), count)]
        for index, dims in enumerate(subsets):
            function = reduced(("amax", "amin")[index % 2], dims, index % 3 == 0)
            branches[f"{shape} over {dims}"] = Branch(function, (torch.randn(shape),))
    found = branches_apart(branches)
    # Nothing is requantized.
    assert {name: apart.distance for name, apart in found.items() if apart.distance} == {}
    pools = {name for name, apart in found.items() if "reduce_extremum" not in apart.ops}
    assert pools == {name for name in pools if "max_pool2d" in found[name].ops} >= {"width alone", "an image's size"}


def test_indices_come_from_argmax():
    branches = {
        "max": Branch(Function(lambda x: torch.add(*x.max(1))), (torch.randn(2, 5),)),
        "topk": Branch(Function(lambda x: torch.add(*x.topk(1, largest=False))), (torch.randn(2, 5),)),
        "three": Branch(Function(lambda x: x.topk(3)[0]), (torch.randn(2, 5),)),
    }
    reports = {
        name: {report.target: report.delegated for report in reports if not report.is_border}
        for name, reports in reports_of_branches(branches).items()
    }
    assert reports["max"]["aten.amax.default"] and "aten.argmax.default" in reports["max"]
    assert reports["topk"]["aten.amin.default"] and "aten.argmin.default" in reports["topk"]
    assert reports["three"] == {"aten.topk.default": False}


def test_an_index_at_the_border_stays_outside():
    """The delegate computes what lies before or after it; the message says what to do."""
    linear = nn.Linear(8, 4)
    classes = lowered(Function(lambda x: linear(x).argmax(-1), linear=linear), torch.randn(3, 8))
    embedding = nn.Embedding(20, 8)
    tokens = Function(lambda x: linear(embedding(x)).amax(1), linear=linear, embedding=embedding)
    tokens = lowered(tokens, torch.randint(0, 20, (2, 5)))
    for result, index, layer in ((classes, "argmax", "linear"), (tokens, "embedding", "linear")):
        (refused,) = [report for report in result.reports if not report.delegated]
        assert refused.target == f"aten.{index}.default" and "in the application" in refused.message
        assert any(layer in report.target for report in result.reports if report.delegated)


def test_dimensions_apart_in_memory_are_refused():
    branches = {
        f"{rank}, {dims}": Branch(reduced("sum", dims, False), (torch.randn((2, 3, 4, 5)[:rank]),))
        for rank, several in APART.items()
        for dims in several
    }
    for reports in reports_of_branches(branches).values():
        (report,) = [report for report in reports if not report.is_border]
        assert "apart in memory; reduce them one after the other" in report.message
