"""How ExecuTorch's compiler is imported."""

import json
import subprocess
import sys
from importlib import resources

import pytest
import ruamel.yaml
import torch
from torch._export import utils

from cmsis_nn_delegate.partition import exir
from cmsis_nn_delegate.partition.decompose import decompose

SLOW = ["networkx", "torch._inductor.lowering", "torch._inductor.fx_passes.post_grad"]


def test_the_compiler_is_imported_without_what_only_training_needs():
    code = f"""
import gc, json, sys
import cmsis_nn_delegate.pipeline
found = [name for name in {SLOW} if name in sys.modules]
from torch._functorch._activation_checkpointing import graph_info_provider
graph = graph_info_provider.nx.DiGraph()
import networkx, ruamel.yaml
print(json.dumps([found, gc.isenabled(), type(graph) is networkx.DiGraph, ruamel.yaml.YAML.__module__]))
"""
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [[], True, True, "ruamel.yaml.main"]


def test_the_table_of_operators_is_what_ruamel_reads():
    package = "executorch.exir.dialects.edge"
    text = resources.files(package).joinpath("edge.yaml").read_text(encoding="utf-8")
    table = vars(sys.modules[f"{package}._ops"])["_edge_dialect_info"]
    assert table == {entry["inherits"]: entry for entry in ruamel.yaml.YAML(typ="safe").load(text)} and len(table) > 100


@pytest.mark.parametrize("text", ["a: [1, 2]\n", "a: 0o17\n", "- 'x'\n- {y: null}\n"])
def test_documents_that_libyaml_reads_and_others(text):
    assert exir._Reader(typ="safe").load(text) is not None
    with pytest.raises(Exception, match="expected|found"):
        exir._Reader(typ="safe").load("a: [1")


def test_operators_are_listed_once_for_a_program(monkeypatch):
    calls = []
    enumerate_operators = utils._materialize_cpp_cia_ops
    monkeypatch.setattr(utils, "_materialize_cpp_cia_ops", lambda: calls.append(1) or enumerate_operators())
    program = torch.export.export(torch.nn.Softsign(), (torch.zeros(3),))
    decomposed = decompose(program)
    assert len(calls) == 1
    again = program.run_decompositions()
    assert len(calls) > 10  # PyTorch by itself, for each namespace
    assert len(decomposed.graph.nodes) == len(again.graph.nodes)


def test_calls_that_write_in_place_are_decomposed_by_pytorch():
    """ExecuTorch makes an operator in place of each."""
    library = torch.library.Library("cmsisnn_exir_test", "FRAGMENT")
    library.define("fill_ones(Tensor(a!) x) -> ()")

    def fill_ones(x):
        x.fill_(1)

    library.impl("fill_ones", fill_ones, "CompositeExplicitAutograd")

    class Writes(torch.nn.Module):
        def forward(self, x):
            y = x.clone()
            torch.ops.cmsisnn_exir_test.fill_ones(y)
            return y + x

    program = torch.export.export(Writes(), (torch.zeros(3),)).run_decompositions()
    assert any("auto_functionalized" in str(node.target) for node in program.graph.nodes)
    exir._decompose_auto_functionalized(program.graph)
    targets = [str(node.target) for node in program.graph.nodes]
    assert "cmsisnn_exir_test.fill_ones.default" in targets and not any("auto_" in target for target in targets)
