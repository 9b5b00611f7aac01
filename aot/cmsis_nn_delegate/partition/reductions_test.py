"""Means, sums, maxima and minima over dimensions, from the module to the integers."""

import itertools

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart, in_float, lowered, reports_of_branches

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


RUNNING = {
    "sum of rows": lambda x: x.cumsum(-1),
    "sum of columns": lambda x: torch.cumsum(x, 1),
    "sum along the batch": lambda x: x.cumsum(0),
    "sum of a vector": lambda x: x[0, 0].cumsum(0),
    "sum of an image's rows": lambda x: x.unsqueeze(1).cumsum(2),
    "sum of one": lambda x: x[:, :1].cumsum(1),
    "long sum": lambda x: x.reshape(3, 140).cumsum(1),
    "product": lambda x: x.sigmoid().cumprod(1),
    "maximum": lambda x: x.cummax(-1).values,
    "minimum": lambda x: x.cummin(1)[0],
}


def test_running_sums_products_and_extrema():
    """Sums are rounded once: nothing but the products of one layer is between the input and the output, in blocks if
    they are long."""
    torch.manual_seed(7)
    branches = {name: Branch(Function(f), (torch.randn(3, 5, 28),)) for name, f in RUNNING.items()}
    branches["very long sum"] = Branch(Function(lambda x: x.cumsum(1)), (torch.rand(1, 2100),))
    found = branches_apart(branches)
    assert {name: apart.distance for name, apart in found.items() if apart.distance > 1} == {}
    assert {name: apart.error for name, apart in found.items() if apart.error > 0.04} == {}
    computing = {name: [op for op in apart.ops if op in ("fully_connected", "add")] for name, apart in found.items()}
    assert computing["sum of columns"] == ["fully_connected"]
    assert computing["long sum"] == ["fully_connected", "fully_connected", "add"]
    largest = max(
        value.numel for node in found["very long sum"].graph.nodes for value in node.inputs if value.is_constant
    )
    assert largest <= 16384


def test_indices_come_from_argmax():
    branches = {
        "max": Branch(Function(lambda x: torch.add(*(x * 2).max(1))), (torch.randn(2, 5),)),
        "topk": Branch(Function(lambda x: torch.add(*(x * 2).topk(1, largest=False))), (torch.randn(2, 5),)),
    }
    reports = {
        name: {report.target: report.delegated for report in reports if not report.is_border}
        for name, reports in reports_of_branches(branches).items()
    }
    assert reports["max"]["aten.amax.default"] and reports["max"]["aten.argmax.default"]
    assert reports["topk"]["aten.amin.default"] and reports["topk"]["aten.argmin.default"]


SORTED = {
    "all": lambda x: x.sort(-1).values,
    "the other way round": lambda x: torch.sort(x, 1, descending=True)[0],
    "stable": lambda x: torch.sort(x, dim=1, stable=True)[0],
    "along the first dimension": lambda x: x.msort(),
    "the largest": lambda x: x.topk(3)[0],
    "the smallest": lambda x: torch.topk(x, 2, 1, largest=False).values,
    "the middle": lambda x: x.median(-1).values,
    "a filter": lambda x: x.unfold(-1, 3, 1).median(-1, keepdim=True)[0],
    "the second": lambda x: x.kthvalue(2)[0],
}


def test_few_numbers_are_sorted():
    torch.manual_seed(9)
    branches = {name: Branch(Function(f), (torch.randn(4, 5),)) for name, f in SORTED.items()}
    sort = Function(lambda x: x.sort(-1)[0])
    branches |= {f"{count} numbers": Branch(sort, (torch.randn(9, count),)) for count in (2, 3, 4, 6, 7, 8)}
    for name, apart in branches_apart(branches).items():
        assert apart.distance == 0 and apart.error < 0.01, name


MANY = {
    "all": lambda x: x.sort(1),
    "the other way round": lambda x: torch.sort(x, 1, descending=True),
    "of images": lambda x: x.unflatten(2, (2, 3)).topk(5, 1),
    "along the batch": lambda x: x.topk(2, 0, largest=False),
    "along the last dimension": lambda x: x.transpose(1, 2).topk(4),
    "all numbers": lambda x: x.flatten().topk(7),
    "the middle": lambda x: x.median(1),
    "the fourth": lambda x: x.kthvalue(4, 1, keepdim=True),
    "the last but one": lambda x: x.kthvalue(18, 1),
}
NUMBERS_ALONE = {"the middle of all": lambda x: x.median(), "first dimension": lambda x: x.transpose(0, 1).msort()}


@pytest.mark.parametrize("io", ["float", "int8"])
def test_many_numbers_are_sorted(io):
    """As PyTorch sorts them, without an error; of equal numbers the first one comes first."""
    torch.manual_seed(10)
    sorting = {
        **{f"numbers, {name}": Function(lambda x, f=f: f(x)[0]) for name, f in MANY.items()},
        **{name: Function(f) for name, f in NUMBERS_ALONE.items()},
        **{
            f"indices, {name}": Function(lambda x, f=f: f(x)[1])
            for name, f in MANY.items()
            if name not in ("the middle", "the fourth", "the last but one")  # chosen outside of the delegate
        },
        "indices of few": Function(lambda x: x.topk(2, 2)[1]),
        "argsort": Function(lambda x: x.argsort(1, descending=True)),
    }
    branches = {name: Branch(function, (torch.randn(9, 19, 6),)) for name, function in sorting.items()}
    found = branches_apart(branches, io)
    assert {name: apart.distance for name, apart in found.items() if apart.distance} == {}
    for name, apart in found.items():
        assert apart.ops.count("topk_indices" if name.startswith(("indices", "argsort")) else "topk_values") == 1, name


def test_what_sorts_in_float_is_given_back():
    """ExecuTorch has a kernel for topk, and none for sort or operators of this package."""
    result = lowered(Function(lambda x: (in_float(x).sort(1), in_float(x).median(1)[1])), torch.randn(2, 9))
    targets = [str(node.target) for node in result.edge.exported_program().graph.nodes]
    assert sum("aten.topk.default" in target for target in targets) == 3
    others = ("topk_values.", "topk_indices.", "sort.", "median.")
    assert not any(name in target for name in others for target in targets)
    assert not any(report.delegated for report in result.reports if "topk_" in report.target)


def test_what_no_kernel_sorts_is_refused_with_advice():
    functions = (lambda x: x.nanmedian(), lambda x: x.quantile(0.3), lambda x: x.mode(1)[0])
    branches = {str(i): Branch(Function(f), (torch.randn(2, 9),)) for i, f in enumerate(functions)}
    for reports in reports_of_branches(branches).values():
        (refused,) = (report for report in reports if not report.is_border)
        assert "compute what is none of these from them in the application" in refused.message


def indices():
    conv, linear = nn.Conv2d(3, 8, 3), nn.Linear(6, 5)
    image, rows = (1, 3, 6, 7), (3, 6)
    forms = {
        "classes of pixels": (lambda x: conv(x).argmax(1), image),
        "kept": (lambda x: conv(x).argmax(1, keepdim=True), image),
        "rows": (lambda x: conv(x).argmin(2), image),
        "columns": (lambda x: conv(x).argmin(-1, keepdim=True), image),
        "of all": (lambda x: conv(x).argmax(), image),
        "of all, kept": (lambda x: torch.argmin(conv(x), keepdim=True), image),
        "classes": (lambda x: linear(x).argmax(-1), rows),
        "of probabilities": (lambda x: linear(x).softmax(1).argmax(1), rows),
        "by topk": (lambda x: linear(x).topk(1)[1], rows),
        "by max": (lambda x: linear(x).max(0).indices, rows),
    }
    return {
        name: Branch(Function(f, **({"conv": conv} if shape is image else {"linear": linear})), (torch.randn(shape),))
        for name, (f, shape) in forms.items()
    }


@pytest.mark.parametrize("io", ["float", "int8"])
def test_indices_leave_the_delegate(io):
    torch.manual_seed(8)
    found = branches_apart(indices(), io)
    assert {name: apart.distance for name, apart in found.items() if apart.distance} == {}
    assert all(apart.ops[-1] == "arg_extremum" and apart.output.element is Element.INT64 for apart in found.values())


def test_an_index_that_is_read_or_stands_alone():
    """What reads it stays outside; on a result in float, it stays in float, too."""
    linear = nn.Linear(6, 5)
    module = Function(lambda x: (linear(x).argmax(1) + 1, in_float(x).argmax(1)), linear=linear)
    reports = lowered(module, torch.randn(3, 6)).reports
    assert [report.delegated for report in reports if "argmax" in report.target] == [True, False]


def test_dimensions_apart_in_memory_are_refused():
    branches = {
        f"{rank}, {dims}": Branch(reduced("sum", dims, False), (torch.randn((2, 3, 4, 5)[:rank]),))
        for rank, several in APART.items()
        for dims in several
    }
    for reports in reports_of_branches(branches).values():
        (report,) = [report for report in reports if not report.is_border]
        assert "apart in memory; reduce them one after the other" in report.message
