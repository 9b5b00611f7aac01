import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.registry import OPS, calls
from cmsis_nn_delegate.passes.row_bands import chains, split_into_bands
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.random_case import RandomCase


def macs(graph):
    return sum(OPS[node.op].macs(node) for node in calls(graph))


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**32), st.data())
def test_bands_compute_the_same_and_nothing_twice(seed, data):
    graph = networks.random_convolutions(seed)
    text = str(graph)
    inputs = networks.random_inputs(graph, seed)
    expected = reference.run(graph, inputs)
    found = list(chains(graph, 3))
    if not found:
        return
    chain = data.draw(st.sampled_from(found))
    try:
        split = split_into_bands(graph, chain, data.draw(st.integers(1, chain[-1].output.shape[2])))
    except ValueError as error:
        assert "need no new rows" in str(error) or "computed from padding" in str(error)
        return
    for a, b in zip(reference.run(split, inputs), expected):
        np.testing.assert_array_equal(a, b)
    assert macs(split) <= macs(graph)  # less where no window reads the last rows
    assert str(graph) == text


def test_rows_that_the_next_band_reads_are_copied():
    d = RandomCase(1)
    between = d.conv2d(d.input(1, 2, 8, 4), 3, (1, 1))
    graph = d.graph(d.depthwise_conv2d(between, 1, kernel=(3, 3), padding=Padding(1, 1, 1, 1)))
    (chain,) = chains(graph, 3)
    split = split_into_bands(graph, chain, 4)
    assert [(node.op, node.output.shape) for node in split.nodes] == [
        ("part", (1, 2, 5, 4)),  # for rows 0 to 4 of what is between
        ("conv2d", (1, 3, 5, 4)),
        ("depthwise_conv2d", (1, 3, 4, 4)),
        ("part", (1, 2, 3, 4)),
        ("part", (1, 3, 2, 4)),  # rows 3 and 4 again
        ("transpose", (1, 3, 2, 4)),
        ("conv2d", (1, 3, 3, 4)),
        ("join", (1, 3, 5, 4)),
        ("depthwise_conv2d", (1, 3, 4, 4)),
        ("join", (1, 3, 8, 4)),
    ]
    assert [node.attrs.padding for node in split.nodes if node.op == "depthwise_conv2d"] == [
        Padding(1, 1, 0, 1),
        Padding(0, 1, 1, 1),
    ]


@pytest.mark.parametrize("read_again", ["by another node", "as an output", "a batch"])
def test_what_is_no_chain(read_again):
    d = RandomCase(1)
    between = d.conv2d(d.input(2 if read_again == "a batch" else 1, 2, 8, 4), 2, (1, 1))
    outputs = [d.conv2d(between, 2, (1, 1))]
    if read_again == "by another node":
        outputs = [d.add(*outputs, between)]
    elif read_again == "as an output":
        outputs.append(between)
    assert list(chains(d.graph(*outputs), 3)) == []


def test_bands_of_padding_are_refused():
    d = RandomCase(1)
    between = d.conv2d(d.input(1, 1, 4, 4), 1, (1, 1))
    graph = d.graph(d.conv2d(between, 1, (2, 1), padding=Padding(4, 0, 0, 0)))
    (chain,) = chains(graph, 2)
    with pytest.raises(ValueError, match="rows 0 to 2 are computed from padding"):
        split_into_bands(graph, chain, 2)
