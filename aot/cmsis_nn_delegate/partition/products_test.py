"""Products of matrices in int8, as PyTorch writes them, in one delegate call."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


class WithMatrix(nn.Module):
    """A function of an input, a matrix or several, and a vector."""

    def __init__(self, function, *shape):
        super().__init__()
        self.function = function
        self.matrix, self.vector = nn.Parameter(torch.randn(shape)), nn.Parameter(torch.randn(3))

    def forward(self, x):
        return self.function(x, self.matrix, self.vector)


# By name: function, shapes, the operators between those at the border.
PRODUCTS = {
    "bmm": (torch.bmm, [(2, 3, 4), (2, 4, 5)], "strided_copy batch_matmul"),
    "mm": (torch.mm, [(3, 4), (4, 5)], "strided_copy batch_matmul"),
    "relu": (lambda a, b: F.relu(a @ b), [(2, 3, 4, 5), (2, 3, 5, 6)], "strided_copy batch_matmul"),
    "transposed": (lambda a, b: a @ b.transpose(-1, -2), [(2, 3, 4, 5), (2, 3, 6, 5)], "batch_matmul"),
    "one matrix": (torch.matmul, [(2, 3, 4, 5), (5, 6)], "strided_copy batch_matmul"),
    "one of each": (torch.matmul, [(2, 1, 4, 5), (1, 3, 5, 6)], "strided_copy batch_matmul"),
    "batches in turns": (torch.matmul, [(2, 1, 2, 1, 2, 3), (1, 2, 1, 2, 3, 2)], "strided_copy " * 2 + "batch_matmul"),
    "linear": (F.linear, [(2, 3, 4), (5, 4)], "batch_matmul"),
    "itself": (lambda x: x @ x.mT, [(2, 4, 5)], "batch_matmul"),
    "attention by einsum": (
        lambda q, k: torch.einsum("bihd,bjhd->bhij", q, k),
        [(1, 4, 2, 3), (1, 5, 2, 3)],
        "strided_copy " * 2 + "batch_matmul",
    ),
    "three operands": (
        lambda a, b, c: torch.einsum("bik,bjk,bjl->bil", a, b, c),
        [(2, 3, 4), (2, 5, 4), (2, 5, 6)],
        "batch_matmul strided_copy batch_matmul",
    ),
    "three factors": (lambda a, b, c: torch.einsum("bi,bi,bi->bi", a, b, c), [(3, 4)] * 3, "mul mul"),
    "inner": (torch.inner, [(4, 5), (3, 5)], "batch_matmul"),
    "outer": (torch.outer, [(4,), (5,)], "mul"),
    "sum of all batches": (torch.addbmm, [(3, 5), (2, 3, 4), (2, 4, 5)], "strided_copy " * 2 + "batch_matmul add"),
    "factors": (
        lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5, alpha=2.0),
        [(2, 3, 5), (2, 3, 4), (2, 4, 5)],
        "strided_copy batch_matmul lookup add",
    ),
    "sum": (torch.baddbmm, [(2, 3, 5), (2, 3, 4), (2, 4, 5)], "strided_copy batch_matmul add"),
}
# Of an input [2, 5, 8].
CONSTANT = {
    "constant matrix": (WithMatrix(lambda x, matrix, _: x @ matrix, 8, 3), "fully_connected"),
    "constant matrix and vector": (WithMatrix(lambda x, matrix, vector: x @ matrix + vector, 8, 3), "fully_connected"),
    "addmm": (
        WithMatrix(lambda x, matrix, vector: torch.addmm(vector, x.flatten(0, -2), matrix), 8, 3),
        "fully_connected",
    ),
    "constant column": (WithMatrix(lambda x, column, _: x @ column, 8), "fully_connected"),
    "einsum": (WithMatrix(lambda x, matrix, _: torch.einsum("btc,co->bto", x, matrix), 8, 3), "fully_connected"),
    "tensordot": (WithMatrix(lambda x, matrix, _: torch.tensordot(x, matrix, 1), 8, 3), "fully_connected"),
    "bilinear": (
        WithMatrix(lambda x, matrices, _: F.bilinear(x, x, matrices), 3, 8, 8),
        "fully_connected batch_matmul",
    ),
    "a matrix for each batch": (WithMatrix(lambda x, matrices, _: torch.bmm(x, matrices), 2, 8, 3), "batch_matmul"),
    "batches in turns": (
        WithMatrix(lambda x, matrices, _: x.reshape(1, 2, 1, 5, 8) @ matrices, 2, 1, 2, 8, 3),
        "strided_copy batch_matmul",
    ),
    "on the left": (WithMatrix(lambda x, matrix, _: matrix @ x, 4, 5), "strided_copy batch_matmul"),
    "on the left, for each batch": (WithMatrix(lambda x, matrix, _: matrix @ x, 2, 4, 5), "strided_copy batch_matmul"),
    "relative positions": (WithMatrix(lambda x, matrix, _: x @ x.mT + matrix, 5, 5), "batch_matmul add"),
}


def test_products():
    branches = {
        name: Branch(Function(function), tuple(map(torch.randn, shapes)))
        for name, (function, shapes, _) in PRODUCTS.items()
    }
    branches |= {name: Branch(module, (torch.randn(2, 5, 8),)) for name, (module, _) in CONSTANT.items()}
    for name, apart in branches_apart(branches).items():
        assert apart.distance <= 1, name
        between = [op for op in apart.ops if op not in ("quantize", "dequantize")]
        assert between == {**PRODUCTS, **CONSTANT}[name][-1].split(), name
