"""separate_outputs on hand-built graphs."""

import pytest

from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.passes.separate_outputs import separate_outputs
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def test_inputs_and_repeated_outputs_are_copied():
    d = Drawing()
    x = d.input(1, 2, 3, 3)
    y = d.conv2d(x)
    graph = d.returns(y, x, y)
    separate_outputs(graph)
    graph.verify()
    assert (
        wiring(graph) == "v1=conv2d(v0) v0_output1=transpose(v0) v1_output2=transpose(v1) -> v1 v0_output1 v1_output2"
    )


def test_floats_are_computed_again():
    d = Drawing()
    y = d.dequantize(d.input(1, 4))
    graph = d.returns(y, y)
    separate_outputs(graph)
    assert wiring(graph) == "v1=dequantize(v0) v1_output1=dequantize(v0) -> v1 v1_output1"


def test_a_float_input_cannot_be_returned():
    d = Drawing()
    x = d.input(1, 4, element=Element.FLOAT32)
    with pytest.raises(ValueError, match="float input"):
        separate_outputs(d.returns(x))
