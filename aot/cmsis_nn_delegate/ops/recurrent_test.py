"""Layers for sequences of different lengths, by the reference."""

import dataclasses

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Value
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.gru import Gru, GruAttrs
from cmsis_nn_delegate.ops.last_step import LastStepAttrs
from cmsis_nn_delegate.ops.lstm import Lstm, LstmAttrs
from cmsis_nn_delegate.ops.lstm_projected import LstmProjected, LstmProjectedAttrs
from cmsis_nn_delegate.ops.recurrent import NUMBERS, Sizes, require_sums
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.ops.rnn import Rnn, RnnAttrs
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.random_case import RandomCase


@pytest.mark.parametrize(
    "op, attrs",
    [
        (Lstm, LstmAttrs(cell_bits=12)),
        (LstmProjected, LstmProjectedAttrs(cell_bits=12)),
        (Gru, GruAttrs()),
        (Rnn, RnnAttrs()),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("numbers", NUMBERS)
def test_a_sequence_with_a_length_is_one_with_these_steps_alone(op, attrs, reverse, batch_first, numbers):
    case, (steps, batch, size, hidden) = RandomCase(1), (7, 4, 5, 6)
    attrs = dataclasses.replace(attrs, reverse=reverse, batch_first=batch_first)
    zero_point = 0 if numbers.activations.is_symmetric else 3
    if op is LstmProjected:
        attrs = dataclasses.replace(attrs, unit_zero_point=zero_point)
    quant = case.quant(2.0 ** (1 - numbers.activations.bits), zero_point, numbers.activations)
    op.draw_layer(case, attrs, quant, Sizes(steps, batch, size, hidden), lengths=True, numbers=numbers)
    (node,) = case.nodes
    x, *states, lengths = networks.random_inputs(case.graph(node.outputs[0]), 1)
    count = 1 + len(op.initial)
    constant = [value.constant for value in node.inputs[1:count] if value.is_constant]
    output, *last = OPS[node.op].compute(node, [x, *states, *constant, lengths], [])
    assert len(set(lengths.tolist())) > 1
    for index, length in enumerate(lengths):
        single = RandomCase()
        at = (slice(index, index + 1), slice(length)) if batch_first else (slice(length), slice(index, index + 1))
        alone = single.input(*x[at].shape, element=numbers.activations, quant=node.inputs[0].quant)
        given = [
            Value(value.name, value.type.of(shape=(1, *value.shape[1:])), data[index : index + 1])
            for value, data in zip(node.inputs[1:], [*states, *constant])
        ]
        single.node(op.name, [alone, *given, *node.inputs[count + 1 :]], attrs, quant)
        single.nodes[-1].outputs += [Value(v.name, v.type.of(shape=(1, hidden))) for v in node.outputs[1:]]
        expected, *expected_last = OPS[node.op].compute(
            single.nodes[-1], [np.ascontiguousarray(x[at]), *(value.constant for value in given)], []
        )
        np.testing.assert_array_equal(output[at], expected)
        after = (index, slice(length, None)) if batch_first else (slice(length, None), index)
        assert (output[after] == quant.zero_point).all()
        for found, wanted in zip(last, expected_last, strict=True):
            np.testing.assert_array_equal(found[index], wanted[0])


@pytest.mark.parametrize("element, most", [(Element.INT8, 66311), (Element.INT16, 516)])
def test_sums_fit_32_bits(element, most):
    """As many of the largest products as fit, which in int16 are those of 2^15."""
    for size, bias, fits in ((most, 0, True), (most + 1, 0, False), (most, 2**22, False)):
        weight = np.full((1, size), -127, np.int8)
        if fits:
            require_sums("w_hh", weight, np.array([bias]), element)
        else:
            with pytest.raises(ValueError, match="sums of w_hh may exceed 32 bits") as error:
                require_sums("w_hh", weight, np.array([bias]), element)
            assert ("format int8" in str(error.value)) is (element is Element.INT16)


@pytest.mark.parametrize("length", [0, 4, -1, 2**32 + 1])
def test_lengths_outside_of_the_steps_are_refused(length):
    case = RandomCase()
    x, lengths = case.input(3, 2, 4), case.input(2, element=Element.INT64)
    graph = case.graph(case.node("last_step", [x, lengths], LastStepAttrs(), x.quant))
    with pytest.raises(ValueError, match=f"a sequence has {length} steps, which is not from 1 to 3"):
        reference.run(graph, [np.zeros((3, 2, 4), np.int8), np.array([1, length])])


@pytest.mark.parametrize("count", [1, 3])
def test_lengths_of_another_batch_are_refused(count):
    case = RandomCase()
    x, lengths = case.input(3, 2, 4), case.input(count, element=Element.INT64)
    graph = case.graph(case.node("last_step", [x, lengths], LastStepAttrs(), x.quant))
    with pytest.raises(ValueError, match=f"{count} lengths for a batch of 2 sequences"):
        reference.run(graph, [np.zeros((3, 2, 4), np.int8), np.ones(count, np.int64)])
