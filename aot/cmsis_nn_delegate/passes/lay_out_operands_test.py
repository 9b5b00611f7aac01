"""lay_out_operands: operands that are broadcast or constant."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.ops.div import DivAttrs
from cmsis_nn_delegate.ops.extremum import ExtremumAttrs
from cmsis_nn_delegate.ops.mul import MulAttrs
from cmsis_nn_delegate.passes.lay_out_operands import lay_out_operands
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.networks import random_inputs


@st.composite
def operands(draw):
    """Two shapes of one rank that fit together."""
    output = draw(st.lists(st.integers(1, 4), max_size=6))
    return tuple(tuple(n if draw(st.booleans()) else 1 for n in output) for _ in range(2))


@settings(max_examples=100, deadline=None)
@given(operands(), st.sampled_from(["add", "mul", "div", "extremum"]), st.booleans(), st.integers(0, 99))
def test_results_are_those_of_broadcast_real_numbers(shapes, op, constant, seed):
    d = GraphBuilder(seed)
    a, b = (d.input(*shape, quant=d.quant(2.0**-6)) for shape in shapes)
    if constant:
        d.inputs.pop()
        b = d.constant(b.shape, b.element, -128, 127, b.quant)
    if op == "add":
        alpha = float(d.random.uniform(-2, 2))
        y = d.add(a, b, quant=d.quant(0.05), alpha=alpha)
    elif op == "mul":
        y = d.node("mul", [a, b], MulAttrs(), d.quant(0.05))
    elif op == "div":
        y = d.node("div", [a, b], DivAttrs(), d.quant(0.05))
    else:
        b.retype(quant=a.quant)
        y = d.node("extremum", [a, b], ExtremumAttrs(largest=seed % 2 == 0), a.quant)
    graph = d.graph(y)
    lay_out_operands(graph)
    data = random_inputs(graph, seed) + [b.data] * constant
    (got,) = reference.run(graph, data[: len(graph.inputs)])
    real = [(x.astype(float) - v.zero_point) * v.scale for v, x in zip((a, b), data)]
    if op == "add":
        exact = real[0] + alpha * real[1]
    elif op == "mul":
        exact = real[0] * real[1]
    elif op == "div":
        with np.errstate(divide="ignore", invalid="ignore"):
            exact = np.nan_to_num(real[0] / real[1])
    else:
        exact = (np.maximum if seed % 2 == 0 else np.minimum)(*real)
    exact = exact / y.scale + y.zero_point
    assert got.shape == exact.shape
    np.testing.assert_allclose(got, np.clip(exact, -128, 127), atol=0.51, rtol=0)


def test_a_constant_lies_as_each_of_its_readers_wants_it():
    d = GraphBuilder()
    c = d.constant((1, 2, 2, 2), d.input(1, 2, 2, 2).element, -9, 9, d.quant())
    row_major = d.input(1, 2, 2, 2, layout=Layout.ROW_MAJOR)
    sums = [d.add(d.inputs[0], c), d.add(row_major, c)]
    sums[1].retype(layout=Layout.ROW_MAJOR)
    graph = d.graph(*sums)
    lay_out_operands(graph)
    laid_out = [node.inputs[1] for node in graph.nodes]
    assert [value.layout for value in laid_out] == [Layout.CHANNELS_LAST, Layout.ROW_MAJOR]
    assert all(value.data is c.data for value in laid_out)
