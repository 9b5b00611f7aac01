"""What values answer about themselves, and copies of graphs."""

import numpy as np
import pytest

from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Quant, TensorType


def test_scale_and_zero_point_of_a_tensor_with_one_of_each():
    value = Value("x", TensorType(Element.INT8, (2,), quant=Quant((0.5,), -3)))
    assert (value.scale, value.zero_point) == (0.5, -3)


@pytest.mark.parametrize("quant", [None, Quant((0.5, 0.25), 0, axis=0)])
@pytest.mark.parametrize("question", ["scale", "zero_point"])
def test_a_scale_that_is_not_there_is_named(quant, question):
    value = Value("x", TensorType(Element.INT8, (2,), quant=quant))
    with pytest.raises(ValueError, match=r"int8\[2\] has no scale and zero point of its own"):
        getattr(value, question)


def test_only_constants_have_data():
    type_ = TensorType(Element.INT8, (2,))
    data = np.array([1, 2], np.int8)
    assert Value("c", type_, data).constant is data
    with pytest.raises(ValueError, match="x is not a constant"):
        Value("x", type_).constant  # noqa: B018


def test_a_copy_shares_nothing_but_data():
    type_ = TensorType(Element.INT8, (2,))
    x, y, state = Value("x", type_), Value("y", type_), Value("state", type_)
    constant = Value("c", type_, np.array([1, 2], np.int8))
    node = Node("add", "y", [x, constant], [y], states=[state])
    graph = Graph(
        [x], [y], [node, Node("reshape", "z", [y], [Value("z", type_)])], ["a note"], {"other": Graph([], [])}
    )
    copy = graph.copy()
    copy.verify()
    assert str(copy) == str(graph) and copy.notes == ["a note"] and not copy.alternatives
    assert copy.nodes[0].output is copy.outputs[0] is copy.nodes[1].inputs[0]
    assert copy.nodes[0].inputs[1].data is constant.data
    copy.nodes[0].states[0].retype(shape=(1, 2))
    copy.nodes[0].inputs.reverse()
    copy.notes.append("another")
    assert state.shape == (2,) and node.inputs == [x, constant] and graph.notes == ["a note"]
