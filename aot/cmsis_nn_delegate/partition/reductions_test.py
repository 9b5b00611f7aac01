"""Means and sums over dimensions, from the module to the integers."""

import itertools

import torch

from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart, reports_of_branches

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


def test_dimensions_apart_in_memory_are_refused():
    branches = {
        f"{rank}, {dims}": Branch(reduced("sum", dims, False), (torch.randn((2, 3, 4, 5)[:rank]),))
        for rank, several in APART.items()
        for dims in several
    }
    for reports in reports_of_branches(branches).values():
        (report,) = [report for report in reports if not report.is_border]
        assert "apart in memory; reduce them one after the other" in report.message
