import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.graph_builder import GraphBuilder
from cmsis_nn_delegate.ops.providers.registry import DEFAULT
from cmsis_nn_delegate.payload.bands import compute_in_bands
from cmsis_nn_delegate.payload.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.payload.encode import plan
from cmsis_nn_delegate.payload.planner.memory import IoPlacement
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing import networks

ARENA = IoPlacement.ARENA


def wide_between():
    """8 channels, 24 of the same size, and 8 of a quarter of it."""
    builder = GraphBuilder()
    wide = builder.conv2d(builder.conv2d(builder.input(1, 3, 24, 24), 8, (1, 1)), 24, (1, 1))
    narrow = builder.depthwise_conv2d(wide, 1, kernel=(3, 3), stride=(2, 2), padding=Padding(1, 1, 1, 1))
    return builder.graph(builder.conv2d(narrow, 8, (1, 1)))


def chosen(graph, target="cortex-m55"):
    return choose_kernels(legalize(graph, DEFAULT), get_target(target))


def kernels(choices):
    return [choice.encoder.name for choice in choices.choices]


def arena(choices):
    return plan(choices, ARENA).memory.arena_bytes


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55"])
def test_a_wide_tensor_is_never_there_as_a_whole(target):
    graph = wide_between()
    before = chosen(graph, target)
    assert arena(before) >= 24 * 24 * 24
    banded = compute_in_bands(before, ARENA, 20)
    assert arena(banded) < 24 * 24 * 24 * 0.75
    (note,) = banded.graph.notes
    assert f"for {arena(banded):,} bytes of arena instead of {arena(before):,}" in note
    assert graph.notes == [] and before.graph is graph
    inputs = networks.random_inputs(graph, 0)
    np.testing.assert_array_equal(reference.run(banded.graph, inputs)[0], reference.run(graph, inputs)[0])


def test_the_slowdown_is_limited():
    before = chosen(wide_between())
    assert compute_in_bands(before, ARENA, 0) is before
    assert compute_in_bands(before, ARENA, 0.01) is before
    sizes = [arena(compute_in_bands(before, ARENA, limit)) for limit in (0, 2, 50)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]


def test_the_limit_of_flash_growth_stays():
    builder = GraphBuilder()
    wide = builder.conv2d(builder.conv2d(builder.input(1, 3, 24, 24), 8, (1, 1)), 24, (1, 1))
    narrow = builder.depthwise_conv2d(wide, 1, kernel=(3, 3), stride=(2, 2), padding=Padding(1, 1, 1, 1))
    small = builder.conv2d(narrow, 8, (1, 1))
    graph = builder.graph(builder.conv2d(small, 16, (3, 3), padding=Padding(1, 1, 1, 1)))
    m4 = get_target("cortex-m4")
    before = choose_kernels(legalize(graph, DEFAULT), m4, max_flash_growth=1 << 20)
    assert "conv2d_winograd" in kernels(before)
    banded = compute_in_bands(before, ARENA, 20)
    assert banded is not before and banded.max_flash_growth == 1 << 20
    assert "conv2d_winograd" in kernels(banded)


def test_a_graph_without_chains_stays():
    before = chosen(networks.autoencoder())
    assert compute_in_bands(before, ARENA, 50) is before


def test_mobilenet():
    assert arena(compute_in_bands(chosen(networks.mobilenet_v1_025()), ARENA, 5)) == 27_920
