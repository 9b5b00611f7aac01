"""Batch norms that stay in a calibrated model."""

import copy

import torch
from torch import nn
from torchao.quantization.pt2e import qat_utils
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate.quantization.convert import convert_calibrated
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster


def calibrated():
    """A model of which one batch norm can be folded and two cannot."""
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.BatchNorm3d(3), nn.Conv3d(3, 4, 3), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2), nn.BatchNorm3d(4)
    )
    x = torch.randn(2, 3, 8, 8, 8)
    module(x)  # gives the norms statistics
    graph = quantizable_module(torch.export.export(module.eval(), (x,)))
    prepared = prepare_pt2e(graph, CmsisNnQuantizer("minmax"))
    prepared(x)
    return prepared, x


def test_equals_what_torchao_converts():
    make_torch_faster()
    prepared, x = calibrated()
    wanted = convert_pt2e(copy.deepcopy(prepared))
    converted = convert_calibrated(prepared)
    assert converted.code == wanted.code
    assert torch.equal(converted(x), wanted(x))
    for (name, ours), (other, theirs) in zip(converted.named_buffers(), wanted.named_buffers()):
        assert name == other and torch.equal(ours, theirs)
    norms = [node for node in converted.graph.nodes if "batch_norm" in str(node.target)]
    assert [node.target for node in norms] == [torch.ops.aten.batch_norm.default] * 2


def test_no_pattern_is_exported(monkeypatch):
    def export(*args, **kwargs):
        raise AssertionError("a pattern for trained models is exported")

    prepared, _ = calibrated()
    monkeypatch.setattr(qat_utils, "_get_aten_graph_module_for_pattern", export)
    convert_calibrated(prepared)
