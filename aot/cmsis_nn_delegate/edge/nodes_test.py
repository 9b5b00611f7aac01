"""Names of nodes, in both dialects, and what needs no PyTorch."""

import subprocess
import sys

import pytest
import torch
from executorch.exir.dialects._ops import ops as edge_ops

from cmsis_nn_delegate.edge.nodes import GETITEM, target_name

aten = torch.ops.aten


def call(target):
    return torch.fx.Graph().call_function(target, ())


@pytest.mark.parametrize(
    "overload",
    [aten.add.Tensor, aten.linear.default, aten.max_pool2d_with_indices.default, aten.clamp.Tensor],
)
def test_a_function_has_one_name_in_both_dialects(overload):
    package, name, variant = str(overload).split(".")
    edge = getattr(getattr(getattr(edge_ops.edge, package), name), variant)
    assert target_name(call(overload)) == target_name(call(edge)) == str(overload)


def test_other_nodes():
    import operator

    assert target_name(call(operator.getitem)) == GETITEM
    assert target_name(torch.fx.Graph().placeholder("x")) == ""
    assert target_name(call(torch.ops.higher_order.cond)) == str(torch.ops.higher_order.cond)


@pytest.mark.parametrize(
    "module",
    ["ops.registry", "passes.run_passes", "payload.encode", "reference", "compiled", "report.model_report"],
)
def test_what_follows_the_import_needs_no_torch(module):
    """Its tests, and tools that only read what was compiled, start ten times faster for it."""
    code = f"import sys, cmsis_nn_delegate.{module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}).returncode == 0
