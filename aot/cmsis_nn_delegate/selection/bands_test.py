from dataclasses import replace

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.selection.bands import compute_in_bands
from cmsis_nn_delegate.selection.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.planned import plan
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


def wide_between():
    """8 channels, 24 of the same size, and 8 of a quarter of it."""
    builder = GraphBuilder()
    wide = builder.conv2d(builder.conv2d(builder.input(1, 3, 24, 24), 8, (1, 1)), 24, (1, 1))
    narrow = builder.depthwise_conv2d(wide, 1, kernel=(3, 3), stride=(2, 2), padding=Padding(1, 1, 1, 1))
    return builder.graph(builder.conv2d(narrow, 8, (1, 1)))


def chosen(graph, target="cortex-m55"):
    return choose_kernels(legalize(graph), get_target(target))


def banded_within(max_slowdown, before):
    return compute_in_bands(replace(before, options=replace(before.options, max_slowdown=max_slowdown)))


def kernels(choices):
    return [choice.implementation.name for choice in choices.choices]


def arena(choices):
    return plan(choices).memory.arena_bytes


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55"])
def test_a_wide_tensor_is_never_there_as_a_whole(target):
    graph = wide_between()
    before = chosen(graph, target)
    assert arena(before) >= 24 * 24 * 24
    banded = banded_within(20, before)
    assert arena(banded) < 24 * 24 * 24 * 0.75
    (note,) = banded.graph.notes
    assert f"for {arena(banded):,} bytes of arena instead of {arena(before):,}" in note
    assert graph.notes == [] and before.graph is graph
    inputs = networks.random_inputs(graph, 0)
    np.testing.assert_array_equal(reference.run(banded.graph, inputs)[0], reference.run(graph, inputs)[0])


def test_the_slowdown_is_limited():
    before = chosen(wide_between())
    assert banded_within(0, before).graph is before.graph
    assert banded_within(0.01, before).graph is before.graph
    sizes = [arena(banded_within(limit, before)) for limit in (0, 2, 50)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]


def test_the_limit_of_flash_growth_stays():
    builder = GraphBuilder()
    wide = builder.conv2d(builder.conv2d(builder.input(1, 3, 24, 24), 8, (1, 1)), 24, (1, 1))
    narrow = builder.depthwise_conv2d(wide, 1, kernel=(3, 3), stride=(2, 2), padding=Padding(1, 1, 1, 1))
    small = builder.conv2d(narrow, 8, (1, 1))
    graph = builder.graph(builder.conv2d(small, 16, (3, 3), padding=Padding(1, 1, 1, 1)))
    m4 = get_target("cortex-m4")
    before = choose_kernels(legalize(graph, PayloadOptions(max_flash_growth=1 << 20)), m4)
    assert "conv2d_winograd" in kernels(before)
    banded = banded_within(20, before)
    assert banded.graph is not graph and banded.options.max_flash_growth == 1 << 20
    assert "conv2d_winograd" in kernels(banded)


def test_a_graph_without_chains_stays():
    before = chosen(networks.autoencoder())
    assert banded_within(50, before).graph is before.graph


def test_mobilenet():
    assert arena(banded_within(5, chosen(networks.mobilenet_v1_025()))) == 28_000
