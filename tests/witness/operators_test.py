"""Integer reference == TensorFlow Lite Micro, byte for byte, on random calls of every operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.graph.tensor_type import Element, Quant
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.networks import random_inputs
from tests.conformance import cases
from tests.witness.tflite_model import Inexpressible, has_writer, tflite_model, with_float32_scales
from tests.witness.tflm import Tflm, difference

CASES = 300
# These have tests of their own.
APART = {"lstm", "quantize"}
# Operators of which TFLite can express only some calls: tflite_model.py says which and why.
PARTLY_EXPRESSIBLE = {"add", "avg_pool2d", "batch_matmul", "fully_connected", "max_pool2d", "mul", "rescale", "softmax"}


def expressible(operator: str, count: int) -> Iterator[tuple[int, Graph]]:
    """Yields (seed, graph) of the first `count` random calls that TFLite can express, out of at most three times as
    many."""
    found = 0
    for seed in range(3 * count if operator in PARTLY_EXPRESSIBLE else count):
        graph = with_float32_scales(cases.graph_of(operator, seed))
        try:
            tflite_model(graph)
        except Inexpressible:
            if operator not in PARTLY_EXPRESSIBLE:
                raise
            continue
        yield seed, graph
        found += 1
        if found == count:
            return
    assert found == count, f"{operator}: only {found} of {3 * count} cases can be expressed in TFLite"


def halfway(x: np.ndarray, quant: Quant) -> np.ndarray:
    """Returns where the float32 quotient of `x` and the scale is halfway between two integers."""
    steps = np.abs(x / np.float32(quant.scale[0]))
    return steps - np.floor(steps) == 0.5


@pytest.mark.parametrize("operator", [operator for operator in cases.OPERATORS if operator not in APART])
def test_every_byte_is_tflms(operator, pytestconfig):
    if not has_writer(operator):
        pytest.skip(f"tflite_model.py does not know how to express {operator} in TFLite")
    problems = []
    count = pytestconfig.getoption("--cases") or CASES
    for seed, graph in expressible(operator, count):
        found = Tflm(graph).difference(random_inputs(graph, seed))
        if found:
            problems.append(f"{cases.describe(operator, seed, graph)}: {found}")
    assert not problems, "\n".join([f"{len(problems)} of {count} cases differ", *problems[:5]])


def test_quantize_is_tflms_but_halfway_between_two_steps(pytestconfig):
    """ExecuTorch, and thus the reference, multiplies by the float32 inverse of the scale and rounds halves to even;
    TFLM divides and rounds halves away from zero. Random inputs are hardly ever halfway."""
    for seed, graph in expressible("quantize", pytestconfig.getoption("--cases") or CASES):
        (x,) = random_inputs(graph, seed)
        quant = graph.nodes[0].output.quant
        # All others must be equal: elements that are halfway are moved to the zero point in both.
        x = np.where(halfway(x, quant), np.float32(0), x)
        found = Tflm(graph).difference([x])
        assert not found, f"{cases.describe('quantize', seed, graph)}: {found}"


def test_halfway_tflm_rounds_away_from_zero_and_the_reference_to_even():
    builder = GraphBuilder()
    x = builder.input(1, 6, element=Element.FLOAT32)
    graph = builder.graph(builder.quantize(x, Quant((0.25,), 3)))
    halves = np.array([[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]], np.float32)
    assert halfway(halves * np.float32(0.25), graph.outputs[0].quant).all()
    tflm = Tflm(graph)
    (theirs,) = tflm.run([halves * np.float32(0.25)])
    assert (theirs - 3).tolist() == [[-3, -2, -1, 1, 2, 3]]
    found = tflm.difference([halves * np.float32(0.25)])
    assert found == "quantize_0: 4 of 6 elements differ, first at [0, 0]: 0 in TFLM, 1 here"


# The comparison can fail ------------------------------------------------------


def test_a_wrong_element_is_named():
    ours = np.arange(12, dtype=np.int8).reshape(3, 4)
    theirs = ours.copy()
    assert difference(ours, theirs) == ""
    theirs[1, 2] = -5
    theirs[2, 0] = 0
    assert difference(ours, theirs) == "2 of 12 elements differ, first at [1, 2]: -5 in TFLM, 6 here"
    assert difference(ours, theirs.astype(np.int32)) == "int32[3, 4] in TFLM, int8[3, 4] here"


@pytest.mark.parametrize("operator", sorted({"conv2d", "depthwise_conv2d", "fully_connected"} & {*cases.OPERATORS}))
def test_another_bias_is_seen(operator):
    """TFLM really runs the model: the reference runs a graph with another bias, and the difference is found."""
    graph = with_float32_scales(cases.graph_of(operator, 0))
    tflm = Tflm(graph)
    inputs = random_inputs(graph, 0)
    assert tflm.difference(inputs) == ""
    node = graph.nodes[0]
    bias = node.inputs[2]
    node.inputs[2] = replace(bias, data=bias.data + np.int32(1 << 14))
    assert "elements differ, first at" in tflm.difference(inputs)


def test_scales_that_are_not_float32_are_refused():
    graph = cases.graph_of("add", 0)
    with pytest.raises(Inexpressible, match="scales that are not float32"):
        tflite_model(graph)
