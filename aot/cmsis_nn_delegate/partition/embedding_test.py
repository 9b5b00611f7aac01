"""Rows of constant tables, chosen by integers, from the module to the integers."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.observer import MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from cmsis_nn_delegate import QuantizationConfig, reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.registry import index_range
from cmsis_nn_delegate.quantization.convert import convert_trained
from cmsis_nn_delegate.quantization.narrowed import narrowed
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import (
    Branch,
    Function,
    branches_apart,
    lower_program,
    lowered,
    reports_of_branches,
    steps_apart,
)

ROWS, WIDTH = 9, 6


class Table(nn.Module):
    """Computes with what `function` looks up in a constant table, of vectors or numbers."""

    def __init__(self, function, *shape):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.register_buffer("table", torch.randn(shape))

    def forward(self, x):
        y = self.function(self.table, x)
        return y * y


def integers(*shape, dtype=torch.int64, low=0):
    return torch.randint(low, ROWS, shape, dtype=dtype, generator=torch.Generator().manual_seed(1))


def form(function, indices, *shape):
    return Branch(Table(function, *(shape or (ROWS, WIDTH))), (indices,))


FORMS = {
    "embedding": form(lambda t, x: F.embedding(x, t, padding_idx=2), integers(2, 5)),
    "one index": form(lambda t, x: F.embedding(x, t), integers()),
    "int32": form(lambda t, x: F.embedding(x, t), integers(2, 5, dtype=torch.int32)),
    "rank 3": form(lambda t, x: F.embedding(x, t), integers(2, 3, 4)),
    "index_select": form(lambda t, x: torch.index_select(t, 0, x), integers(4)),
    "index": form(lambda t, x: t[x], integers(2, 3, low=-ROWS)),
    "index of matrices": form(lambda t, x: t[x], integers(3, low=-ROWS), ROWS, 2, 3),
    "gather": form(lambda t, x: t.gather(0, x), integers(4), ROWS),
    "take": form(lambda t, x: t.take(x), integers(2, 3, low=-ROWS), 3, 3),
    "a column": form(lambda t, x: F.embedding(x[:, 1], t), integers(4, 3)),
    "every other column": form(lambda t, x: F.embedding(x[:, 1::2], t), integers(4, 5)),
    "columns one by one": form(lambda t, x: sum(F.embedding(c, t) for c in x.unbind(1)), integers(4, 3)),
    "across": form(lambda t, x: F.embedding(x.t(), t), integers(4, 3)),
    "reshaped": form(lambda t, x: F.embedding(x.reshape(-1).unsqueeze(0), t), integers(4, 3)),
    "repeated": form(lambda t, x: F.embedding(x.expand(3, 4), t), integers(1, 4)),
    "converted": form(lambda t, x: F.embedding(x.long().view(2, 6), t), integers(4, 3, dtype=torch.int32)),
    "a made table": form(lambda t, x: F.embedding(x, t * 2 + 1), integers(4)),
    "of what is computed": Branch(
        Table(lambda t, x: t[(x + x).argmin(1).view(2, 2)], ROWS, WIDTH), (torch.randn(4, ROWS),)
    ),
}


@pytest.fixture(scope="module")
def forms():
    return branches_apart(FORMS)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_exact(forms, name):
    assert forms[name].distance <= 1  # of the product; a look-up is a copy
    assert set(forms[name].ops) & {"embedding"}
    (source,) = forms[name].inputs
    assert source.element in (Element.INT64, Element.INT32, Element.FLOAT32)


def test_what_moves_indices_costs_nothing(forms):
    for name in ("a column", "every other column", "across", "reshaped", "repeated", "converted"):
        assert forms[name].ops == ["embedding", "mul", "dequantize"], name


def test_several_tables_of_one_input_and_constant_positions():
    class Several(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.kinds, self.places = (nn.Embedding(rows, 8) for rows in (20, 5, 12))

        def forward(self, x):
            return self.words(x) + self.kinds(x) + self.places(torch.arange(x.shape[1]))

    x = torch.randint(0, 5, (1, 12))
    graph = lowered(Several(), x).graph()
    assert [node.op for node in graph.nodes].count("embedding") == 2  # positions are constant
    assert index_range(graph, graph.inputs[0]) == (0, 4)
    with pytest.raises(ValueError, match=r"index 5 is not in a table of 5 rows"):
        reference.run(graph, [np.full((1, 12), 5)])


def of_activations(function, indices):
    return Branch(Function(lambda x, i: function(x * 2, i) * 0.5), (torch.randn(4, 9, 3), indices))


CHOSEN = {
    "rows": of_activations(lambda x, i: x.index_select(0, i), torch.tensor([3, 0, 3, 1, 2])),
    "columns, also from the end": of_activations(lambda x, i: x[:, i], torch.tensor([[8, -1], [0, -9]])),
    "int32": of_activations(lambda x, i: x.index_select(-1, i), torch.tensor([2], dtype=torch.int32)),
    "a column of an input": of_activations(lambda x, i: x[i[:, 1]], torch.tensor([[9, 3], [9, 1]])),
    "gathered": of_activations(lambda x, i: x.gather(1, i), integers(2, 4, 3)),
    "gathered along the last": of_activations(lambda x, i: x.gather(2, i), integers(4, 9, 5) % 3),
    "at a maximum": Branch(Function(lambda x: x.gather(1, x.argmax(1, keepdim=True))), (torch.randn(4, 9),)),
}


def test_indices_that_are_inputs_choose_of_activations():
    for name, apart in branches_apart(CHOSEN).items():
        assert apart.distance <= 1 and apart.error < 0.02, name  # a term that is not 0
        assert "batch_matmul" in apart.ops or "fully_connected" in apart.ops, name


TURNED = torch.randperm(200, generator=torch.Generator().manual_seed(1))
REFUSED = {
    "more activations than a matrix has room for": (
        Branch(Function(lambda x, i: x[i] * 2), (torch.randn(129, 4), integers(2))),
        "not-constant",
        "multiply by (torch.arange(n) == index).float()",
    ),
    "more indices in no order than a matrix has room for": (
        Branch(Function(lambda x: x[TURNED] * 2), (torch.randn(200, 1),)),
        "not-constant",
        "up to 16384 elements times indices",
    ),
    "another dimension": (
        form(lambda t, x: torch.index_select(t, 1, x), integers(4).clamp(max=WIDTH - 1)),
        "unsupported-parameter",
        "transpose the table",
    ),
    "single numbers": (
        form(lambda t, x: t.gather(0, x), integers(2, WIDTH)),
        "unsupported-parameter",
        "whole rows",
    ),
    "too many loops": (
        form(lambda t, x: F.embedding(x[:, :2, :2], t), integers(3, 3, 3)),
        "unsupported-shape",
        "look up the whole tensor",
    ),
    "bags": (
        Branch(nn.EmbeddingBag(ROWS, WIDTH), (integers(2, 5),)),
        "unsupported-operator",
        "a sum or mean over the rows",
    ),
    "integers that are computed with": (
        form(lambda t, x: F.embedding(x[:, 1], t) * x[:, 1:2].float(), integers(4, 3)),
        "unsupported-dtype",
        "only as indices of constant tables",
    ),
}


def test_the_rest_is_refused_with_a_reason():
    found = reports_of_branches({name: branch for name, (branch, _, _) in REFUSED.items()})
    for name, (_, reason, part) in REFUSED.items():
        refused = [report for report in found[name] if report.reason is not None]
        assert any(part in report.message and report.reason.value == reason for report in refused), (name, refused)


def limited(norm=2.0):
    torch.manual_seed(1)
    layer = nn.Embedding(ROWS, WIDTH, max_norm=2.0, norm_type=norm).requires_grad_(False)
    with torch.no_grad():
        layer.weight.mul_(torch.linspace(0, 3, ROWS)[:, None])  # some rows are short enough
    return layer


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_rows_that_are_shortened_when_they_are_looked_up(norm):
    """They are shortened once, when the model is compiled; the program that it is made of stays as it is."""
    layer = limited(norm)
    program = torch.export.export(layer.eval(), (integers(2, 5),))
    before = program.state_dict["weight"].clone()
    model = quantizable_module(program, share_parameters=True)
    assert torch.equal(program.state_dict["weight"], before)
    assert not any("renorm" in str(node.target) for node in model.graph.nodes)
    for _ in range(2):
        x = torch.arange(10).reshape(2, 5) % ROWS
        assert torch.equal(model(x), layer(x))
    compiled = compile_model(limited(norm), (integers(2, 5),), "cortex-m55", [(integers(2, 5),)] * 3)
    assert compiled.payload is not None, compiled.refused


def test_a_table_that_is_shortened_and_read_otherwise():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = limited()

        def forward(self, x):
            return self.table(x) @ self.table.weight.T

    with pytest.raises(UserError, match="max_norm writes into table.weight, which is not only looked up, with one"):
        quantizable_module(torch.export.export(Tied().eval(), (integers(2, 5),)))


def test_a_table_that_is_shortened_and_shares_its_memory():
    """`from_pretrained` keeps the tensor, so that the rows get shorter for both layers."""

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            table = limited().weight.detach()
            self.short = nn.Embedding.from_pretrained(table, max_norm=1.0, norm_type=1.0)
            self.other = nn.Embedding.from_pretrained(table)

        def forward(self, x):
            y = self.short(x)
            return y + self.other(x)

    with pytest.raises(UserError, match=r"limit its rows \(torch.renorm\(\w+.weight, 1, 0, max_norm\)\)"):
        quantizable_module(torch.export.export(Twice().eval(), (integers(2, 5),)))


def test_training_quantizes_the_whole_table():
    """Not only the rows that the last batch looked up."""
    module = nn.Sequential(nn.Embedding(ROWS, WIDTH), nn.Linear(WIDTH, 2))
    with torch.no_grad():
        module[0].weight[0] = 10.0
    x = integers(4).clamp(min=1)
    prepared = prepare_qat_pt2e(
        quantizable_module(torch.export.export(module.train(), (x,))), CmsisNnQuantizer(qat=True)
    )
    for _ in range(3):
        prepared(x)
    (node,) = (node for node in prepared.graph.nodes if "embedding" in str(node.target))
    observer = prepared.get_submodule(node.args[0].target)
    assert float(observer.activation_post_process.max_val) == 10.0


class Words(nn.Module):
    """Tables whose rows differ a lot in size, with long rows, short ones and numbers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.words, self.kinds = nn.Embedding(ROWS, 33), nn.Embedding(ROWS, 4)
        self.bias = nn.Parameter(torch.randn(ROWS))
        with torch.no_grad():
            self.words.weight.mul_(torch.logspace(-2, 0, ROWS)[:, None])

    def forward(self, x):
        words = self.words(x)
        return words, torch.cat([words * 2, self.kinds(x)], -1) * self.bias[x].unsqueeze(-1)


def tables(graph):
    return [node.inputs[1].element.value for node in graph.nodes if node.op == "embedding"]


def test_tables_of_4_bits():
    """With a scale for each row: what calibration does not look up, such as the largest row, is as exact."""
    module, x = Words().eval(), torch.arange(ROWS)
    quantizer = CmsisNnQuantizer("minmax", preset="w4")
    distances, graph = steps_apart(module, x[:2], quantizer=quantizer)
    assert max(distances) <= 1
    # Rows of 4 numbers, and of one, save nothing.
    assert sorted(tables(graph)) == ["int4", "int8", "int8"]
    found = torch.from_numpy(reference.run(graph, [x[[0, ROWS - 1]].numpy()])[0])
    wanted = module.words.weight.detach()[[0, ROWS - 1]]
    rest = (found - wanted).square().sum(1) / wanted.square().sum(1)
    step = float(wanted.abs().max()) / 127
    assert rest[1] < 0.02 and (found - wanted)[0].abs().max() <= step + float(wanted[0].abs().max()) / 7
    quantizer.set_global(QuantizationConfig(activations="symmetric"))
    distances, graph = steps_apart(module, x[:2], quantizer=quantizer)
    (small,) = (node for node in graph.nodes if node.op == "embedding" and node.inputs[1].element is Element.INT4)
    assert max(distances) <= 1 and small.output.zero_point == 0


def test_a_note_says_how_many_bits_tables_keep():
    quantizer = CmsisNnQuantizer("minmax", preset="w4").set_module_name("words", QuantizationConfig(format="int16"))
    prepared = prepare_pt2e(quantizable_module(torch.export.export(Words().eval(), (integers(4),))), quantizer)
    wide, short = narrowed(prepared.graph)
    assert "words" in wide and "keeps weights of 16 bits" in wide
    assert "kinds" in short and "words" not in short and "keep weights of 8 bits" in short


def test_training_quantizes_rows_to_4_bits():
    module = nn.Sequential(nn.Embedding(ROWS, 16), nn.Linear(16, 2))
    x = integers(4)
    quantizer = CmsisNnQuantizer(preset="w4", qat=True)
    prepared = prepare_qat_pt2e(quantizable_module(torch.export.export(module.train(), (x,))), quantizer)
    prepared(x).square().sum().backward()
    move_exported_model_to_eval(prepared)
    with torch.no_grad():
        wanted = prepared(x)
        converted = convert_trained(prepared)
        assert torch.allclose(converted(x), wanted, atol=2 * float(wanted.abs().max()) / 127)
    assert tables(lower_program(torch.export.export(converted, (x,))).graph()) == ["int4"]


class Elsewhere(CmsisNnQuantizer):
    """Another tool's: tables in [-8, 7] with scales by `observer`, and outputs with a scale of their own."""

    def __init__(self, observer, scheme):
        super().__init__("minmax", preset="w4")
        self.table = copy.copy(self._specs.small)
        for name, value in (
            ("quant_min", -8),
            ("quant_max", 7),
            ("qscheme", scheme),
            ("ch_axis", 0 if "channel" in str(scheme) else None),
            ("observer_or_fake_quant_ctr", observer.with_args(eps=2**-20)),
        ):
            object.__setattr__(self.table, name, value)

    def annotate(self, model):
        model = super().annotate(model)
        for node in model.graph.nodes:
            if "embedding" in str(node.target):
                annotation = node.meta["quantization_annotation"]
                annotation.input_qspec_map[node.args[0]] = self.table
        return model


@pytest.mark.parametrize(
    "observer, scheme, refused",
    [
        (PerChannelMinMaxObserver, torch.per_channel_symmetric, None),
        (MinMaxObserver, torch.per_tensor_symmetric, None),
        (PerChannelMinMaxObserver, torch.per_channel_affine, "a scale for each index of dimension 0 and zero points"),
    ],
)
def test_tables_that_were_quantized_elsewhere(observer, scheme, refused):
    module, x = nn.Sequential(nn.Embedding(ROWS, 16), nn.Linear(16, 2)).eval(), integers(2, 5)
    with torch.no_grad():
        module[0].weight += 1.0
    program = quantizable_module(torch.export.export(module, (x,)))
    prepared = prepare_pt2e(program, Elsewhere(observer, scheme))
    prepared(x)
    converted = convert_pt2e(prepared)
    if refused:
        with pytest.raises(ValueError, match=refused):
            lower_program(torch.export.export(converted, (x,)))
        return
    graph = lower_program(torch.export.export(converted, (x,))).graph()
    assert tables(graph) == ["int4"]
    (found,) = reference.run(graph, [x.numpy()])
    with torch.no_grad():
        wanted = converted(x)
    assert np.abs(found - wanted.numpy()).max() <= 2 * float(wanted.abs().max()) / 100
