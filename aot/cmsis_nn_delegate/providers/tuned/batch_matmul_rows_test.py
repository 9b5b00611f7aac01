"""Which products of matrices the tuned kernels compute, and with how much scratch memory."""

from __future__ import annotations

import pytest

from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.graph.ir import Node
from cmsis_nn_delegate.ops.batch_matmul import BatchMatmulAttrs, Matrices
from cmsis_nn_delegate.providers.tuned.batch_matmul_pairs import BatchMatmulPairs
from cmsis_nn_delegate.providers.tuned.batch_matmul_rows import largest_sum
from cmsis_nn_delegate.providers.tuned.batch_matmul_vectors import BatchMatmulVectors
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.random_case import RandomCase

PAIRS, VECTORS = BatchMatmulPairs(), BatchMatmulVectors()
KERNELS = [(PAIRS, "cortex-m4"), (VECTORS, "cortex-m55")]


def product(rows: int, columns: int, row_size: int, step: float = 100.0, zero_points: tuple[int, int] = (0, 0)) -> Node:
    """A step of the output is `step` times one of the sums."""
    d = RandomCase(0)
    a, b = Matrices(1, 1, rows, row_size), Matrices(1, 1, columns, row_size)
    inputs = [
        d.input(1, m.rows, m.row_size, quant=d.quant(0.5, zero_point)) for m, zero_point in zip((a, b), zero_points)
    ]
    graph = d.graph(d.node("batch_matmul", inputs, BatchMatmulAttrs(a, b), d.quant(0.25 * step, 0)))
    return next(node for node in graph.nodes if node.op == "batch_matmul")


def test_the_kernels_have_different_instruction_sets():
    assert PAIRS.isas == {Isa.DSP} and VECTORS.isas == {Isa.MVE}


@pytest.mark.parametrize("kernel, core", KERNELS)
@pytest.mark.parametrize("columns", [4, 5, 17, 32, 100])
def test_less_scratch_memory_is_more_passes(kernel, core, columns):
    node = product(6, columns, 21)
    spaces = [kernel.workspace(node, get_target(core)), *kernel.smaller_workspaces(node)]
    sizes = [space.scratch_bytes for space in spaces]
    assert sizes == sorted(set(sizes), reverse=True) and all(size % 16 == 0 for size in sizes)
    assert sizes[-1] == kernel.fixed_bytes(21) + kernel.block_bytes(21)
    passes = [kernel.packing(node, size).passes for size in sizes]
    assert passes == sorted(set(passes)) and passes[0] == 1 and passes[-1] == -(-columns // 4)


def test_rows_take_whole_fours_and_vectors():
    assert (PAIRS.fixed_bytes(21), PAIRS.block_bytes(21)) == (2 * 2 * 24, 4 * 2 * 24)
    assert (VECTORS.fixed_bytes(21), VECTORS.block_bytes(21)) == (0, 4 * (32 + 4))


@pytest.mark.parametrize(
    "node, pairs, vectors",
    [
        (product(2, 4, 1), "", ""),
        (product(1, 4, 9), "2 rows at a time", ""),
        (product(9, 3, 9), "4 columns at a time", ""),
        (product(4, 4, 9, step=0.9), "finer steps", "finer steps"),
        (product(4, 4, 9, step=2.0**24), "more than 2^22", ""),
        (product(4, 4, 16512, zero_points=(-128, 127)), "", ""),
        (product(4, 4, 16513, zero_points=(-128, 127)), "31 bits", ""),
    ],
)
def test_what_is_refused(node, pairs, vectors):
    for kernel, reason in ((PAIRS, pairs), (VECTORS, vectors)):
        why = kernel.why_not(node)
        assert reason in why and bool(reason) == bool(why)


def test_no_sum_is_larger():
    assert largest_sum(product(1, 1, 7, zero_points=(-128, 100))) == 7 * 255 * 228
