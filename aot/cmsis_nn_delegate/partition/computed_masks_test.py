"""Masks that a model computes of an input, in the forms of Hugging Face's transformers, become part of one call, and
the bytes of the device follow the float model, also for masks that the calibration data has not."""

import math
import pickle

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.support.noise_sums import NoiseSums
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

TOKENS, WIDTH, HEADS = 6, 16, 2
LEAST = torch.finfo(torch.float32).min
CAUSAL = torch.ones(TOKENS, TOKENS).tril().bool()


class Attention(nn.Module):
    """Adds the mask that `masked` makes, or, if that is a function of scores, lets it mask them."""

    def __init__(self, masked, fused=False):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.masked, self.fused = masked, fused
        with torch.no_grad():  # scores that differ as those of trained models do
            self.layers[0].weight.mul_(6)

    def forward(self, x, mask):
        q, k, v = (layer(x).view(1, TOKENS, HEADS, -1).permute(0, 2, 1, 3) for layer in self.layers[:3])
        mask = self.masked(mask)
        if self.fused:
            found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
            found = F.softmax(mask(scores) if callable(mask) else scores + mask, -1) @ v
        found = found.permute(0, 2, 1, 3).contiguous()
        return self.layers[3](found.view(1, TOKENS, WIDTH))


def wide(m):
    return m[:, None, None, :]


def inverted(m):
    opposite = 1.0 - wide(m).expand(1, 1, TOKENS, TOKENS).to(torch.float32)
    return opposite.masked_fill(opposite.to(torch.bool), LEAST)


def indexed(m):
    batch, keys = torch.arange(1)[:, None, None, None], torch.arange(TOKENS)
    visible = (keys <= keys[:, None]) & m.bool()[batch, keys[None, None, None, :]]
    return torch.where(visible, torch.tensor(0.0), LEAST)


def causal_filled(m):
    mask = torch.full((TOKENS, TOKENS), LEAST).triu(1)[None, None]
    return mask.masked_fill(mask + wide(m) == 0, LEAST)


def two_masks(m):
    added = (1.0 - wide(m).to(torch.float32)) * LEAST
    return lambda scores: torch.where(CAUSAL, scores, torch.full([], LEAST)) + added


def with_positions(m):
    distance = (torch.arange(TOKENS)[:, None] - torch.arange(TOKENS)).abs()
    return -0.25 * distance + (1.0 - wide(m).to(torch.float32)) * LEAST


FORMS = {
    "extended": lambda m: (1.0 - wide(m).to(torch.float32)) * LEAST,
    "of old": lambda m: (1.0 - wide(m)) * -10000.0,
    "inverted": inverted,
    "chosen": lambda m: torch.where(wide(m).bool(), 0.0, LEAST),
    "chosen from a tensor, causal": lambda m: torch.where(CAUSAL & wide(m).bool(), torch.tensor(0.0), LEAST),
    "indexed": indexed,
    "filled in": lambda m: lambda scores: scores.masked_fill(~wide(m).bool(), LEAST),
    "filled in with infinity": lambda m: lambda scores: scores.masked_fill(wide(m) == 0, -math.inf),
    "scores chosen": lambda m: lambda scores: torch.where(wide(m) > 0, scores, LEAST),
    "filled in twice": causal_filled,
    "two masks": two_masks,
    "with positions": with_positions,
}
FUSED = {
    "fused": lambda m: wide(m).bool(),
    "fused, causal": lambda m: CAUSAL & wide(m).bool(),
    "fused, of numbers": lambda m: (1.0 - wide(m)) * LEAST,
}


class Forms(nn.Module):
    """Several attentions of the same inputs and weights, side by side."""

    def __init__(self, forms, fused=()):
        super().__init__()
        self.forms = nn.ModuleList([*(map(Attention, forms)), *(Attention(form, True) for form in fused)])
        for form in self.forms:
            form.load_state_dict(self.forms[0].state_dict())

    def forward(self, x, mask):
        return tuple(form(x, mask) for form in self.forms)


def sample(make, kept, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(1, TOKENS, WIDTH, generator=generator), make(torch.arange(TOKENS)[None] < kept)


def noise(forms, make, kept, fused=()):
    """SQNR in dB, by form, of the device's bytes on other data than the model was calibrated with, of which the samples
    keep `kept` tokens. All must be one call."""
    torch.manual_seed(3)
    model = Forms(forms, fused).eval()
    samples = [sample(make, count, seed) for seed, count in enumerate(3 * kept)]
    compiled = compile_model(model, samples[0], "cortex-m55", samples, check=True)
    assert compiled.payload is not None, "\n".join(map(str, compiled.refused))
    assert not compiled.calibration_doubt and not any("zero" in line or "steps" in line for line in compiled.warnings)
    sums = [NoiseSums() for _ in model.forms]
    for seed, count in enumerate((1, 2, 4, 5, 6), 100):
        inputs = sample(make, count, seed)
        arrays = [x.numpy().astype(np.int8) if x.dtype == torch.bool else x.numpy() for x in inputs]
        with torch.no_grad():
            pairs = zip(sums, model(*inputs), run(compiled.graph, arrays))
        for total, wanted, found in pairs:
            total.signal += float(wanted.square().sum())
            total.noise += float((wanted - torch.from_numpy(found)).square().sum())
    return [10 * math.log10(total.signal / total.noise) for total in sums]


@pytest.mark.parametrize("part", [0, 1])
def test_masks_of_integers(part):
    forms = list(FORMS.values())[part::2]
    assert min(noise(forms, torch.Tensor.long, (2, 3, 6, 5), list(FUSED.values()) if part else [])) > 26


def test_masks_of_floats():
    forms = [FORMS[name] for name in ("extended", "inverted", "filled in", "scores chosen", "filled in twice")]
    assert min(noise(forms, torch.Tensor.float, (2, 3, 6, 5), [FUSED["fused, causal"]])) > 26


def test_masks_of_booleans():
    forms = [
        lambda m: torch.where(wide(m), 0.0, LEAST),
        lambda m: lambda scores: scores.masked_fill(~(CAUSAL & wide(m)), LEAST),
    ]
    assert min(noise(forms, torch.Tensor.bool, (2, 3, 6, 5), [wide])) > 26


def test_calibration_data_without_a_masked_token():
    forms = [FORMS[name] for name in ("extended", "chosen", "filled in", "two masks")]
    found = noise(forms, torch.Tensor.long, (TOKENS,) * 4, [FUSED["fused, causal"]])
    assert min(found) > 25


def test_masks_as_numbers_to_add():
    def added(kept):
        return torch.where(kept, 0.0, -1e9)[:, None, None, :]

    assert min(noise([lambda m: m], added, (2, 3, 6, 5), [lambda m: m])) > 26


@pytest.mark.parametrize("form", ["extended", "filled in", "scores chosen"])
@pytest.mark.parametrize("spread", [10.0, 300.0])
def test_what_is_hidden_counts_for_nothing_however_far_scores_spread(form, spread):
    """Also where hidden scores are the greatest by far. Where all are hidden, each counts alike, as in PyTorch."""

    class Softmax(nn.Module):
        def forward(self, scores, mask):
            found = FORMS[form](mask)
            return F.softmax(found(scores) if callable(found) else scores + found, -1)

    def drawn(kept, seed):
        generator = torch.Generator().manual_seed(seed)
        scores = torch.rand(1, 1, TOKENS, TOKENS, generator=generator) * spread - spread / 2
        scores[..., kept:] += spread / 2
        return scores, (torch.arange(TOKENS)[None] < kept).long()

    samples = [drawn(kept, kept) for kept in (2, 3, 6, 5)]
    compiled = compile_model(Softmax(), samples[0], "cortex-m55", samples, check=False)
    assert compiled.payload is not None, "\n".join(map(str, compiled.refused))
    for seed in range(10):
        kept = seed % (TOKENS + 1)
        scores, mask = drawn(kept, 100 + seed)
        (found,) = run(compiled.graph, [scores.numpy(), mask.numpy()])
        assert kept == 0 or not found[..., kept:].any()
        assert np.allclose(found.sum(-1), 1, atol=TOKENS / 256)
        if not kept:
            assert np.allclose(found, 1 / TOKENS, atol=1 / 256)


@pytest.mark.parametrize("observer", ["histogram", "minmax", "moving-average", "percentile"])
def test_observers_of_masks_can_be_pickled(observer):
    inputs = sample(torch.Tensor.long, 3, 0)
    program = torch.export.export(Attention(FORMS["extended"]).eval(), inputs)
    prepared = prepare_pt2e(quantizable_module(program), CmsisNnQuantizer(observer))
    prepared(*inputs)
    observers = dict(prepared.named_children())
    assert any("OfScores" in type(found).__name__ for found in observers.values())
    for name, found in observers.items():
        again = pickle.loads(pickle.dumps(found))
        assert type(again) is type(found) and str(again.state_dict()) == str(found.state_dict()), name


def test_masks_of_indices():
    """A padding index in the input hides what it pads."""

    class Padded(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(9, WIDTH, padding_idx=0)
            self.attention = Attention(lambda m: torch.where(wide(m), 0.0, LEAST))

        def forward(self, words):
            return self.attention(self.table(words), words.ne(0))

    torch.manual_seed(3)
    words = [(torch.tensor([[1 + (i * 3 + j) % 8 if j < i else 0 for j in range(TOKENS)]]),) for i in (2, 5, 6, 3)]
    compiled = compile_model(Padded(), words[0], "cortex-m55", words)
    assert compiled.payload is not None, "\n".join(map(str, compiled.refused))
    assert not compiled.calibration_doubt
