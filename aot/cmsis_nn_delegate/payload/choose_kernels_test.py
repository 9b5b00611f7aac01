import pytest

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.graph_builder import GraphBuilder
from cmsis_nn_delegate.ops.providers.registry import CMSIS_NN, DEFAULT, PORTABLE, get_providers
from cmsis_nn_delegate.payload.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing import networks

M4 = get_target("cortex-m4")


@pytest.mark.parametrize("seed", range(10))
def test_calls_go_to_the_first_provider_that_has_the_kernel(seed):
    graph = networks.random_network(seed)
    for choice in choose_kernels(legalize(graph, DEFAULT), M4).choices:
        assert choice.provider is (CMSIS_NN if choice.kernel.cmsis_nn else PORTABLE)
        assert choice.assignment.why == ("" if choice.kernel.cmsis_nn else choice.kernel.why_portable)


@pytest.mark.parametrize("seed", range(10))
def test_portable_kernels_need_no_scratch_memory_and_no_other_geometry(seed):
    graph = networks.random_network(seed)
    alone, both = encode(graph, M4, providers=(PORTABLE,)), encode(graph, M4)
    assert all(call.scratch_bytes == 0 for call in alone.calls)
    assert all(getattr(call.node.attrs, "called_as", None) is None for call in alone.calls)
    assert alone.plan.arena_bytes <= both.plan.arena_bytes


def test_the_payload_says_what_it_depends_on():
    graph = networks.random_network(3)
    header = schema.HEADER.unpack(encode(graph, M4, providers=(PORTABLE,)).payload)
    assert header["revisions"] == (schema.PORTABLE_REVISION, 0, 0)
    builder = GraphBuilder()
    x = builder.input(1, 4)
    header = schema.HEADER.unpack(encode(builder.graph(builder.add(x, x)), M4).payload)
    assert header["revisions"] == (0, schema.CMSIS_NN_REVISION, 0)


def test_a_graph_that_was_made_legal_is_another_one():
    builder = GraphBuilder()
    # Padding beside a kernel of one pixel, which CMSIS-NN's wrapper would not see.
    image = builder.conv2d(builder.input(1, 4, 5, 5), 3, (1, 1), padding=Padding(0, 0, 1, 1))
    graph = builder.graph(image)
    (legal,) = legalize(graph, DEFAULT).assignments
    assert legal.node.attrs.called_as.dilation == (2, 2) and legal.node.outputs == graph.nodes[0].outputs
    assert graph.nodes[0].attrs.called_as is None
    # What is stored is the graph as it was lowered: other providers begin there.
    assert encode(graph, M4).graph is graph
    (portable,) = legalize(graph, (PORTABLE,)).assignments
    assert portable.node.attrs == graph.nodes[0].attrs


def test_what_the_preferred_provider_cannot_compute_goes_to_the_next():
    builder = GraphBuilder()
    graph = builder.graph(builder.depthwise_conv2d(builder.input(1, 1, 5, 5), 3, kernel=(3, 3)))
    (choice,) = choose_kernels(legalize(graph, DEFAULT), M4).choices
    assert choice.provider is PORTABLE and "one input channel; build a conv2d instead" in choice.assignment.why
    with pytest.raises(ValueError, match="one input channel"):
        encode(graph, M4, providers=(CMSIS_NN,))


def test_a_kernel_that_no_provider_has():
    builder = GraphBuilder()
    graph = builder.graph(builder.transpose(builder.input(1, 3, 4, 4), Layout.ROW_MAJOR))
    with pytest.raises(ValueError, match="no kernel transpose of .* in cmsis-nn: compile for a provider that has it"):
        encode(graph, M4, providers=(CMSIS_NN,))


@pytest.mark.parametrize("names", [[], [""], ["cmsis_nn"], ["portable", "tuned"]])
def test_unknown_providers(names):
    with pytest.raises(ValueError, match="choose from cmsis-nn, portable"):
        get_providers(names)
