"""Compiles an operator with several outputs and a state, from the graph to the payload."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element, TensorType
from cmsis_nn_delegate.passes.rewriting import remove_dead
from cmsis_nn_delegate.passes.run_passes import run_passes
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.planner.memory import IoPlacement, Kept
from cmsis_nn_delegate.report import text
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from tests.extension import network

M4 = get_target("cortex-m4")


@pytest.fixture(autouse=True)
def registered():
    with network.registered():
        yield


def test_states_are_planned_apart_from_the_arena():
    graph = network.graph()
    plan = encode(graph, M4).plan
    assert [plan.state_offset(value) for value in graph.states()] == [0, 32]
    assert plan.persistent_bytes == 64
    assert all(plan.offset_of(value) is None for value in graph.states())
    header = schema.HEADER.unpack(encode(graph, M4).payload)
    assert header["persistent_bytes"] == 64


def test_a_memory_for_states_has_less_room_for_the_rest():
    graph = network.graph()
    plan = encode(graph, M4, PayloadOptions(memories=(Memory.of("tcm=100:state"), Memory("ram", 4096)))).plan
    assert plan.kept == Kept("tcm", 100, 80, 0) and plan.memories[0].limit == 4096
    plan = encode(graph, M4, PayloadOptions(memories=(Memory.of("ram=4K:activations,scratch,state"),))).plan
    assert plan.kept == Kept("ram", 4096, 80, 0) and plan.memories[0].limit == 4096 - 80
    encoded = encode(graph, M4, PayloadOptions(memories=(Memory.of("tcm=100:weights"), Memory("ram", 4096))))
    assert encoded.plan.kept == Kept("tcm", 100, 80, 20)
    with pytest.raises(UserError, match="the model's state does not fit tcm: it takes 80 bytes .* 16 more than its 64"):
        encode(graph, M4, PayloadOptions(memories=(Memory.of("tcm=64:state"),)))


def test_an_output_that_nobody_reads_has_memory_while_it_is_written():
    graph = network.graph()
    graph.outputs = graph.outputs[1:]
    plan = encode(graph, M4, PayloadOptions(IoPlacement.CALLER)).plan
    unread, inner = (plan.offset_of(value) for value in graph.nodes[0].outputs)
    assert unread is not None and inner is not None and abs(unread - inner) >= 32


def test_results_depend_on_the_executions_before():
    graph = network.graph()
    peaks = [run[0] for run in network.outputs(graph)]
    inputs = network.inputs()
    for index, peak in enumerate(peaks):
        assert np.array_equal(peak, np.maximum(inputs[: index + 1].max(axis=0), 0))
    # Without a given state, every run is the first one.
    assert np.array_equal(reference.run(graph, [inputs[1]])[0], np.maximum(inputs[1], 0))


def test_a_node_that_remembers_is_not_dead():
    graph = network.graph()
    graph.outputs = graph.nodes[0].outputs[:1]
    remove_dead(graph)
    assert len(graph.nodes) == 2
    graph.nodes[1].states = []
    remove_dead(graph)
    assert len(graph.nodes) == 1


def test_two_nodes_may_share_a_state():
    graph = network.graph()
    graph.nodes[1].states = graph.nodes[0].states
    assert encode(graph, M4).plan.persistent_bytes == 32


def test_a_state_is_nothing_else():
    graph = network.graph()
    graph.nodes[1].states = [graph.inputs[0]]
    with pytest.raises(ValueError, match="state x is also an activation or a constant"):
        graph.verify()


def float_graph() -> Graph:
    """The graph as it comes from an edge program: floats, between quantize and dequantize."""
    quantized = network.graph().nodes[0]
    nodes: list[Node] = []

    def node(op: str, source: Value, name: str, tensor_type: TensorType) -> Value:
        nodes.append(Node(op, name, [source], [Value(name, tensor_type)]))
        return nodes[-1].output

    integer = quantized.inputs[0].type
    real = TensorType(Element.FLOAT32, integer.shape)
    x = Value("x", real)
    inner = node("dequantize", node("quantize", x, "q", integer), "dq", real)
    outputs = [Value(value.name, real) for value in quantized.outputs]
    nodes.append(Node(quantized.op, quantized.name, [inner], outputs, states=quantized.states))
    results = [
        node("dequantize", node("quantize", value, f"q_{value.name}", integer), f"dq_{value.name}", real)
        for value in outputs
    ]
    return Graph([x], results, nodes)


def test_all_passes_keep_it():
    graph = run_passes(float_graph())
    assert [node.op for node in graph.nodes] == ["quantize", "running_peak", "dequantize", "dequantize"]
    node = graph.nodes[1]
    assert len(node.outputs) == 2 and all(value.element is Element.INT8 for value in node.outputs)
    states = reference.initial_states(graph)
    for x in network.inputs():
        peak, _ = reference.run(graph, [x * np.float32(0.5)], states=states)
    assert np.array_equal(peak, np.maximum(network.inputs().max(axis=0), 0) * np.float32(0.5))


def test_a_file_has_it():
    graph, _ = serialize.loads(serialize.dumps(network.graph(), {}))
    assert str(graph) == str(network.graph())
    assert encode(graph, M4).payload == encode(network.graph(), M4).payload


def test_it_is_printed_and_counted():
    graph = network.graph()
    assert "%peak0: int8[1, 21], %is_new0: int8[1, 21] = running_peak(%x) state %greatest0: int8[1, 21]" in str(graph)
    calls = "\n".join(text._call_lines(build_report_of(graph)))
    assert "running_peak" in calls and "output 1 output 2" in calls


def build_report_of(graph):
    # The report reads the payload, whose number is that of mul.
    encoded = encode(graph, M4)
    assert encoded.calls[0].choice.assignment.why == "CMSIS-NN has no function for running_peak"
    return build_report("peaks", encoded)


def test_a_state_takes_the_place_of_an_input():
    node = network.graph().nodes[0]
    graph = Graph([node.inputs[0]], node.outputs, [node])
    more = []
    while len(graph.inputs) + len(graph.outputs) < schema.MAX_IO:
        other = network.graph().nodes[0]
        more.append(Node("running_peak", f"more{len(more)}", node.inputs, other.outputs, states=node.states))
        graph = Graph(graph.inputs, [*graph.outputs, *other.outputs], [*graph.nodes, more[-1]])
    with pytest.raises(ValueError, match="13 inputs and outputs; a payload has at most 12 beside a state"):
        encode(graph, M4)
    graph.outputs.pop()
    encode(graph, M4)


def test_an_output_that_nobody_reads_goes_through_the_passes():
    graph = float_graph()
    graph.outputs.pop()
    graph.nodes = [node for node in graph.nodes if "is_new" not in node.name]
    lowered = run_passes(graph)
    assert [node.op for node in lowered.nodes] == ["quantize", "running_peak", "dequantize"]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda node: node.states.clear(), "running_peak has 1 operands of role state, the node 0"),
        (lambda node: node.states.append(network.graph().states()[0]), "role state, the node 2"),
        (lambda node: node.outputs.append(network.graph().inputs[0]), "role output, the node 3"),
        (
            lambda node: node.states[0].retype(shape=(1, 5)),
            "running_peak takes 21 bytes for its greatest, and greatest1 has 5",
        ),
    ],
)
def test_operands_are_those_of_the_kernel(change, message):
    graph = network.graph()
    change(graph.nodes[1])
    with pytest.raises(ValueError, match=message):
        encode(graph, M4)


def test_one_state_twice():
    graph = network.graph()
    graph.nodes[0].states *= 2
    with pytest.raises(ValueError, match="running_peak0 has one state twice"):
        graph.verify()
