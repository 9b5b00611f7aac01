import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops import storage
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.payload.tensor_data import from_bytes, to_bytes
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_bytes_are_the_storage_of_the_graph(seed):
    graph = networks.random_network(seed)
    view = decode(encode(graph, get_target("cortex-m4")).payload)
    for value, tensor, array in zip(graph.inputs, view.inputs, networks.random_inputs(graph, seed)):
        data = to_bytes(array, tensor)
        assert data == storage.to_storage(array, value).tobytes()
        assert np.array_equal(from_bytes(data, tensor), array)


def test_other_tensors_are_refused():
    (tensor,) = decode(encode(networks.autoencoder(), get_target("cortex-m4")).payload).inputs
    with pytest.raises(ValueError, match=r"takes int8\[1, 640\], not float32\[1, 640\]"):
        to_bytes(np.zeros((1, 640), np.float32), tensor)
    with pytest.raises(ValueError, match="640 bytes, not 3"):
        from_bytes(b"abc", tensor)
