"""Integer reference == TensorFlow Lite Micro for every activation of the MLPerf Tiny networks, byte for byte.

The simulated devices are compared with the outputs of the reference.
"""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from examples.mlperf_tiny import networks
from tests.end_to_end.vectors import NETWORKS, load_vectors, lowered_graph
from tests.witness.tflm import Tflm

make_torch_faster()

# The format of each is that of all of its activations, or of the weights of its convolutions.
IN_FORMATS = {
    ("autoencoder", "int16"): Element.INT16,
    ("ds_cnn", "int16"): Element.INT16,
    ("resnet8", "int16"): Element.INT16,
    ("ds_cnn", "w4"): Element.INT4,
    ("resnet8", "w4"): Element.INT4,
}


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


@pytest.mark.parametrize("name, preset", IN_FORMATS)
def test_every_byte_in_another_format_is_tflms(name, preset):
    """operators_test draws single calls in these formats; here are the scales, sizes and limits that a network has, as
    the compiler makes them of a preset.

    What TFLM computes by a rule of its own is left out: the softmax, of which it rounds exponentials of int16 to 15
    bits, and weights of 4 bits in linear layers, which have one scale in TFLM, so that they keep 8 bits here and the
    autoencoder, which has no other layers, is not compared in w4. mobilenet has the operators of ds_cnn."""
    given = networks.NETWORKS[name]
    module = given.random()
    if given.is_classifier:
        module.classifier = module.classifier[:-1]
    samples = given.random_inputs(8).split(1)
    compiled = compile_model(
        module,
        (samples[0],),
        "cortex-m4",
        [(x,) for x in samples],
        io="int16" if preset == "int16" else "int8",
        strict=True,
        quantizer=CmsisNnQuantizer("minmax", "per-channel", preset=preset),
        check=False,
    )
    nodes = compiled.graph.nodes
    convolutions = [node for node in nodes if "conv2d" in node.op]
    values = [node.output for node in nodes] if preset == "int16" else [node.inputs[1] for node in convolutions]
    assert {value.element for value in values} == {IN_FORMATS[name, preset]}
    tflm = Tflm(compiled.graph)
    for index, x in enumerate(given.random_inputs(4, seed=2).split(1)):
        found = tflm.difference([compiled.graph.inputs[0].type.quantize(x.numpy())])
        assert not found, f"{name} in {preset}, input {index}: {found}"
