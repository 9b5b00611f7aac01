"""How the kernel sees products of matrices, and its arithmetic next to that of real numbers."""

import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.ops.batch_matmul import BatchMatmulAttrs, matrices
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

BATCHES = st.lists(st.integers(1, 3), max_size=4)


def broadcast(draw_a, draw_b):
    """Two lists of batches that NumPy can broadcast."""
    count = min(len(draw_a), len(draw_b))
    b = list(draw_b)
    for i in range(1, count + 1):
        if b[-i] != 1 and draw_a[-i] != 1:
            b[-i] = draw_a[-i]
    return list(draw_a), b


@settings(max_examples=150, deadline=None)
@given(BATCHES, BATCHES, st.integers(1, 4), st.integers(1, 4), st.integers(1, 9), st.integers(0, 999))
def test_products_are_those_of_numpy_rounded(batches_a, batches_b, rows, columns, row_size, seed):
    batches_a, batches_b = broadcast(batches_a, batches_b)
    shape_a, shape_b = (*batches_a, rows, row_size), (*batches_b, row_size, columns)
    sizes = matrices(shape_a, shape_b)
    assume(sizes is not None)
    builder = GraphBuilder(seed)
    a, b = builder.input(*shape_a), builder.input(*shape_b[:-2], columns, row_size)
    for value in (a, b):
        value.retype(layout=a.layout.ROW_MAJOR)
    scale = a.scale * b.scale * 74 * math.sqrt(row_size)
    graph = builder.graph(builder.node("batch_matmul", [a, b], BatchMatmulAttrs(*sizes), builder.quant(scale)))
    data = [builder.random.integers(-128, 127, value.shape, endpoint=True).astype(np.int8) for value in (a, b)]
    (result,) = reference.run(graph, data)
    real = [(x.astype(np.float64) - value.zero_point) * value.scale for x, value in zip(data, (a, b))]
    wanted = real[0] @ real[1].swapaxes(-1, -2)
    steps = np.clip(wanted / scale + graph.outputs[0].zero_point, -128, 127)
    # The kernel rounds twice, the first time by a fraction of a step.
    assert np.abs(result.reshape(-1) - steps.reshape(-1)).max() <= 0.52


def test_one_matrix_for_all_batches_has_all_rows():
    assert matrices((2, 3, 4, 5), (5, 6)) == ((1, 1, 24, 5), (1, 1, 6, 5))
    assert matrices((2, 3, 4, 5), (3, 5, 6)) == ((2, 3, 4, 5), (1, 3, 6, 5))


def test_broadcasting_in_turns_has_no_kernel():
    assert matrices((2, 1, 2, 1, 4, 5), (1, 2, 1, 2, 5, 6)) is None
