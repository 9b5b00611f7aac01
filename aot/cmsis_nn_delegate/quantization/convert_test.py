"""Conversion without patterns of training, float weights, or all dequantized weights at once."""

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
    quantizer = CmsisNnQuantizer("minmax").set_module_type(nn.BatchNorm3d, None)  # else those would be convolutions
    prepared = prepare_pt2e(graph, quantizer)
    prepared(x)
    return prepared, x


def test_equals_what_torchao_converts():
    make_torch_faster()
    prepared, x = calibrated()
    wanted = convert_pt2e(copy.deepcopy(prepared))
    converted = convert_calibrated(prepared)
    assert sorted(converted.code.splitlines()) == sorted(wanted.code.splitlines())  # but for what is computed late
    assert torch.equal(converted(x), wanted(x))
    theirs = {**wanted.state_dict(), **dict(wanted.named_buffers())}
    for name, ours in converted.named_buffers():
        assert torch.equal(ours, theirs[name])
    norms = [node for node in converted.graph.nodes if "batch_norm" in str(node.target)]
    assert [node.target for node in norms] == [torch.ops.aten.batch_norm.default] * 2


def test_no_pattern_is_exported(monkeypatch):
    def export(*args, **kwargs):
        raise AssertionError("a pattern for trained models is exported")

    prepared, _ = calibrated()
    monkeypatch.setattr(qat_utils, "_get_aten_graph_module_for_pattern", export)
    convert_calibrated(prepared)


def test_only_quantized_weights_stay_and_are_dequantized_where_they_are_read():
    module = nn.Sequential(*(nn.Conv2d(3, 3, 1, bias=False) for _ in range(4)))
    x = torch.randn(1, 3, 4, 4)
    prepared = prepare_pt2e(quantizable_module(torch.export.export(module.eval(), (x,))), CmsisNnQuantizer("minmax"))
    prepared(x)
    converted = convert_calibrated(prepared)
    nodes = list(converted.graph.nodes)
    weights = [node for node in nodes if "dequantize_per_channel" in str(node.target)]
    assert len(weights) == 4
    assert [nodes[nodes.index(weight) + 1] for weight in weights] == [next(iter(weight.users)) for weight in weights]
    kept = [name for name, _ in (*converted.named_parameters(), *converted.named_buffers())]
    assert sorted(kept) == sorted(node.target for node in nodes if node.op == "get_attr")
