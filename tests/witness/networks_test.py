"""Integer reference == TensorFlow Lite Micro for every activation of the MLPerf Tiny networks, byte for byte.

The simulated devices are compared with the outputs of the reference.
"""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate.files import serialize
from tests.end_to_end.vectors import NETWORKS, load_vectors, lowered_graph
from tests.witness.tflm import Tflm


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    return request.param


@pytest.fixture(scope="module")
def graph(network):
    return serialize.loads(lowered_graph(network))[0]


def test_every_byte_of_every_activation_is_tflms(network, graph):
    tflm = Tflm(graph)
    vectors = load_vectors(network)
    assert len(vectors.inputs) == 16
    for index, x in enumerate(vectors.inputs):
        found = tflm.difference([x])
        assert not found, f"{network}, input {index}: {found}"


def test_the_answers_are_what_the_devices_must_give(network, graph):
    (output,) = graph.outputs
    assert graph.nodes[-1].output is output and output.storage_shape == output.shape
    tflm = Tflm(graph)
    vectors = load_vectors(network)
    answers = np.stack([tflm.run([x])[-1] for x in vectors.inputs])
    assert answers.tobytes() == vectors.expected.tobytes()
    assert len({answer.tobytes() for answer in answers}) > 8, "the network has the same outputs for all inputs"
