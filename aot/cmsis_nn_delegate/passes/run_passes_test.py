"""The passes together, on hand-built graphs."""

import pytest

from cmsis_nn_delegate.graph.tensor_type import Element, Layout
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.passes.run_passes import run_passes
from cmsis_nn_delegate.testing.drawing import Drawing


def test_what_an_import_gives_becomes_kernels():
    d = Drawing()
    x = d.dequantize(d.quantize(d.input(1, 2, 4, 4, element=Element.FLOAT32)))
    padded = d.dequantize(d.quantize(d.pad(x, Padding(0, 1, 2, 3))))
    y = d.dequantize(d.quantize(d.clamp(d.conv2d(padded))))
    alone = d.dequantize(d.quantize(d.clamp(y, 1, 2)))
    graph = d.returns(d.dequantize(d.quantize(d.reshape(alone, 1, 96))))
    run_passes(graph)
    assert [node.op for node in graph.nodes] == ["quantize", "conv2d", "dequantize"]
    assert graph.nodes[1].op == "conv2d" and graph.nodes[1].output.layout is Layout.CHANNELS_LAST


def test_a_leftover_is_named():
    d = Drawing()
    padded = d.pad(d.dequantize(d.input(1, 2, 4, 4)), Padding(1, 1, 1, 1), 3.0)
    graph = d.returns(d.quantize(d.max_pool2d(padded, 2)))
    with pytest.raises(ValueError, match="pad still has no kernel"):
        run_passes(graph)
