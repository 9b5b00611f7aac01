"""Names of PyTorch's nodes do not reach readers where the modules of their model are known."""

import json
import re

import pytest

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report import text
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.report.names import Names
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks

NETWORKS = [networks.ds_cnn, networks.resnet8, networks.mobilenet_v1_025, networks.autoencoder]


def modules_of(graph):
    """A module for each edge node."""
    sources = [source for node in graph.nodes for source in node.sources]
    return {source: f"layers.{index} (Module)" for index, source in enumerate(dict.fromkeys(sources))}


@pytest.mark.parametrize("network", NETWORKS)
def test_reports_have_the_names_of_modules(network):
    graph = network()
    encoded = encode(graph, get_target("cortex-m4"))
    modules = modules_of(encoded.graph)
    report = build_report("net", encoded, modules=modules)
    inner = {node.name for node in encoded.graph.nodes} | {v.name for n in encoded.graph.nodes for v in n.outputs}
    inner |= set(modules)
    assert inner
    shown = json.loads(report.to_json())
    for call in shown["calls"]:
        del call["sources"]  # the edge nodes, for tools
    for buffer in (*shown["arena"]["buffers"], *shown["tensors"]):
        del buffer["value"]  # that of the lowered graph, for tools
    for document in (json.dumps(shown), text.render(report)):
        assert not inner & set(re.findall(r"\w+", document)) - {"input", "output"}
    assert [tensor.name for tensor in report.outputs] == ["output"]
    assert [tensor.name for tensor in report.inputs] == [value.name for value in graph.inputs]
    assert all(re.match(r"layers\.\d+ \(Module\)$", name) for name in report.arena.in_place)


def test_what_has_no_module_keeps_its_name():
    graph = networks.ds_cnn()
    names = Names(graph, {})
    value = graph.nodes[0].outputs[0].name
    assert names.in_text(f"{value}.scratch and {value} + unknown") == f"scratch of {value} and {value} + unknown"
    assert names.in_text(graph.outputs[0].name) == "output"
