"""compile_model leaves what it is given alone, and refuses weights that are not finite."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.private_copy import runnable_copy
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

EVERY_REWRITE = CmsisNnQuantizer(equalization="relu6", bias_correction=True)
X = torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6)


def network():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(), nn.Flatten(), nn.Linear(64, 3)
    )
    model[1].running_mean.uniform_(-1, 1)
    return model


def compiled(module, inputs=(X,), calibration=None, **options):
    return compile_model(module, inputs, "cortex-m55", calibration or [inputs], **options)


class Accumulator(nn.Module):
    """Remembers a sum from one inference to the next."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.register_buffer("total", torch.full((1, 2, 6, 6), 0.5))

    def forward(self, x):
        self.total.add_(self.conv(x))
        return self.total * 2


@pytest.mark.parametrize("make, quantizer", [(network, EVERY_REWRITE), (network, None), (Accumulator, None)])
def test_the_module_stays_as_it_is(make, quantizer):
    module = make().train()
    list(module.children())[-1].eval()
    next(module.parameters()).requires_grad_(False)
    before = copy.deepcopy(module.state_dict())
    attributes = [(m.training, dict(vars(m))) for m in module.modules()]
    gradients = [p.requires_grad for p in module.parameters()]
    x = X.clone()
    compiled(module, (x,), quantizer=quantizer)
    after = module.state_dict()
    assert list(before) == list(after) and all(torch.equal(before[name], after[name]) for name in before)
    assert attributes == [(m.training, dict(vars(m))) for m in module.modules()]
    assert gradients == [p.requires_grad for p in module.parameters()]
    assert torch.equal(x, X)


@pytest.mark.parametrize("make", [network, Accumulator])
def test_an_exported_program_stays_as_it_is(make):
    program = torch.export.export(make().eval(), (X,))
    before, text = copy.deepcopy(program.state_dict), str(program)
    compiled(program)
    assert all(torch.equal(before[name], value) for name, value in program.state_dict.items())
    assert str(program) == text


def test_what_a_model_remembers_starts_as_it_was_given():
    program = compiled(Accumulator(), calibration=[(X,), (X,), (-X,)]).program
    assert torch.equal(program.state_dict["total"], torch.full((1, 2, 6, 6), 0.5))


def test_inputs_and_samples_that_forward_writes_into_stay_as_they_are():
    class Writer(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 2, 1)

        def forward(self, x):
            return self.conv(x.add_(1.0))

    x, sample = X.clone(), X.clone()
    compiled(Writer(), (x,), [(sample,)])
    assert torch.equal(x, X) and torch.equal(sample, X)


def test_weights_that_deepcopy_refuses_are_copied():
    layer = nn.utils.weight_norm(nn.Conv2d(2, 3, 1))  # its weight is the result of a computation
    (got,) = compiled(layer).program.module(check_guards=False)(X)
    torch.testing.assert_close(got, layer(X), atol=0.03, rtol=0)


def test_modules_that_cannot_be_copied_are_refused():
    model = network()
    model.file = open(__file__)
    with model.file, pytest.raises(UserError, match="cannot be copied with copy.deepcopy.*TypeError"):
        compiled(model)


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, a, b):
        return self.conv(a) + b


def test_a_tensor_may_be_given_for_two_inputs():
    module, y = TwoInputs(), X.flip(3)
    result = compiled(module, (X, X), [(X, X), (y, y), (X, y)])
    (got,) = reference.run(result.graph, [X.numpy(), y.numpy()])
    assert np.abs(got - module(X, y).detach().numpy()).max() < 0.1


def test_views_of_one_tensor_may_be_given_for_two_inputs():
    result = compiled(TwoInputs(), (X, X[:]), [(X, X.view_as(X))])
    assert len(result.graph.inputs) == 2


def test_a_program_that_was_exported_with_one_tensor_for_two_inputs_is_refused():
    program = torch.export.export(TwoInputs().eval(), (X, X))
    with pytest.raises(UserError, match="inputs a and b of the exported program were given as one tensor"):
        compiled(program, (X, X))


@pytest.mark.parametrize("value, words", [(math.nan, "NaN at"), (math.inf, "an infinity at"), (-math.inf, "an inf")])
@pytest.mark.parametrize(
    "layer, name, index",
    [(0, "weight", (1, 0, 2, 2)), (0, "bias", (3,)), (5, "weight", (2, 7)), (1, "weight", (0,)), (1, "bias", (2,))],
)
def test_weights_that_are_not_finite_are_named(layer, name, index, value, words):
    module = network()
    with torch.no_grad():
        getattr(module[layer], name)[index] = value
    with pytest.raises(UserError, match=rf"^{layer}\.{name} of the model holds {words}"):
        compiled(module)
    with pytest.raises(UserError, match=rf"{layer}\.{name} of the model holds {words}"):
        compiled(torch.export.export(module.eval(), (X,)))


def test_buffers_that_hold_nan_are_named():
    module = network()
    module[1].running_var[2] = math.nan
    with pytest.raises(UserError, match=r"1\.running_var of the model holds NaN at \[2\]"):
        compiled(module)


def test_constants_that_hold_nan_are_named():
    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.offset = nn.Conv2d(2, 2, 1), torch.tensor([[[math.nan]]])

        def forward(self, x):
            return self.conv(x) + self.offset

    with pytest.raises(UserError, match=r"offset of the model holds NaN"):
        compiled(Shifted())


def test_weights_that_nothing_reads_may_be_anything():
    module = network()
    module.head = nn.Parameter(torch.full((2,), math.nan))
    assert compiled(module).payload


def test_copies_share_all_but_what_they_write():
    module = torch.export.export(Accumulator(), (X,)).module(check_guards=False)
    copied = runnable_copy(module)
    assert copied.conv.weight is module.conv.weight and copied.total is not module.total
    with torch.no_grad():
        copied(X)
    assert torch.equal(module.total, torch.full((1, 2, 6, 6), 0.5)) and not torch.equal(copied.total, module.total)
