"""Every operand of a call has a writer, and its range is what its integers stand for."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.registry import OPS, calls
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.tensors import tensors_of
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

NONE = {}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_calls_read_what_calls_before_them_write(seed):
    graph = encode(networks.random_network(seed), get_target("cortex-m4")).graph
    tensors = tensors_of(graph, NONE)
    assert [t.value for t in tensors if t.kind == "input"] == [value.name for value in graph.inputs]
    outputs = {value.name for value in graph.outputs}
    assert {t.value for t in tensors if t.kind == "output"} == outputs - {value.name for value in graph.inputs}
    renamed = {value.name for node in graph.nodes if OPS[node.op].only_places for value in node.outputs}
    for tensor in tensors:
        # A part of an input has none.
        assert tensor.writers or tensor.kind == "input" or tensor.value in renamed
        assert all(writer < reader for writer in tensor.writers for reader in tensor.readers)
    for index, node in enumerate(calls(graph)):
        read = {value.name for value in node.inputs if not value.is_constant}
        assert read == {t.value for t in tensors if index in t.readers}


def test_what_only_renames_has_the_writers_of_what_it_renames():
    found = set()
    for seed in range(60):
        graph = encode(networks.random_network(seed), get_target("cortex-m4")).graph
        writers = {t.value: set(t.writers) for t in tensors_of(graph, NONE)}
        for node in graph.nodes:
            if OPS[node.op].only_places and all(v.name in writers for v in (*node.inputs, *node.outputs)):
                found.add(node.op)
                for value in node.outputs:
                    assert writers[value.name] == set().union(*(writers[x.name] for x in node.inputs))
    assert len(found) > 1, found


def test_ranges():
    builder = GraphBuilder()
    x = builder.input(1, 4, 6, 6)
    (found, _) = tensors_of(builder.graph(builder.conv2d(x, 2, (1, 1))), NONE)
    assert found.low == found.scale * (-128 - found.zero_point)
    assert found.high == found.scale * (127 - found.zero_point)
