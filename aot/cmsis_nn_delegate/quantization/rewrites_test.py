"""Every rewrite keeps what the model computes, alone and after those before it, and has a model that needs it."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.quantization.prepare import quantizable_module, remove_identities
from cmsis_nn_delegate.quantization.rewrites import REWRITES, rewrite
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Function

make_torch_faster()

IMAGE, ROWS, SEQUENCE, VOLUME = (1, 4, 6, 6), (3, 8), (1, 4, 12), (1, 2, 4, 5, 6)


def filled(x):
    y = x * 2
    y[:, :2] = 0
    return y


def masked(x):
    return (x + torch.tensor([0.0, 0, 0, 0, 0, 0, -1e9, -1e9])).softmax(-1)


def lstm_output():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(8, 4)

        def forward(self, x):
            return self.lstm(x)[0]

    return Last()


class StackedStates(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 4, 2)
        self.register_buffer("h", torch.zeros(2, 1, 4))

    def forward(self, x):
        y, h = self.gru(x[:, None], self.h)
        self.h.copy_(h)
        return y


class RunningMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(ROWS))

    def forward(self, x):
        self.mean.lerp_(x, 0.1)
        return x - self.mean


# The rewrite that each model is for.
MODELS = {
    "aliases_to_functions": (lambda: Function(lambda x: torch.multiply(x, x)), ROWS),
    "float_powers_to_powers": (lambda: Function(lambda x: torch.float_power(x.abs(), 2).float()), ROWS),
    "separate_recurrent_layers": (lstm_output, ROWS),
    "separate_stacked_states": (StackedStates, ROWS),
    "spell_out_products": (lambda: Function(lambda x: F.glu(x)), ROWS),
    "separate_kept_sums": (RunningMean, ROWS),
    "volumes_to_images": (lambda: nn.Sequential(nn.Conv3d(2, 3, 3), nn.ReLU()), VOLUME),
    "lengths_to_products": (lambda: Function(lambda x: F.cosine_similarity(x + 1, x * 2 + 1)), ROWS),
    "constant_indices_to_parts": (lambda: Function(lambda x: x[:, [5, 1, 1, 0]]), ROWS),
    "input_indices_to_products": (lambda: Function(lambda x: x.gather(1, x.argmax(1, keepdim=True))), ROWS),
    "scatters_to_concats": (lambda: Function(filled), ROWS),
    "fold_constants": (lambda: Function(lambda x: x * torch.arange(8).float().exp().reciprocal()), ROWS),
    "clamps_to_numbers": (lambda: Function(lambda x: x.clamp(torch.zeros(8), torch.ones(8))), ROWS),
    "separate_parts": (lambda: Function(lambda x: sum(x.chunk(2, 1))), ROWS),
    "separate_selections": (lambda: Function(lambda x: x.max(1).values), ROWS),
    "images_of_sequences": (lambda: nn.Conv1d(4, 3, 3), SEQUENCE),
    "unpad_same": (lambda: nn.Conv2d(4, 3, 2, padding="same"), IMAGE),
    "crops_to_padding": (lambda: nn.Sequential(nn.Conv2d(4, 3, 3, padding=2), Function(lambda x: x[..., :-2])), IMAGE),
    "rewrite_pools": (lambda: nn.AvgPool2d(3, 1, 1, count_include_pad=True), IMAGE),
    "batch_norms_to_convolutions": (lambda: nn.BatchNorm2d(4), IMAGE),
    "divisions_to_products": (lambda: Divided(), ROWS),
    "split_products": (lambda: Function(lambda x: F.scaled_dot_product_attention(*[x[None]] * 3)), ROWS),
    "take_masks": (lambda: Function(masked), ROWS),
    "conditions_to_numbers": (lambda: Function(lambda x: torch.where(x > 0, x, x * 0.1)), ROWS),
    "softmax_along_rows": (lambda: nn.Softmax(0), ROWS),
}


class Divided(nn.Module):
    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.linspace(1, 2, 8))

    def forward(self, x):
        return x / self.by


def module_of(name):
    torch.manual_seed(0)
    make, shape = MODELS[name]
    x = torch.randn(shape)
    model = quantizable_module(torch.export.export(make().eval(), (x,)))
    remove_identities(model)
    return model, x


def test_every_rewrite_has_a_model():
    assert list(MODELS) == [one.run.__name__ for one in REWRITES]


@pytest.mark.parametrize("name", MODELS)
def test_results_stay_after_each_rewrite(name):
    model, x = module_of(name)
    expected = copy.deepcopy(model)(x)  # of a copy, because a model may write its state
    changed = []
    for one in REWRITES:
        before = str(model.graph)
        one.run(model)
        if str(model.graph) != before:
            changed.append(one.run.__name__)
        torch.testing.assert_close(copy.deepcopy(model)(x), expected, rtol=1e-5, atol=1e-5, msg=one.run.__name__)
    assert name in changed


class Attention(nn.Module):
    """Attention, and behind it what cannot be computed without data."""

    def __init__(self, behind):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self._behind = behind

    def forward(self, x):
        return self._behind(self.attention(x, x, x, need_weights=False)[0])


def either(y):
    return torch.cond(y.sum() > 0, lambda t: t * 2, lambda t: t - 1, (y,))


def not_below(y):
    return y, torch.masked_select(y, y > 0).sum()


@pytest.mark.parametrize("behind", [either, not_below])
def test_attention_beside_what_depends_on_values(behind):
    x = torch.randn(1, *ROWS, generator=torch.Generator().manual_seed(0))
    module = Attention(behind).eval()
    model = quantizable_module(torch.export.export(module, (x,)))
    remove_identities(model)
    rewrite(model, Configuration())
    torch.testing.assert_close(model(x), module(x))


@pytest.mark.parametrize("trained", [False, True])
def test_what_is_computed_of_parameters_is_constant_unless_they_are_trained(trained):
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(8, 2))
    model = quantizable_module(torch.export.export(layer.eval(), (torch.randn(ROWS),)))
    rewrite(model, Configuration(), trained)
    assert ("aten._weight_norm" in str(model.graph)) == trained
