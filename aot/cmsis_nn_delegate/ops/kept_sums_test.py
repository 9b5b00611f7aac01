"""The numbers of sums that decay, next to real ones."""

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Value
from cmsis_nn_delegate.graph.tensor_type import Element, Quant, TensorType
from cmsis_nn_delegate.ops.kept_sums import Pattern
from cmsis_nn_delegate.ops.leaky_sum import LeakySumAttrs
from cmsis_nn_delegate.ops.powers import negative_power, whole_power
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


def test_powers_are_within_two_steps():
    x = np.arange(0, 18 << 16, 5)
    found = negative_power(x)
    assert np.abs(found - 2.0 ** (15 - x / 65536)).max() < 1.5
    assert found[0] == 1 << 15 and found[-1] == 0
    assert negative_power(np.array([1 << 30])) == 0


def test_powers_of_any_size_are_integers():
    """25 bits of a line count, and the integer is not above the real number by more than those."""
    x = np.arange(-40 << 16, 34 << 16, 97, dtype=np.int64)
    exact = 2.0 ** (np.minimum(x, 32 << 16) / 65536)
    found = whole_power(x)
    assert (found <= exact * (1 + 2.0**-15)).all() and (found >= np.floor(exact * (1 - 2.0**-15))).all()
    assert whole_power(np.arange(33) << 16).tolist() == [1 << bits for bits in range(33)]


@pytest.mark.parametrize(
    "shape, pattern",
    [((1, 1, 1), (1, 1, 24)), ((2, 1, 1), (1, 2, 12)), ((1, 3, 1), (2, 3, 4)), ((1, 1, 4), (6, 4, 1)),
     ((1, 3, 4), (2, 12, 1)), ((2, 1, 4), (1, 24, 1))],
)  # fmt: skip
def test_entries_are_those_that_differ(shape, pattern):
    data = np.arange(np.prod(shape)).reshape(shape)
    found, (entries,) = Pattern.of((2, 3, 4), data)
    assert found == pattern
    repeated = np.broadcast_to(entries.reshape(1, -1, 1), found).reshape(2, 3, 4)
    assert np.array_equal(repeated, np.broadcast_to(data, (2, 3, 4)))


@pytest.mark.parametrize("decay", [0.5, 0.9, 1 - 2.0**-10])
def test_a_sum_settles_next_to_its_limit(decay):
    """It stops where what it forgets in a step is half a step of the state, at most about 1/64 of the range before."""
    scale, x, gain = 2.0**-15, 100, (1 - decay) * 0.9 / 100
    builder = GraphBuilder(0)
    state = builder.constant((1,), Element.INT16, 0, 0, Quant((scale,), 0))
    decays = Value("decays", TensorType(Element.INT16, (1,)), np.array([round(decay * 2**15)], np.int16))
    gains = Value("gains", TensorType(Element.INT32, (1,)), np.array([round(gain / scale * 2**15)], np.int32))
    source = builder.input(1, quant=Quant((1.0,), 0))
    output = builder.node(
        "leaky_sum", [state, source, decays, gains], LeakySumAttrs(Pattern(1, 1, 1)), Quant((0.01,), 0)
    )
    output.retype(element=Element.INT8)
    node = builder.nodes[-1]
    node.outputs.append(Value("last", TensorType(Element.INT16, (1,), quant=state.quant)))
    number = np.zeros(1, np.int16)
    for _ in range(6_000):
        seen, number = reference.OPS["leaky_sum"].compute(node, [number, np.array([x], np.int8)], [])
    real = float(number[0]) * scale
    assert 0.9 - scale / (1 - decay) / 2 - 2 * scale <= real <= 0.9 + 2 * scale
    assert 0.9 - real < 1 / 63
    assert abs(int(seen[0]) - real / 0.01) <= 0.5
