"""Attention and transformers in int8, as PyTorch writes them, in one delegate call."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.ops.masked_softmax import smallest_mask
from cmsis_nn_delegate.testing.lowering import Branch, branches_apart, reports_of_branches, steps_apart

TOKENS = 6
CAUSAL = torch.ones(TOKENS, TOKENS).tril().bool()
INFINITE = torch.zeros(TOKENS, TOKENS).masked_fill(~CAUSAL, -math.inf)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


class WithMask(nn.Module):
    """A function of inputs and a mask."""

    def __init__(self, function, mask):
        super().__init__()
        self.function = function
        self.register_buffer("mask", mask)

    def forward(self, *inputs):
        return self.function(*inputs, self.mask)


def attention(mask, heads=2, **options):
    """A branch of attention over two heads of keys and values."""
    shapes = [(1, heads, TOKENS, 4), (1, 2, TOKENS, 4), (1, 2, TOKENS, 4)]
    function = WithMask(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, **options), mask)
    return lambda: Branch(function, tuple(map(torch.randn, shapes)))


def scores(function, mask=~CAUSAL, shape=(1, 2, TOKENS, TOKENS)):
    """A branch of scores that `function` masks."""
    return lambda: Branch(WithMask(lambda x, m: F.softmax(function(x, m), -1), mask), (torch.randn(shape),))


ATTENTION = {
    "causal": attention(None, is_causal=True),
    "true and false": attention(CAUSAL),
    "minus infinity": attention(INFINITE),
    "positions and minus infinity": attention(torch.randn(2, TOKENS, TOKENS) + INFINITE),
    "grouped queries": attention(None, heads=4, is_causal=True, enable_gqa=True),
}
MASKS = {
    "made in forward": scores(lambda x, m: x + torch.triu(torch.full((TOKENS, TOKENS), -math.inf), 1)),
    "filled in": scores(lambda x, m: x.masked_fill(m, -math.inf)),
    "filled in place": scores(
        lambda x, m: (x * 1.5).masked_fill_(m[:TOKENS, :TOKENS] == 0, -1e9), torch.ones(9, 9).tril()
    ),
    "scaled after": scores(lambda x, m: x.masked_fill(m, -1e9) / 2.5),
    "chosen": scores(lambda x, m: torch.where(m, x, torch.finfo(x.dtype).min), CAUSAL),
    "chosen from a tensor": scores(lambda x, m: torch.where(m, x, torch.full([], -1e4)), CAUSAL),
    "chosen, reversed": scores(lambda x, m: torch.where(m, -math.inf, x)),
    "two masks": scores(lambda x, m: x.masked_fill(m, -math.inf) + torch.tensor([0.0] * (TOKENS - 1) + [-1e9])),
    # Windows of images, each with its own mask.
    "windows": scores(
        lambda x, m: (x.view(2, 2, 3, 4, 4) + m.unsqueeze(1).unsqueeze(0)).view(-1, 3, 4, 4),
        torch.zeros(2, 4, 4).index_fill(2, torch.tensor([1]), -100.0),
        (4, 3, 4, 4),
    ),
}


def test_masks():
    found = branches_apart({name: make() for name, make in {**ATTENTION, **MASKS}.items()}, "int8")
    for name, apart in found.items():
        assert apart.distance <= 1, name
        assert apart.ops.count("masked_softmax") == 1 and "softmax" not in apart.ops, name
        assert apart.ops.count("batch_matmul") == (2 if name in ATTENTION else 0), name
    assert "add" in found["positions and minus infinity"].ops


def test_scores_that_nothing_hides_keep_their_softmax():
    found = branches_apart({"added": scores(lambda x, m: x + m, torch.randn(TOKENS, TOKENS))()})
    assert found["added"].ops == ["quantize", "add", "softmax", "dequantize"]


def test_masks_that_hide_whole_rows_are_refused():
    mask = CAUSAL.clone().index_fill_(0, torch.tensor([2]), False)
    function = WithMask(lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m), mask)
    branch = Branch(function, (torch.randn(1, 2, TOKENS, 4),))
    reports = reports_of_branches({"rows": branch})["rows"]
    messages = [report.message for report in reports if "attention" in report.function_target]
    assert len(messages) == 1 and "leave something in each row" in messages[0]


def test_a_mask_is_stored_once_for_all_that_share_it():
    mask = torch.randint(0, 2, (3, 1, 4, 5)).to(torch.int8).numpy()
    assert smallest_mask(mask).shape == (12, 5)
    assert smallest_mask(mask[:1].repeat(3, 0)).shape == (4, 5)
    assert smallest_mask(mask[:1, :, :1].repeat(4, 2)).shape == (1, 5)


class Causal(nn.Module):
    """A layer that is given a causal mask as its argument `name`."""

    def __init__(self, layer, name, **options):
        super().__init__()
        self.layer, self.name, self.options = layer, name, options
        self.register_buffer("mask", INFINITE)

    def forward(self, *inputs):
        result = self.layer(*inputs, **{self.name: self.mask}, **self.options)
        return result if isinstance(result, torch.Tensor) else result[0]


def layer(kind, name, inputs=1, **options):
    """A branch of a layer of a transformer."""
    module = Causal(kind(8, 2, 16, batch_first=True, **options), name)
    return lambda: Branch(module, tuple(torch.randn(1, TOKENS, 8) for _ in range(inputs)))


def self_attention(**options):
    module = Causal(nn.MultiheadAttention(8, 2, batch_first=True), "attn_mask", **options)
    return lambda: Branch(module, tuple(torch.randn(1, TOKENS, 8) for _ in range(3)))


LAYERS = {
    "attention": self_attention(),
    "attention without weights": self_attention(need_weights=False),
    "encoder, norm first": layer(nn.TransformerEncoderLayer, "src_mask", norm_first=True, activation="gelu"),
    "decoder": layer(nn.TransformerDecoderLayer, "tgt_mask", 2),
}


def test_layers_with_masks():
    for name, apart in branches_apart({name: make() for name, make in LAYERS.items()}).items():
        assert apart.ops.count("masked_softmax") == 1, name
        assert apart.ops.count("softmax") == ("decoder" in name), name
        assert apart.distance <= 3, name  # of six operators or more, each within a step


class SelfAttention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.options = options

    def forward(self, x):
        return self.attention(x, x, x, **self.options)[0]


@pytest.mark.parametrize("weights", [False, True])
def test_attention_is_one_call(weights):
    distances, graph = steps_apart(SelfAttention(need_weights=weights), torch.randn(1, 6, 8))
    ops = [node.op for node in graph.nodes]
    assert ops.count("batch_matmul") == 2 and ops.count("softmax") == 1 and ops.count("transpose") == 0
    # One copy for each of query, key and value, and one that brings the heads together.
    assert ops.count("strided_copy") == 4
    assert max(distances) <= 3  # of six operators, each within a step


def test_a_transformer_encoder_is_one_call():
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    for parameter in encoder.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_normal_(parameter)
    distances, graph = steps_apart(encoder, torch.randn(1, 6, 8))
    assert [node.op for node in graph.nodes].count("normalize") == 4
    assert max(distances) <= 6
