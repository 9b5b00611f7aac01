import re

import pytest

from cmsis_nn_delegate.emit import cpp_calls
from cmsis_nn_delegate.emit.kernel_table import generate_kernel_table, generate_kernel_table_of_parts
from cmsis_nn_delegate.format.cpp import camel
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.payload.decode import PayloadError, decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import get_providers, own_implementations
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


def _kernels(table: str) -> list[str]:
    return re.findall(r"^        ([\w:]+::k\w+),$", table, re.MULTILINE)


# By the name of a tuned kernel for some calls, that of the kernel for all.
_WHOLE = {camel(part.name): camel(own.kernel.name) for own in own_implementations() for part in own.symbol.functions}


def _whole(kernel: str) -> str:
    """Returns the name of a kernel without what says that it computes some of its calls alone."""
    name = kernel.rpartition("::k")[2]
    return _WHOLE.get(name, name)


@pytest.mark.parametrize("providers", ["tuned,cmsis-nn,portable", "cmsis-nn,portable", "portable"])
@pytest.mark.parametrize("network", [networks.ds_cnn, networks.resnet8])
def test_a_table_has_each_kernel_that_is_called_once(network, providers):
    payload = encode(network(), get_target("cortex-m4"), PayloadOptions.of(providers=providers.split(","))).payload
    found = _kernels(generate_kernel_table("net-1", payload))
    assert sorted(map(_whole, found)) == sorted({camel(call.opcode.name) for call in decode(payload).calls})
    wanted = {"tuned": "tuned", "cmsis-nn": "net_1_model::cmsis_nn_or_portable", "portable": "portable"}
    assert {name.rpartition("::k")[0] for name in found} <= {wanted[provider] for provider in providers.split(",")}


def test_what_cmsis_nn_computes_has_another_kernel_without_it():
    payload = encode(networks.ds_cnn(), get_target("cortex-m4"), PayloadOptions.of(providers=["cmsis-nn"])).payload
    table = generate_kernel_table("net", payload)
    assert {name.rpartition("::")[0] for name in _kernels(table)} == {"net_model::cmsis_nn_or_portable"}
    with_it, without = re.search(
        r"namespace net_model {\n#ifdef \w+\n(.*?)#else\n(.*?)#endif", table, re.DOTALL
    ).groups()
    assert "using namespace cmsis_nn;" in with_it and "namespace cmsis_nn_or_portable = portable;" in without


def test_an_opcode_of_two_providers_has_the_kernel_that_runs_the_calls_of_both():
    """CMSIS-NN refuses depthwise convolutions of one channel, which the portable kernel of that opcode computes."""
    b = GraphBuilder()
    calls = [b.depthwise_conv2d(b.input(1, channels, 6, 6), 2, kernel=(3, 3)) for channels in (1, 4)]
    providers = get_providers(["cmsis-nn", "portable"])
    payload = encode(b.graph(*calls), get_target("cortex-m4"), PayloadOptions(providers=providers)).payload
    found = {(call.opcode.name, call.provider.name) for call in decode(payload).calls}
    assert found == {("DEPTHWISE_CONV2D", "portable"), ("DEPTHWISE_CONV2D", "cmsis-nn")}
    assert _kernels(generate_kernel_table("net", payload)) == ["portable::kDepthwiseConv2d"]


def _depthwise(*calls, core="cortex-m4"):
    """Returns the payload of depthwise convolutions given as (kernel, padding, multiplier)."""
    b = GraphBuilder()
    outputs = [
        b.depthwise_conv2d(b.input(1, 4, 8, 8), multiplier, kernel=kernel, padding=Padding(*padding))
        for kernel, padding, multiplier in calls
    ]
    return encode(b.graph(*outputs), get_target(core), PayloadOptions.of(providers=["cmsis-nn"])).payload


def _depthwise_table(*calls, core="cortex-m4"):
    return generate_kernel_table("net", _depthwise(*calls, core=core))


@pytest.mark.parametrize("core, function", [("cortex-m0plus", "3x3"), ("cortex-m4", "3x3"), ("cortex-m55", "Opt")])
def test_calls_of_one_function_of_cmsis_nn_link_its_kernel_alone(core, function):
    table = _depthwise_table(((3, 3), (1, 1), 1), ((3, 3), (0, 0), 1), core=core)
    assert _kernels(table) == ["net_model::cmsis_nn_or_portable::kDepthwiseConv2d"]
    found = re.findall(r"const auto& kDepthwiseConv2d = ([\w:]+);", table)
    assert found == [f"cmsis_nn::kDepthwiseConv2d{function}"]
    assert "net_kernels_to_join = net_kernels\n    .with(cmsis_nn::kDepthwiseConv2d);" in table


@pytest.mark.parametrize("other", [((5, 5), (1, 1), 1), ((3, 3), (2, 2), 1)])
def test_calls_of_several_functions_of_cmsis_nn_link_the_wrapper(other):
    assert "using namespace cmsis_nn" in _depthwise_table(other)
    table = _depthwise_table(((3, 3), (1, 1), 1), other)
    assert _kernels(table) == ["net_model::cmsis_nn_or_portable::kDepthwiseConv2d"]
    assert "namespace cmsis_nn_or_portable = cmsis_nn;" in table


def test_calls_that_only_the_wrapper_computes_link_it():
    assert "namespace cmsis_nn_or_portable = cmsis_nn;" in _depthwise_table(((3, 3), (1, 1), 2))


def _planes(*strides):
    b = GraphBuilder()
    outputs = [
        b.depthwise_conv2d(b.input(1, 8, 16, 16), 1, kernel=(3, 3), stride=(stride, stride), padding=Padding(1, 1))
        for stride in strides
    ]
    return encode(
        b.graph(*outputs), get_target("cortex-m4"), PayloadOptions.of(providers=["tuned", "portable"])
    ).payload


@pytest.mark.parametrize("stride", [1, 2])
def test_calls_of_one_kind_link_a_tuned_kernel_without_the_rest(stride):
    payload = _planes(stride, stride)
    for table in (generate_kernel_table("net", payload), generate_kernel_table_of_parts("net", [payload] * 2, 0)):
        assert _kernels(table) == [f"tuned::kDepthwiseConv2dPlanesStride{stride}"]
        # The same in builds with and without CMSIS-NN.
        assert table.count("net_kernels_to_join = net_kernels\n    .with(tuned::kDepthwiseConv2dPlanes);") == 2
    assert f"tuned::depthwise_conv2d_planes_stride{stride}(kCall0" in cpp_calls.generate_source("net", payload)


def test_calls_of_several_kinds_link_the_whole_tuned_kernel():
    both = _planes(1, 2)
    assert _kernels(generate_kernel_table("net", both)) == ["tuned::kDepthwiseConv2dPlanes"]
    parts = generate_kernel_table_of_parts("net", [_planes(1), _planes(2)], 0)
    assert _kernels(parts) == ["tuned::kDepthwiseConv2dPlanes"] and ".with(" not in parts
    # Two kernels would be larger than the whole one.
    source = cpp_calls.generate_source("net", both)
    assert source.count("tuned::depthwise_conv2d_planes(kCall") == 2


def test_the_table_of_parts_has_each_kernel_that_a_part_calls_once():
    target = get_target("cortex-m4")
    payloads = [encode(network(), target).payload for network in (networks.ds_cnn, networks.resnet8)]
    opcodes = [{call.opcode.name for call in decode(payload).calls} for payload in payloads]
    assert opcodes[0] - opcodes[1] and opcodes[1] - opcodes[0]
    table = generate_kernel_table_of_parts("net-1", payloads, 0xABCD)
    found = list(map(_whole, _kernels(table)))
    assert sorted(found) == sorted(map(camel, opcodes[0] | opcodes[1]))
    assert "// For the program 0000abcd." in table and "net-1.h" not in table and "#error" not in table


@pytest.mark.parametrize(
    "second, stock",
    [
        (((3, 3), (0, 0), 1), "k{0} = cmsis_nn::k{0}3x3;"),
        (((5, 5), (1, 1), 1), "namespace cmsis_nn_or_portable = cmsis_nn;"),
    ],
)
def test_parts_link_one_function_of_cmsis_nn_if_that_computes_the_calls_of_all(second, stock):
    payloads = [_depthwise(((3, 3), (1, 1), 1)), _depthwise(second)]
    for order in (payloads, payloads[::-1]):
        table = generate_kernel_table_of_parts("net", order, 0)
        assert stock.format("DepthwiseConv2d") in table
        assert _kernels(table) == ["net_model::cmsis_nn_or_portable::kDepthwiseConv2d"]


def test_only_payloads_are_accepted():
    with pytest.raises(PayloadError):
        generate_kernel_table("x", b"nothing")
