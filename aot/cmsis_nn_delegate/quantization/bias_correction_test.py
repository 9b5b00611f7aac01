"""Bias correction: the means of channels come back."""

import copy

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.bias_correction import correct_biases
from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.convert import convert_calibrated
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

# Never negative, so that errors of weights do not cancel each other in the mean.
SAMPLES = [(torch.rand(1, 3, 8, 8, generator=torch.Generator().manual_seed(i)),) for i in range(16)]


class Network(nn.Module):
    """One channel of each layer is 100 times as large as the others, whose weights are so rounded to few numbers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a = nn.Conv2d(3, 8, 3)
        self.b = nn.Conv2d(8, 8, 3, groups=8, bias=False)
        self.up = nn.ConvTranspose2d(8, 6, 2)
        self.head = nn.Linear(6, 4, bias=False)
        with torch.no_grad():
            for layer in (self.a, self.b, self.head):
                layer.weight[0] *= 100

    def forward(self, x):
        return self.head(self.up(self.b(self.a(x).relu()).relu()).mean((2, 3)))


def per_tensor(**options):
    return CmsisNnQuantizer("minmax", **options).set_global(QuantizationConfig(weights="per-tensor", observer="minmax"))


def mean_errors(model, prepared):
    """Of each layer, as a fraction of its range: how far the mean of a channel is from that in float, at most."""
    wanted, got = [], []
    with torch.no_grad():
        for found, module in ((wanted, prepared), (got, model)):
            for sample in SAMPLES:
                interpreter = torch.fx.Interpreter(module, garbage_collect_values=False)
                interpreter.run(*sample)
                found.append(
                    {n.name: v for n, v in interpreter.env.items() if n.name in ("conv2d", "conv2d_1", "linear")}
                )
    errors = {}
    for name in wanted[0]:
        a, b = (torch.cat([values[name] for values in found]) for found in (wanted, got))
        means = [value.flatten(2).mean((0, 2)) if value.dim() == 4 else value.mean(0) for value in (a, b)]
        errors[name] = float((means[0] - means[1]).abs().max() / a.abs().max())
    return errors


def test_means_of_all_layers_come_back():
    module = quantizable_module(torch.export.export(Network().eval(), SAMPLES[0]))
    prepared = prepare_pt2e(module, per_tensor(bias_correction=True))
    for sample in SAMPLES:
        prepared(*sample)
    plain = convert_calibrated(copy.deepcopy(prepared))
    corrected = copy.deepcopy(plain)
    correct_biases(prepared, corrected, SAMPLES)
    before, after = mean_errors(plain, prepared), mean_errors(corrected, prepared)
    assert before.keys() == after.keys() == {"conv2d", "conv2d_1", "linear"}
    assert all(after[name] < 1e-4 + before[name] / 10 for name in before), (before, after)
    assert max(before.values()) > 1e-3


def test_the_compiler_corrects():
    model = Network().eval()
    with torch.no_grad():
        wanted = torch.cat([model(*sample) for sample in SAMPLES]).mean(0)
        shifts = []
        for correct in (False, True):
            compiled = compile_model(
                model, SAMPLES[0], "cortex-m55", SAMPLES, quantizer=per_tensor(bias_correction=correct)
            )
            assert compiled.encoded is not None
            program = compiled.program.module()
            shifts.append(float((torch.cat([program(*sample)[0] for sample in SAMPLES]).mean(0) - wanted).abs().max()))
    assert shifts[1] < shifts[0] / 2
    assert compiled.report.quantizer.endswith("bias correction")


def test_models_with_a_state_are_refused():
    class Remembers(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 1)
            self.register_buffer("memory", torch.zeros(1, 3, 8, 8))

        def forward(self, x):
            self.memory.add_(x)
            return self.conv(self.memory)

    with pytest.raises(UserError, match="bias correction is impossible: the model keeps a state"):
        compile_model(
            Remembers(), SAMPLES[0], "cortex-m55", SAMPLES[:1], quantizer=per_tensor(bias_correction=True), check=False
        )
