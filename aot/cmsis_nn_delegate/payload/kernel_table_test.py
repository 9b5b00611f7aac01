import re

import pytest

from cmsis_nn_delegate.format.cpp import camel
from cmsis_nn_delegate.ops.graph_builder import GraphBuilder
from cmsis_nn_delegate.ops.providers.registry import get_providers
from cmsis_nn_delegate.payload.decode import PayloadError, decode
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.payload.kernel_table import generate_kernel_table
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing import networks


def _kernels(table: str) -> list[str]:
    return re.findall(r"^        ([\w:]+::k\w+),$", table, re.MULTILINE)


@pytest.mark.parametrize("providers", ["tuned,cmsis-nn,portable", "cmsis-nn,portable", "portable"])
@pytest.mark.parametrize("network", [networks.ds_cnn, networks.resnet8])
def test_a_table_has_each_kernel_that_is_called_once(network, providers):
    payload = encode(network(), get_target("cortex-m4"), providers=get_providers(providers.split(","))).payload
    found = _kernels(generate_kernel_table("net-1", payload))
    assert sorted(name.rpartition("::k")[2] for name in found) == sorted(
        {camel(call.opcode.name) for call in decode(payload).calls}
    )
    wanted = {"tuned": "tuned", "cmsis-nn": "net_1_model::stock", "portable": "portable"}
    assert {name.rpartition("::k")[0] for name in found} <= {wanted[provider] for provider in providers.split(",")}


def test_what_cmsis_nn_computes_has_another_kernel_without_it():
    payload = encode(networks.ds_cnn(), get_target("cortex-m4"), providers=get_providers(["cmsis-nn"])).payload
    table = generate_kernel_table("net", payload)
    assert {name.rpartition("::")[0] for name in _kernels(table)} == {"net_model::stock"}
    with_it, without = re.search(
        r"namespace net_model {\n#ifdef \w+\n(.*?)#else\n(.*?)#endif", table, re.DOTALL
    ).groups()
    assert "namespace stock = cmsis_nn;" in with_it and "namespace stock = portable;" in without


def test_an_opcode_of_two_providers_has_the_kernel_that_runs_the_calls_of_both():
    """CMSIS-NN refuses depthwise convolutions of one channel, which the portable kernel of that opcode computes."""
    b = GraphBuilder()
    calls = [b.depthwise_conv2d(b.input(1, channels, 6, 6), 2, kernel=(3, 3)) for channels in (1, 4)]
    providers = get_providers(["cmsis-nn", "portable"])
    payload = encode(b.graph(*calls), get_target("cortex-m4"), providers=providers).payload
    found = {(call.opcode.name, call.provider.name) for call in decode(payload).calls}
    assert found == {("DEPTHWISE_CONV2D", "PORTABLE"), ("DEPTHWISE_CONV2D", "CMSIS_NN")}
    assert _kernels(generate_kernel_table("net", payload)) == ["portable::kDepthwiseConv2d"]


def test_only_payloads_are_accepted():
    with pytest.raises(PayloadError):
        generate_kernel_table("x", b"nothing")
