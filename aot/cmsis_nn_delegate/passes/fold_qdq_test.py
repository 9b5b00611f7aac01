"""fold_qdq on hand-built graphs."""

import numpy as np
import pytest

from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant
from cmsis_nn_delegate.ops.lookup import entries_of
from cmsis_nn_delegate.passes.fold_qdq import fold_qdq
from cmsis_nn_delegate.testing.drawing import Drawing, Q, wiring

FLOAT = Element.FLOAT32
OTHER = Quant((0.25,), 3)


def folded(graph):
    fold_qdq(graph)
    graph.verify()
    return wiring(graph)


def test_operators_become_int8_and_the_border_stays():
    d = Drawing()
    x = d.input(1, 2, 3, 3, element=FLOAT)
    a = d.dequantize(d.quantize(x))
    b = d.dequantize(d.quantize(d.conv2d(a), OTHER))
    graph = d.returns(d.dequantize(d.quantize(d.max_pool2d(b, 3), OTHER)))
    assert folded(graph) == "v1=quantize(v0) v3=conv2d(v1) v6=max_pool2d(v3) v8=dequantize(v6) -> v8"
    assert [node.output.element for node in graph.nodes] == [Element.INT8] * 3 + [FLOAT]
    assert [node.output.quant for node in graph.nodes] == [Q, OTHER, OTHER, None]
    assert graph.nodes[1].sources == ("edge2", "edge3")


def test_int8_border_keeps_the_values_of_the_caller():
    d = Drawing()
    x = d.input(1, 2, 3, 3)
    output = d.quantize(d.conv2d(d.dequantize(x)), OTHER)
    output.retype(layout=Layout.CHANNELS_LAST)
    graph = d.returns(output)
    assert folded(graph) == "v3=conv2d(v0) -> v3"
    assert graph.outputs[0] is output


def test_parameters_come_from_behind_reshapes():
    d = Drawing()
    x = d.input(1, 2, 3, 3)
    y = d.reshape(d.conv2d(d.dequantize(x)), 1, 18)
    graph = d.returns(d.quantize(y, OTHER))
    assert folded(graph) == "v2=conv2d(v0) v4=reshape(v2) -> v4"
    assert graph.nodes[0].output.quant == OTHER


def test_reshapes_in_front_keep_the_parameters():
    d = Drawing()
    y = d.reshape(d.dequantize(d.input(1, 18)), 1, 2, 3, 3)
    graph = d.returns(d.quantize(d.conv2d(y), OTHER))
    assert folded(graph) == "v2=reshape(v0) v4=conv2d(v2) -> v4"
    assert graph.nodes[0].output.quant == Q


def test_two_quantizes_of_one_tensor_are_one_value():
    d = Drawing()
    y = d.conv2d(d.dequantize(d.input(1, 2, 3, 3)))
    a, b = d.quantize(y), d.quantize(y)
    pooled = d.quantize(d.max_pool2d(d.dequantize(b), 3))
    graph = d.returns(pooled, a)
    folded(graph)
    assert len(graph.nodes) == 2 and graph.nodes[1].inputs[0] is graph.outputs[1]


def test_requantization_is_a_lookup():
    d = Drawing()
    y = d.quantize(d.dequantize(d.input(1, 2, 3, 3)), OTHER)
    graph = d.returns(d.quantize(d.dequantize(d.quantize(d.conv2d(d.dequantize(y)), OTHER))))
    assert folded(graph) == "v2=lookup(v0) v4=conv2d(v2) v7=lookup(v4) -> v7"
    to_other, back = (entries_of(node).astype(int) for node in graph.nodes[::2])
    steps = np.arange(-128, 128)
    # From 0.5 * (q + 128) to 0.25 * (q - 3), and back: halves to even.
    np.testing.assert_array_equal(to_other, np.clip(2 * (steps + 128) + 3, -128, 127))
    np.testing.assert_array_equal(back, np.clip(np.rint((steps - 3) / 2) - 128, -128, 127))


def test_float_operator_is_an_error():
    d = Drawing()
    graph = d.returns(d.max_pool2d(d.input(1, 2, 3, 3, element=FLOAT), 3))
    with pytest.raises(ValueError, match="not between dequantize and quantize"):
        fold_qdq(graph)
