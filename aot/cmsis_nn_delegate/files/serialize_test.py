import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.random_case import RandomCase


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_graphs_survive_a_file(seed):
    graph = networks.random_network(seed)
    data = serialize.dumps(graph, {"name": "x"})
    loaded, about = serialize.loads(data)
    assert about == {"name": "x"}
    assert str(loaded) == str(graph)
    assert serialize.dumps(loaded, about) == data
    target = get_target("cortex-m7")
    assert encode(loaded, target).payload == encode(graph, target).payload
    inputs = networks.random_inputs(graph, seed)
    for a, b in zip(reference.run(loaded, inputs), reference.run(graph, inputs)):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.kernels])
def test_every_operator_survives_a_file(name):
    for seed, draw in enumerate(OPS[name].draws):
        case = RandomCase(seed)
        graph = case.graph(draw(case))
        loaded, _ = serialize.loads(serialize.dumps(graph, {}))
        assert [node.attrs for node in loaded.nodes] == [node.attrs for node in graph.nodes]
        assert str(loaded) == str(graph)


def test_other_files_are_refused(tmp_path):
    good = serialize.dumps(networks.random_network(1), {})
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    for data in (b"", b"text", good[:100], good[:-30], (tmp_path / "other.npz").read_bytes()):
        with pytest.raises(ValueError, match="not a graph file"):
            serialize.loads(data)


def test_files_have_no_arrays_but_those_of_the_graph(monkeypatch):
    """With any NumPy: `savez` of 2.0 takes every keyword for an array, allow_pickle too."""

    def of_numpy_2_0(file, *arrays, **named):
        with zipfile.ZipFile(file, "w") as archive:
            for name, array in named.items():
                content = io.BytesIO()
                np.lib.format.write_array(content, np.asanyarray(array))
                archive.writestr(f"{name}.npy", content.getvalue())

    monkeypatch.setattr(np, "savez", of_numpy_2_0)
    builder = GraphBuilder(0)
    graph = builder.graph(builder.conv2d(builder.input(1, 3, 6, 6), 4, (3, 3)))
    assert str(serialize.loads(serialize.dumps(graph, {}))[0]) == str(graph)
