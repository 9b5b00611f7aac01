"""Calibration data that gives no sensible scales: what is refused, and what is told."""

import math
import re

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import cli
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.comparison import differing_part
from cmsis_nn_delegate.quantization.configuration import OBSERVERS
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Function

make_torch_faster()

SHAPE = (1, 2, 4, 4)


def samples(scale=1.0):
    generator = torch.Generator().manual_seed(0)
    return [(torch.randn(SHAPE, generator=generator) * scale,) for _ in range(3)]


class Layers(nn.Module):
    def __init__(self, function=lambda m, y: y):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.first, self.second = nn.Conv2d(2, 3, 1), nn.Conv2d(3, 2, 1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        return self.second(self.function(self, self.first(x)))


def warnings(module, data, observer="minmax"):
    """(the warnings, why the data looks useless)"""
    lines = []
    compiled = compile_model(module, data[0], "cortex-m4", data, observer=observer, progress=lines.append)
    found = compiled.warnings
    assert [f"warning: {line}" for line in found] == [line for line in lines if line.startswith("warning")]
    return found, compiled.calibration_doubt


@pytest.mark.parametrize("observer", OBSERVERS)
def test_ordinary_data_has_no_warnings(observer):
    assert warnings(Layers(lambda m, y: m.norm(y).relu()), samples(), observer) == ((), "")


def test_an_input_of_numbers_that_only_hide_has_a_warning():
    class Masked(nn.Module):
        def forward(self, scores, bias):
            return (scores + bias).softmax(-1)

    hidden = torch.tensor([0.0, -1.5, -3.0, -1e9]).repeat(1, 4, 1)
    data = [(x.flatten(2)[:, :1].reshape(1, 4, 4), hidden) for (x,) in samples()]
    (found, *_), _ = warnings(Masked(), data)
    assert re.search(r"^bias goes from -1e\+09 to 0 .* coarse; give the model a mask as booleans", found)


ODD = {
    "zero": (0.0, r"^x is zero in all"),
    "tiny": (1e-30, r"^x goes from -\S+e-30 to \S+e-30 .* becomes zero"),
    "denormal": (1e-42, r"^x goes from -\S+ to \S+ .* becomes zero"),
    "huge": (1e15, r"^x goes from -\S+e\+15 to \S+e\+15 .* coarse"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_ranges_are_told(name):
    scale, pattern = ODD[name]
    (first, *_), doubt = warnings(Layers(), samples(scale))
    assert re.search(pattern, first)
    # A huge range is one all the same.
    assert (first in doubt and doubt.startswith("the calibration data looks useless: ")) == (name != "huge")


def test_constants_are_told():
    (first, *_), doubt = warnings(Layers(), [(torch.full(SHAPE, 2.5),)] * 2)
    assert first == "x is 2.5 everywhere in the calibration data: it has no range of its own"
    assert first in doubt


def test_a_layer_that_is_never_active_is_named():
    module = Layers(lambda m, y: torch.relu(y))
    torch.nn.init.constant_(module.first.bias, -100.0)
    (line,), doubt = warnings(module, samples())
    assert line.startswith("relu is zero in all of the calibration data")
    assert doubt == ""  # the other tensors have ranges


def test_most_layers_without_a_range_make_the_data_useless():
    module = Layers(lambda m, y: torch.relu(torch.relu(y) * 2) + m.norm.weight.reshape(3, 1, 1))
    torch.nn.init.constant_(module.first.bias, -100.0)
    found, doubt = warnings(module, samples())
    assert len(found) == 3  # both functions, and the product between them
    assert doubt == f"the calibration data looks useless: 3 of 5 tensors have no range; {found[0]}"


def test_noise_as_large_as_an_output_is_told():
    module = Layers(lambda m, y: (y + 300.0) - 300.0)
    found, doubt = warnings(module, samples())
    assert found == ()
    assert re.search(r"on the calibration data itself, noise is -?\d+\.\d dB .* the model, and not the data", doubt)
    data = samples()
    assert compile_model(module, data[0], "cortex-m4", data, check=False).calibration_doubt == ""  # nobody looked


FUNCTIONS = {
    "log": (lambda m, y: torch.log(y), r"log computes NaN at .* on sample 0 of the calibration data"),
    "division": (lambda m, y: y / (y - y).abs(), r"div computes an infinity"),
    "overflow": (lambda m, y: y * 3e38 * 10.0, r"mul(_1)? computes an infinity"),
    "module": (lambda m, y: m.norm(y * 3e38 * 10.0), r"mul(_1)? computes an infinity"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("observer", OBSERVERS)
def test_the_layer_where_numbers_end_is_named(name, observer):
    function, pattern = FUNCTIONS[name]
    data = samples()
    with pytest.raises(UserError, match=pattern):
        compile_model(Layers(function), data[0], "cortex-m4", data, observer=observer)


def guarded(branch, other=lambda t: t * 0.1):
    return Function(lambda x: torch.cond(x.abs().amin() > 0.5, branch, other, (x,)))


def test_scales_of_branches_fit_what_is_chosen():
    """torch.cond computes both: a step of 1 / x would be as coarse as its largest value asks for."""
    data = [(torch.tensor([[x, 1.2]]),) for x in (-2.0, 0.02, 0.7, -0.6, 0.3)]
    twice = guarded(lambda t: torch.cond(t.sum() > 0, lambda u: (1 / u - 0.5) * 2, lambda u: -u, (t,)))
    for module, observer in ((guarded(lambda t: 1 / t), "histogram"), (twice, "minmax")):
        compiled = compile_model(module, data[0], "cortex-m4", data, observer=observer)
        assert compiled.warnings == () and compiled.payload is not None
        program = compiled.program.module(check_guards=False)
        for (sample,) in data:
            (found,) = program(sample)
            assert (found - module(sample)).abs().max() < 0.04  # of 1 / 0.02 a step is 0.2
    with pytest.raises(UserError, match=r"log computes NaN at .* \(both branches of torch.cond are computed"):
        compile_model(guarded(torch.log), data[0], "cortex-m4", data)


def test_branches_that_are_never_chosen_are_told():
    data = [(torch.tensor([[x, 1.2]]),) for x in (0.02, 0.1, -0.4)]
    compiled = compile_model(guarded(lambda t: 1 / (t + 1)), data[0], "cortex-m4", data)
    (line,) = compiled.warnings
    assert re.search(r"^\w+ at \S+\.py:\d+ is in a branch of torch.cond that is never chosen", line)
    assert any((tensor.high or 0.0) > 1.6 for tensor in compiled.report.tensors)  # 1 / 0.6, all the same


def test_a_later_sample_is_named():
    data = [(torch.ones(SHAPE),), (torch.zeros(SHAPE),)]

    class Inverse(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 2, 1)

        def forward(self, x):
            return self.conv(1 / x)

    with pytest.raises(UserError, match="reciprocal.* computes an infinity at .* on sample 1 of"):
        compile_model(Inverse(), data[0], "cortex-m4", data)


def test_negative_variances_are_named():
    module = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3))
    module[1].running_var[1] = -1.0
    data = samples()
    with pytest.raises(UserError, match=r"0\.weight of the model holds NaN.*check running_var"):
        compile_model(module, data[0], "cortex-m4", data)


class Masked(nn.Module):
    def __init__(self, normalize):
        super().__init__()
        self.scores, self.values, self.normalize = nn.Linear(4, 4), nn.Linear(4, 4), normalize
        self.register_buffer("mask", torch.full((4, 4), -math.inf).triu(1))

    def forward(self, x):
        return self.values(self.normalize(self.scores(x) + self.mask) @ x)


def test_what_is_zero_in_any_data_is_no_doubt():
    class Recurrent(nn.Module):
        """A step of a gated unit, with an initial state of zeros."""

        def __init__(self):
            super().__init__()
            self.gate, self.new = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            state, gate = torch.zeros(1, 2, 3), self.gate(x).sigmoid()
            return gate * state + (1 - gate) * self.new(x).tanh()

    data = [(torch.randn(1, 2, 3),) for _ in range(3)]
    assert warnings(Recurrent(), data) == ((), "")


def test_the_difference_of_an_output_of_one_number_is_of_its_range_in_all_samples():
    lines = []
    data = [(torch.full((1, 2), x),) for x in (1e-4, -0.5, 1.0)]
    torch.manual_seed(0)
    compile_model(nn.Linear(2, 1, bias=False), data[0], "cortex-m4", data, observer="minmax", progress=lines.append)
    (line,) = (line for line in lines if "of their range" in line)
    assert float(re.search(r"at most (\S+) %", line)[1]) < 3


def test_parts_are_shown_without_exponents():
    assert list(map(differing_part, (0.0, 0.00123, 0.0456, 0.456, 2.34))) == ["0 %", "0.12 %", "4.6 %", "46 %", "234 %"]


def test_explain_concludes_nothing_from_example_inputs(tmp_path, capsys):
    code = "import torch\ndef model():\n    return torch.nn.Conv2d(2, 3, 1), (torch.zeros(1, 2, 4, 4),)\n"
    (tmp_path / "model.py").write_text(code)
    assert cli.main(["explain", f"{tmp_path}/model.py:model", "--target", "cortex-m4"]) == 0
    out = capsys.readouterr().out
    assert "calibration data" not in out and "warning" not in out.lower() and "range" not in out, out
    assert "calibrated with the example inputs" in out


def test_masks_may_be_infinite_where_nothing_is_quantized():
    x = torch.randn(2, 4, 4)
    assert compile_model(Masked(lambda y: torch.where(y.isinf(), -9.0, y)), (x,), "cortex-m4", [(x,)]).pte


def test_masks_that_are_quantized_are_refused_with_advice():
    x = torch.randn(2, 4, 4)
    with pytest.raises(UserError, match="add computes an infinity .*mask with a finite number"):
        compile_model(Masked(torch.sigmoid), (x,), "cortex-m4", [(x,)])


def test_the_command_line_tells_warnings(tmp_path, capsys):
    """And ends with one about the data as a whole."""
    (tmp_path / "model.py").write_text("from torch import nn\ndef model():\n    return nn.Conv2d(2, 3, 1)\n")
    np.savez(tmp_path / "data.npz", x=np.zeros(SHAPE, np.float32))
    arguments = ["--target", "cortex-m4", "--calibration", f"{tmp_path}/data.npz", "-o", f"{tmp_path}/out"]
    assert cli.main(["compile", f"{tmp_path}/model.py:model", *arguments]) == 0
    out = capsys.readouterr().out
    assert "- warning: input_1 is zero in all of the calibration data" in out
    assert out.splitlines()[-1].startswith("Warning: the calibration data looks useless: ")
