"""Passes are left out where they change nothing, and nowhere else."""

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes.normalize_transpose_pass import NormalizeTransposePass
from executorch.exir.passes.replace_broken_ops_with_function_ops_pass import ReplaceBrokenOpsWithFunctionalOpsPass
from torch.export import Dim, export

from cmsis_nn_delegate.partition.needed_passes import _CHANGES, needed_passes
from cmsis_nn_delegate.testing.lowering import Function

# What the passes are there for.
PROGRAMS = {
    "ScalarToTensorPass": (lambda x: x * 2 + 1, torch.float32),
    "RemoveMixedTypeOperators": (lambda x: x / 3 + x.float() - x, torch.int32),
    "MemoryFormatOpsPass": (lambda x: x.to(torch.float64).clone(memory_format=torch.contiguous_format), torch.float32),
    "SymToTensorPass": (lambda x: x * x.shape[0], torch.float32),
    "of branches": (lambda x: torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y + 1, (x,)), torch.float32),
}


def lowered(function, dtype, dynamic):
    x = torch.ones(4, 4, dtype=dtype)
    shapes = ({0: Dim("rows", min=2, max=8)},) if dynamic else None
    program = export(Function(function), (x,), dynamic_shapes=[shapes] if dynamic else None)
    return to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False)).exported_program()


def described(program):
    """Everything that later stages read of a program."""
    return [
        (node.op, node.name, str(node.target), str(node.args), str(node.kwargs), str(node.meta.get("val")))
        for module in program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
    ]


@pytest.fixture
def called(monkeypatch):
    """The names of the passes that have interpreted a graph, of both kinds of programs."""
    names = set()
    call = ExportPass.call
    monkeypatch.setattr(
        ExportPass, "call", lambda self, module: (names.add(type(self).__name__), call(self, module))[1]
    )
    return names


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_lowered_as_without_it(called, name):
    function, dtype = PROGRAMS[name]
    dynamic = name == "SymToTensorPass"
    wanted = described(lowered(function, dtype, dynamic))
    called.clear()
    with needed_passes():
        assert described(lowered(function, dtype, dynamic)) == wanted
    assert name == "of branches" or name in called


@pytest.mark.parametrize("kind", [NormalizeTransposePass, ReplaceBrokenOpsWithFunctionalOpsPass])
def test_views_are_copied_as_without_it(called, kind):
    """ExecuTorch replaces views before it comes to these passes."""
    module = export(Function(torch.ops.aten.t), (torch.ones(4, 4),)).graph_module
    with needed_passes():
        copied = kind()(module).graph_module
    assert kind.__name__ in called
    assert any(node.target is torch.ops.aten.t_copy.default for node in copied.graph.nodes)


def test_a_pass_is_left_out_if_there_is_nothing_to_do(called):
    passes = {kind.__name__ for kind in _CHANGES}
    with needed_passes():
        lowered(lambda x: torch.relu(x) + x, torch.float32, False)
    assert called and not called & passes
    lowered(lambda x: torch.relu(x) + x, torch.float32, False)
    assert called >= passes
