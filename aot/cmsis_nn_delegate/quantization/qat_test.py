"""Quantization-aware training with CmsisNnQuantizer: everything is folded and delegated, and the numbers are
those that the model was trained with."""

import numpy as np
import pytest
import torch
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval, move_exported_model_to_train
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

from cmsis_nn_delegate import quantizable_module, reference
from cmsis_nn_delegate.errors import UserError
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.lowering import lower_program

aten = torch.ops.aten
SHAPE = (4, 3, 8, 8)


def layer(inputs, outputs, kernel, activation, groups=1, bias=False):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=bias),
        nn.BatchNorm2d(outputs),
        *activation,
    )


class Network(nn.Module):
    """All kinds of convolutions with a batch norm, a residual connection and a classifier."""

    def __init__(self, bias, inplace):
        super().__init__()
        torch.manual_seed(0)
        self.stem = layer(3, 8, 3, [nn.ReLU(inplace)], bias=bias)
        self.depthwise = layer(8, 8, 3, [nn.ReLU6(inplace)], groups=8, bias=bias)
        self.pointwise = layer(8, 8, 1, [], bias=bias)
        self.up = nn.Sequential(nn.ConvTranspose2d(8, 6, 2, 2, bias=bias), nn.BatchNorm2d(6), nn.ReLU(inplace))
        self.activation = nn.ReLU(inplace)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(6, 5)

    def forward(self, x):
        y = self.stem(x)
        y = self.activation(y + self.pointwise(self.depthwise(y)))
        return self.classifier(self.dropout(self.up(y).mean((2, 3))))


def trained(module, steps=4, qat=True):
    """`module` after some steps of training, with observers or fake quantization, in eval mode."""
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(1))
    graph = quantizable_module(torch.export.export(module.train(), (x,)))
    prepared = prepare_qat_pt2e(graph, CmsisNnQuantizer("minmax", qat=qat))
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.05)
    for step in range(steps):
        batch = torch.randn(SHAPE, generator=torch.Generator().manual_seed(step))
        move_exported_model_to_train(prepared)
        loss = (prepared(batch) - 1.0).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    move_exported_model_to_eval(prepared)
    with torch.no_grad():
        prepared(x)  # the ranges of the last weights
    for name, buffer in prepared.named_buffers():
        if name.endswith("observer_enabled"):
            buffer.zero_()
    return prepared, x


# PT2E compiles its patterns anew in each call, which takes seconds.
@pytest.mark.parametrize("bias, inplace, qat", [(False, True, True), (True, False, False)])
def test_a_trained_model_is_one_delegate_call_with_the_numbers_of_training(bias, inplace, qat):
    """With fake quantization; with observers alone the numbers are those of the float model."""
    prepared, x = trained(Network(bias, inplace), qat=qat)
    with torch.no_grad():
        wanted = prepared(x).numpy()
    lowered = lower_program(torch.export.export(convert_pt2e(prepared), (x,)))
    assert [str(report) for report in lowered.reports if not report.delegated] == []
    graph = lowered.graph()
    (got,) = reference.run(graph, [x.numpy()])
    step = graph.nodes[-1].inputs[0].quant.scale[0]
    assert np.abs(got - wanted).max() <= (2.01 if qat else 12) * step


def test_other_epsilons_are_refused():
    """prepare_qat_pt2e computes with 1e-5, whatever the module says."""
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, eps=1e-3))
    with pytest.raises(UserError, match=r"batch_norm in 1 \(BatchNorm2d\) has eps 0.001.*running_var"):
        trained(module)


def test_layers_that_are_shared_by_batch_norms_are_refused():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.a, self.b = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.BatchNorm2d(4)

        def forward(self, x):
            return self.a(self.conv(x)) + self.b(self.conv(-x))

    with pytest.raises(UserError, match=r"conv2d in conv \(Conv2d\) .*cannot be folded"):
        trained(Shared())
