"""Model Explorer itself loads the adapter, and its graphs and node data say what the report and the profile say."""

import json

import pytest
import torch
from cmsis_nn_delegate_model_explorer.node_data import main, node_data
from model_explorer.extension_manager import ExtensionManager

from cmsis_nn_delegate import UserError, compile_model


class Net(torch.nn.Module):
    """Two ways to the sum, so that a tensor has two readers."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU())
        self.branch = torch.nn.Conv2d(4, 4, 3, padding=1)
        self.head = torch.nn.Linear(4 * 8 * 8, 5)

    def forward(self, x):
        x = self.stem(x)
        return self.head(torch.flatten(x + self.branch(x), 1))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    torch.manual_seed(0)
    samples = [(torch.rand(1, 1, 8, 8),) for _ in range(4)]
    folder = tmp_path_factory.mktemp("out")
    compile_model(Net().eval(), samples[0], "cortex-m4", samples, io="int8", name="net").write(folder)
    return folder / "net"


@pytest.fixture(scope="module")
def manager():
    found = ExtensionManager(["cmsis_nn_delegate_model_explorer"])
    found.load_extensions()
    return found


def converted(manager, path):
    command = {"extensionId": "cmsis_nn_delegate", "cmdId": "convert", "modelPath": str(path), "settings": {}}
    answer = manager.run_cmd({**command, "deleteAfterConversion": False})
    assert "error" not in answer, answer
    (graph,) = json.loads(json.dumps(answer))["graphs"]  # what its server sends to the browser
    return graph


@pytest.fixture(scope="module")
def report(compiled):
    return json.loads(compiled.with_suffix(".report.json").read_text())


def test_any_file_of_a_model_shows_its_calls(manager, compiled, report):
    graph = converted(manager, compiled.with_suffix(".pte"))
    assert graph == converted(manager, compiled.with_suffix(".payload.bin"))
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert [nodes[f"call {c['index']}"]["label"] for c in report["calls"]] == [c["kernel"] for c in report["calls"]]
    assert len(nodes) == len(report["calls"]) + len(report["inputs"]) + len(report["outputs"])
    (branch,) = (c for c in report["calls"] if any(m.startswith("branch ") for m in c["modules"]))
    stem = nodes[f"call {branch['index'] - 1}"]
    assert stem["namespace"] == "stem" and nodes[f"call {branch['index']}"].get("namespace", "") == ""


def test_edges_are_the_tensors_of_the_report(manager, compiled, report):
    graph = converted(manager, compiled.with_suffix(".report.json"))
    order = {node["id"]: i for i, node in enumerate(graph["nodes"])}
    calls = [node for node in graph["nodes"] if node["id"].startswith("call ")]
    found = sorted(
        (edge["sourceNodeId"], node["id"])
        for node in calls
        for edge in node["incomingEdges"]
        if edge["sourceNodeId"].startswith("call ")
    )
    assert found == sorted(
        (f"call {w}", f"call {r}") for t in report["tensors"] for w in t["writers"] for r in t["readers"]
    )
    assert all(order[writer] < order[reader] for writer, reader in found)
    # Everything leads to the output.
    sources = {edge["sourceNodeId"] for node in graph["nodes"] for edge in node.get("incomingEdges", [])}
    assert sources == set(order) - {"output 0"}


def test_node_data_has_each_call_s_instructions_and_memory(compiled, report, tmp_path):
    calls = [{"index": c["index"], "kernel": c["kernel"], "instructions": 1000 + c["index"]} for c in report["calls"]]
    profile = compiled.with_suffix(".profile.json")
    profile.write_text(json.dumps({"calls": calls}))
    assert main([str(compiled), "-o", str(tmp_path)]) == 0
    profile.unlink()
    (data,) = json.loads((tmp_path / "net.executed_instructions.json").read_text()).values()
    assert {k: v["value"] for k, v in data["results"].items()} == {
        f"call {c['index']}": c["instructions"] for c in calls
    }
    (data,) = json.loads((tmp_path / "net.bytes_alive.json").read_text()).values()
    assert (
        max(v["value"] for v in data["results"].values()) == report["calls"][report["arena"]["peak_call"]]["live_bytes"]
    )


def test_node_data_belongs_to_the_graph(manager, compiled, report):
    graph = converted(manager, compiled.with_suffix(".pte"))
    nodes = {node["id"] for node in graph["nodes"]}
    for data in node_data(report).values():
        assert set(data.graphsData) == {graph["id"]} and set(data.graphsData[graph["id"]].results) <= nodes


def test_a_profile_of_another_model_is_refused(report):
    with pytest.raises(UserError, match="other calls than the report"):
        node_data(report, {"calls": [{"index": 0, "kernel": "none", "instructions": 1}]})


def test_a_missing_report_is_an_error_that_names_it(tmp_path, capsys):
    assert main([str(tmp_path / "none"), "-o", str(tmp_path)]) == 1
    assert "is no compiled model" in capsys.readouterr().err
