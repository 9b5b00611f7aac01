import json
import re
import zlib

import numpy as np
import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.cli.model_source import load_model
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.format.cpp import camel
from cmsis_nn_delegate.partition.partitioner import CmsisNnPartitioner
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.report import parts_report, text
from cmsis_nn_delegate.report.budget import Budget
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

X = torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))


def compiled(module=None, inputs=(X,), target="cortex-m55", calibration=((X,),), **options):
    return compile_model(module or network(), inputs, target, calibration, **options)


def test_results_are_close_to_the_float_model():
    module = network()
    random = torch.Generator().manual_seed(1)
    samples = [(torch.randn(X.shape, generator=random),) for _ in range(8)]
    result = compiled(module, calibration=samples)
    step = result.graph.nodes[-1].inputs[0].quant.scale[0]
    for (x,) in samples:
        (got,) = reference.run(result.graph, [x.numpy()])
        assert np.abs(got - module(x).detach().numpy()).max() <= 6 * step


@pytest.mark.parametrize(
    "linear_weights, kernel",
    [("per-channel", "FULLY_CONNECTED"), ("per-tensor", "FULLY_CONNECTED_PER_TENSOR")],
)
def test_linear_weights_choose_the_kernel(linear_weights, kernel):
    module = network()
    result = compiled(module, io="int8", linear_weights=linear_weights)
    assert [call.opcode.name for call in decode(result.payload).calls][-1] == kernel
    (got,) = reference.run(result.graph, [result.graph.inputs[0].type.quantize(X.numpy())])
    output = result.graph.outputs[0].quant
    exact = module(X).detach().numpy()
    assert np.abs((got.astype(float) - output.zero_point) * output.scale[0] - exact).max() <= 6 * output.scale[0]


@pytest.mark.parametrize("linear_weights", ["per-channel", "per-tensor"])
@pytest.mark.parametrize("bias", [1000.0, -1000.0])
def test_a_bias_that_does_not_fit_32_bits_is_an_error(linear_weights, bias):
    """PyTorch quantizes it to the most negative number, whatever its sign."""
    for index in (0, -1):  # convolution, linear
        module = network()
        with torch.no_grad():
            module[index].weight.zero_()
            module[index].bias.fill_(bias)
        with pytest.raises(UserError, match="its bias exceeds 32 bits in steps"):
            compiled(module, linear_weights=linear_weights)


class _Total(nn.Module):
    def forward(self, x):
        return x.sum()


class _Gain(nn.Module):
    def forward(self, x, gain):
        return x * gain


@pytest.mark.parametrize(
    "module, inputs",
    [(_Total(), (torch.rand(1, 8),)), (_Gain(), (torch.rand(1, 8), torch.tensor(0.5)))],
    ids=["output", "input"],
)
def test_tensors_without_dimensions_pass_the_check(module, inputs):
    result = compiled(module, inputs, calibration=(inputs, inputs))
    (got,), wanted = reference.run(result.graph, [x.numpy() for x in inputs]), module(*inputs).numpy()
    assert got.shape == wanted.shape and np.abs(got - wanted).max() <= 0.05


def test_numpy_arrays_are_inputs_too():
    a = compiled(calibration=[(X.numpy(),)], inputs=(X.numpy(),))
    assert a.payload == compiled().payload


@pytest.fixture(scope="module")
def converted():
    """The network, quantized as `compiled()` does it."""
    prepared = prepare_pt2e(quantizable_module(torch.export.export(network(), (X,))), CmsisNnQuantizer())
    prepared(X)
    return convert_pt2e(prepared)


@pytest.mark.parametrize("form", ["module", "program"])
@pytest.mark.parametrize("io", ["float", "int8"])
def test_a_quantized_model_is_compiled_as_it_is(converted, form, io):
    before = {name: tensor.clone() for name, tensor in converted.state_dict().items()}
    model = converted if form == "module" else torch.export.export(converted, (X,))
    result = compile_model(model, (X,), "cortex-m55", io=io)
    assert result.payload == compiled(io=io).payload
    assert result.report.quantizer == "none, quantized before"
    assert all(torch.equal(tensor, before[name]) for name, tensor in converted.state_dict().items())


@pytest.mark.parametrize(
    "options",
    [{"calibration": [(X,)]}, {"quantizer": CmsisNnQuantizer()}, {"observer": "minmax"}],
    ids=lambda o: [*o][0],
)
def test_a_quantized_model_is_not_quantized_again(converted, options):
    with pytest.raises(UserError, match="the model is quantized already: leave out calibration data and quantizer"):
        compile_model(converted, (X,), "cortex-m55", **options)


def test_optional_passes_can_be_skipped():
    module = network()
    with torch.no_grad():
        module[0].weight[1], module[0].bias[1] = 0, -1
    whole = compiled(module, io="int8", skip_passes=["eliminate-channels"])
    narrow = compiled(module, io="int8")
    convolutions = [next(n for n in result.graph.nodes if n.op == "conv2d") for result in (whole, narrow)]
    assert [node.output.shape[1] for node in convolutions] == [4, 3]
    assert not whole.graph.notes and "1 constant of 4 channels" in narrow.graph.notes[0]
    assert "1 constant of 4 channels" in text.render(narrow.report)
    specs = {
        spec.key
        for spec in CmsisNnPartitioner("cortex-m4", skip_passes=["drop-idle-clamps"]).delegation_spec.compile_specs
    }
    assert "skip_passes" in specs
    x = np.arange(-36, 36, dtype=np.int8).reshape(X.shape)
    for a, b in zip(reference.run(whole.graph, [x]), reference.run(narrow.graph, [x])):
        np.testing.assert_array_equal(a, b)


def test_convolutions_are_computed_in_bands_if_that_may_cost_something():
    torch.manual_seed(0)
    middle = nn.Conv2d(32, 32, 3, 2, 1, groups=32)
    module = nn.Sequential(nn.Conv2d(2, 8, 1), nn.Conv2d(8, 32, 1), middle, nn.Conv2d(32, 2, 1))
    x = torch.linspace(-1, 1, 2 * 20 * 20).reshape(1, 2, 20, 20)
    whole, banded = (compiled(module, (x,), calibration=[(x,)], io="int8", max_slowdown=limit) for limit in (0, 50))
    assert banded.report.arena.nbytes < 0.75 * whole.report.arena.nbytes
    assert "in bands of" in text.render(banded.report) and "in bands of" not in text.render(whole.report)
    image = np.random.default_rng(0).integers(-128, 128, x.shape, np.int8)
    for a, b in zip(reference.run(whole.graph, [image]), reference.run(banded.graph, [image])):
        np.testing.assert_array_equal(a, b)
    assert encode(banded.graph, banded.target).payload == banded.payload  # the graph says all
    with pytest.raises(UserError, match="max_slowdown is -1: give a percentage, 0 or more"):
        compiled(max_slowdown=-1)


def test_the_program_holds_the_payload():
    result = compiled(io="int8", io_placement="caller")
    assert result.payload in result.pte
    assert encode(result.graph, result.target, PayloadOptions(IoPlacement.CALLER)).payload == result.payload
    assert result.report.arena.io_placement == "caller"


def test_progress_is_told():
    lines = []
    compiled(progress=lines.append)
    assert lines[0] == "exporting the model" and "calibrated with 1 samples; quantizing" in lines


class Interrupted(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 2, 3), nn.Conv2d(2, 2, 3)

    def forward(self, x):
        y = self.first(x)
        return self.second(torch.atan2(y, y))


@pytest.fixture(scope="module")
def two_parts():
    return compiled(Interrupted())


def test_models_of_two_delegate_calls(two_parts):
    result = two_parts
    assert result.encoded is None and result.payload is None and result.report is None
    assert "atan2" in result.obstacle
    assert [report.target for report in result.refused] == ["aten.atan2.default"]
    assert set(result.files()) == {"model.pte", "model.kernels.h", "model.parts.json"}
    assert [len(part.calls) > 0 for part in result.parts] == [True, True]


def test_the_kernel_table_of_two_delegate_calls_has_the_kernels_of_both(two_parts):
    opcodes = {call.opcode.name for part in two_parts.parts for call in decode(part.payload).calls}
    table = two_parts.files()["model.kernels.h"].decode()
    found = re.findall(r"^        [\w:]+::k(\w+),$", table, re.MULTILINE)
    assert sorted(found) == sorted(camel(opcode) for opcode in opcodes)
    assert '#include "model.h"' not in table


def test_what_is_known_of_two_delegate_calls(two_parts):
    document = json.loads(two_parts.files()["model.parts.json"])
    assert document["program_crc32"] == f"{zlib.crc32(two_parts.pte):08x}"
    assert [part["payload_crc32"] for part in document["parts"]] == [
        f"{decode(part.payload).crc32:08x}" for part in two_parts.parts
    ]
    refused = [f for f in document["functions"] if f["severity"] != "ok"]
    assert [(f["function"], f["reason"]) for f in refused] == [("aten.atan2.default", "unsupported-operator")]
    shown = parts_report.render(document)
    assert "return self.second(torch.atan2(y, y))" in shown and refused[0]["message"] in shown
    summary, *reports = re.split(r"^Part \d of 2\n\n", shown, flags=re.MULTILINE)
    assert [report.rstrip() for report in reports] == [text.render(r).rstrip() for r in two_parts.part_reports]
    for part in document["parts"]:
        assert f"{part['arena']['nbytes']:,}" in summary and f"{part['flash_bytes']:,}" in summary


def test_what_a_loop_leaves_outside_is_one_row(two_parts):
    document = two_parts.parts_document
    (refused,) = [f for f in document["functions"] if f["severity"] != "ok"]
    shown = parts_report.render({**document, "functions": [refused] * 20})
    assert shown.count(refused["message"]) == 1 and "aten.atan2.default: unsupported-operator, 20 times\n" in shown


def test_a_model_of_which_nothing_is_delegated():
    class Angles(nn.Module):
        def forward(self, x):
            return torch.atan2(x, x)

    result = compiled(Angles())
    assert result.parts == () and set(result.files()) == {"model.pte"}
    shown = parts_report.render(result.parts_document)
    assert "nothing is delegated" in shown and "aten.atan2.default: unsupported-operator" in shown
    assert "Part" not in shown
    result.require(Budget())
    with pytest.raises(UserError, match="nothing of model is delegated, .*; compile it without a budget"):
        result.require(Budget(flash=1 << 30))
    with pytest.raises(UserError, match="there is no page, because nothing of the model is delegated"):
        result.page()


def test_budgets_of_two_delegate_calls_are_the_largest_arena_and_the_sum_of_payloads(two_parts):
    arena = max(part.plan.arena_bytes for part in two_parts.parts)
    flash = sum(len(part.payload) for part in two_parts.parts)
    instructions = sum(report.prediction.instructions for report in two_parts.part_reports)
    two_parts.require(Budget(arena, flash, instructions))
    with pytest.raises(UserError, match=f"model exceeds .*the arena takes {arena:,} bytes, 1 more.* part [12], call"):
        two_parts.require(Budget(arena=arena - 1))
    with pytest.raises(UserError, match=f"the flash of 2 payloads takes {flash:,} bytes, 1 more.* part [12], call"):
        two_parts.require(Budget(flash=flash - 1))
    with pytest.raises(UserError, match=f"outside of the delegate, takes {instructions:,} predicted.*1 more"):
        two_parts.require(Budget(instructions=instructions - 1))


@pytest.mark.parametrize(
    "changes, pattern",
    [
        ({"target": "cortex-a53"}, "unknown target 'cortex-a53'"),
        ({"io": "int4"}, "unknown io 'int4'"),
        ({"io_placement": "flash"}, "unknown I/O placement 'flash'"),
        ({"skip_passes": ["eliminate"]}, "unknown optional pass 'eliminate'; did you mean 'eliminate-channels'"),
        ({"providers": ["fast"]}, "unknown provider of kernels 'fast'"),
        ({"prefer": "size"}, "unknown preference 'size'"),
        ({"observer": "guess"}, "unknown observer 'guess'"),
        ({"linear_weights": "per-row"}, "unknown linear weights 'per-row'"),
        ({"calibration": None}, "calibration data is missing"),
        ({"calibration": []}, "calibration data is missing"),
        ({"calibration": [(X, X)]}, "sample 0 .* has 2 items"),
        ({"calibration": [(X,), (X[:, :, :5],)]}, "sample 1 .* has shapes"),
        ({"inputs": X}, "got a single tensor"),
        ({"inputs": ()}, "the example inputs do not fit"),
        ({"inputs": ("x",)}, "there are no example inputs"),
        ({"inputs": (X.to(torch.int64),)}, r"long int.*unless input is an index, convert it with \.float"),
        ({"inputs": (X.double(),)}, "float64.*float32"),
    ],
)
def test_bad_arguments(changes, pattern):
    with pytest.raises(UserError, match=pattern):
        compiled(**changes)


def test_models_may_lie_in_packages(tmp_path):
    package = tmp_path / "outer" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "size.py").write_text("FEATURES = 5\n")
    (package / "net.py").write_text(
        "from torch import nn\nfrom .size import FEATURES\ndef model():\n    return nn.Linear(FEATURES, 2)\n"
    )
    loaded = load_model(f"{package}/net.py:model")
    assert (loaded.name, loaded.example_inputs) == ("model", None)
    assert loaded.module.in_features == 5


def test_files_that_cannot_be_imported(tmp_path):
    (tmp_path / "broken_model.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(UserError, match="cannot be imported: ModuleNotFoundError.*nothing_of_this_name"):
        load_model(f"{tmp_path}/broken_model.py:model")


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)

    def forward(self, x):
        y = self.conv(x)
        return y, y


@pytest.mark.parametrize("io", ["float", "int8"])
def test_an_output_that_is_returned_twice(io):
    result = compiled(Twice(), io=io)
    image = X.numpy() if io == "float" else np.zeros(X.shape, np.int8)
    first, second = reference.run(result.graph, [image])
    assert len(result.graph.outputs) == 2 and (first == second).all()


class AddedInOtherShapes(nn.Module):
    """The operands have equal elements in equal order, but not equal shapes in memory."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, padding=1)

    def forward(self, x):
        return x + self.conv(x)


@pytest.mark.parametrize("io", ["float", "int8"])
def test_operands_of_add_that_lie_in_memory_as_other_shapes(io):
    x = torch.linspace(-1, 1, 20).reshape(1, 1, 4, 5)
    module = AddedInOtherShapes()
    result = compiled(module, (x,), calibration=((x,),), io=io)
    if io == "float":
        (got,) = reference.run(result.graph, [x.numpy()])
        steps = result.graph.nodes[-1].inputs[0].quant.scale[0]
        assert np.abs(got - module(x).detach().numpy()).max() <= 3 * steps
    else:
        (got,) = reference.run(result.graph, [np.zeros(x.shape, np.int8)])
        assert got.shape == x.shape


class Upsampling(nn.Module):
    def __init__(self, kind, channels, groups):
        super().__init__()
        layer, norm = {1: (nn.ConvTranspose1d, nn.BatchNorm1d), 2: (nn.ConvTranspose2d, nn.BatchNorm2d)}[kind]
        self.layer, self.norm = layer(channels, channels, 3, groups=groups, bias=False), norm(channels)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return self.norm(self.layer(x))


@pytest.mark.parametrize("kind, groups", [(2, 1), (2, 2), (2, 4), (1, 4)])
def test_batch_norms_behind_transposed_convolutions(kind, groups):
    module = Upsampling(kind, 4, groups)
    x = torch.randn((1, 4, 5, 5)[: kind + 2])
    result = compiled(module, (x,), calibration=((x,),))
    (got,) = result.program.module(check_guards=False)(x)
    wanted = module.eval()(x)
    # Where the norm is no part of the layer, it is a quantized layer of its own.
    torch.testing.assert_close(got, wanted, atol=(wanted.max() - wanted.min()).item() / 100, rtol=0)
