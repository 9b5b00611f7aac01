"""Functions become tables, and tables that follow each other one table."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element, Quant
from cmsis_nn_delegate.ops.attrs import Clamp
from cmsis_nn_delegate.ops.function import FunctionAttrs
from cmsis_nn_delegate.ops.function_table import table
from cmsis_nn_delegate.ops.lookup import LookupAttrs, entries_of, table_value
from cmsis_nn_delegate.passes.functions_to_lookups import functions_to_lookups
from cmsis_nn_delegate.passes.join_lookups import join_lookups
from cmsis_nn_delegate.passes.run_passes import PASSES
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def lookup(d, x, seed=0, **options):
    entries = np.random.default_rng(seed).integers(-128, 128, 256)
    return d.node("lookup", x, table_value("table", entries), shape=x.shape, attrs=LookupAttrs(("f",)), **options)


def test_a_function_becomes_its_table():
    d = Drawing()
    x = d.input(2, 3)
    attrs = FunctionAttrs("sub", (6.0, None, 2.0), 1, Clamp(0.0, 4.0))
    graph = d.returns(d.node("function", x, shape=(2, 3), attrs=attrs, quant=Quant((0.1,), -10)))
    functions_to_lookups(graph)
    (node,) = graph.nodes
    assert node.op == "lookup" and node.attrs.functions == ("sub",)
    wanted = table("sub", (6.0, None, 2.0), 1, x.quant, node.output.type, Clamp(0.0, 4.0))
    np.testing.assert_array_equal(entries_of(node), wanted)
    assert wanted[0] == 30 and wanted[255] == -10


def test_what_is_joined():
    d = Drawing()
    x = d.input(2, 6)
    a = lookup(d, x)
    b = lookup(d, d.reshape(d.reshape(a, 3, 4), 12), 1)
    graph = d.returns(lookup(d, d.clamp(b, 0, 3), 2))
    join_lookups(graph)
    assert wiring(graph) == "v2=reshape(v0) v3=reshape(v2) v6=lookup(v3) -> v6"
    assert graph.nodes[-1].attrs.functions == ("f", "f", "clamp", "f")
    assert graph.nodes[-1].sources == ("edge5", "edge4", "edge3", "edge0")


def test_what_else_is_read_stays():
    d = Drawing()
    a = lookup(d, d.input(4))
    b, c = lookup(d, a, 1), lookup(d, a, 2)
    graph = d.returns(b, c)
    join_lookups(graph)
    assert [node.op for node in graph.nodes] == ["lookup"] * 3
    d = Drawing()
    a = lookup(d, d.input(4))
    graph = d.returns(a, d.clamp(a))
    join_lookups(graph)
    assert [node.op for node in graph.nodes] == ["lookup", "clamp"]


def test_clamps_alone_and_floats_stay():
    d = Drawing()
    graph = d.returns(d.clamp(d.clamp(d.input(4)), 1, 2))
    join_lookups(graph)
    assert [node.op for node in graph.nodes] == ["clamp", "clamp"]
    d = Drawing()
    x = d.quantize(d.clamp(d.input(4, element=Element.FLOAT32), element=Element.FLOAT32))
    graph = d.returns(d.dequantize(lookup(d, x)))
    join_lookups(graph)
    assert [node.op for node in graph.nodes] == ["clamp", "quantize", "lookup", "dequantize"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["lookup", "clamp", "reshape", "branch"]), min_size=2, max_size=8), st.integers(0, 999))
def test_joined_tables_compute_the_same(kinds, seed):
    def draw():
        d = Drawing()
        value, branches = d.input(1, 4, 4, 16), []
        for index, kind in enumerate(kinds):
            if kind == "lookup":
                value = lookup(d, value, seed + index, quant=Quant((0.5 + index,), index))
            elif kind == "clamp":
                value = d.clamp(value, -20.0, 20.0 + index)
            elif kind == "reshape":
                value = d.reshape(value, *value.shape[::-1])
            else:
                value = lookup(d, value, seed, quant=Quant((0.25,), 3))
                branches.append(value)
        outputs = list(dict.fromkeys([*branches, lookup(d, value)]))
        return d.returns(*outputs)

    data = [np.random.default_rng(seed).integers(-128, 128, (1, 4, 4, 16)).astype(np.int8)]
    plain, joined = draw(), draw()
    join_lookups(joined)
    readers = [node for node in joined.nodes if node.op == "lookup" and len(joined.consumers(node.output)) == 1]
    assert not [n for n in readers if joined.consumers(n.output)[0].op == "lookup" and not joined.is_output(n.output)]
    for step in PASSES[PASSES.index(join_lookups) + 1 :]:
        step(plain)
        step(joined)
    for a, b in zip(reference.run(plain, data), reference.run(joined, data)):
        np.testing.assert_array_equal(a, b)
