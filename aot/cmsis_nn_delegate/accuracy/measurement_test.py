"""`accuracy`: planted losses are found in the layer that has them, and the device's numbers stand beside PyTorch's."""

import dataclasses
import json
import re
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import cli
from cmsis_nn_delegate.accuracy import measurement, report
from cmsis_nn_delegate.accuracy.report import Part
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.calibration import Sequences
from cmsis_nn_delegate.quantization.comparison import layer_noise
from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

SHAPE = (1, 3, 8, 8)
_BUILT = Path("runtime/libcmsis_nn_delegate.so")
LIBRARY = _BUILT if _BUILT.is_file() else None  # outside of Bazel the one in bazel-bin


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(8, 8, 3), nn.ReLU())
        self.classes = nn.Linear(8, 5)

    def forward(self, x):
        x = self.second(self.first(x))
        return self.classes(torch.max_pool2d(x, 6).flatten(1))


class Angles(nn.Module):
    """Stays outside of the delegate."""

    def forward(self, x):
        return torch.atan2(x, x)


def samples(count=40, scale=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(SHAPE, generator=generator) * scale,) for _ in range(count)]


def compiled(module, calibration, **options):
    found = []
    compile_model(module, calibration[0], "cortex-m4", calibration, observer="minmax", inspect=found.append, **options)
    return found[0]


def measured(module, calibration, data, labels=None, **options):
    return measurement.measure(compiled(module, calibration, **options), data, labels)


class NoHost:
    """For a machine without the delegate's library."""

    def __init__(self, *_):
        raise UserError("no library here")


def by_function(result):
    return {
        layer.function.split(".")[-2] if "." in layer.function else layer.function: layer for layer in result.layers
    }


DATA = samples()


@pytest.fixture(scope="module")
def compilation():
    return compiled(Net(), DATA)


@pytest.fixture(scope="module")
def labels_of_data():
    with torch.no_grad():
        return np.array([int(Net().eval()(*x).argmax()) for x in DATA])


@pytest.fixture(scope="module")
def ordinary(compilation, labels_of_data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurement, "HostProgram", NoHost)
        return measurement.measure(compilation, DATA, labels_of_data)


def test_three_arithmetics(ordinary):
    names = [a.name for a in ordinary.arithmetics]
    exact, quantized, device = ordinary.arithmetics
    assert names == ["float", "quantized", "device"]
    assert exact.top1 == 1.0 and exact.sqnr is None and exact.cosine == pytest.approx(1.0)
    assert quantized.sqnr > 25 and abs(quantized.sqnr - device.sqnr) < 1 and device.top1 > 0.8
    assert ordinary.device_steps <= 1 and ordinary.device_obstacle == ""
    assert (ordinary.samples, ordinary.layer_samples) == (40, 5)


def test_the_runtime_gives_what_the_reference_gives(compilation, ordinary):
    _, _, device = measurement.measure(compilation, DATA, library=LIBRARY).arithmetics
    expected = ordinary.arithmetics[2]
    assert (device.sqnr, device.cosine) == (expected.sqnr, expected.cosine)
    assert (device.how, expected.how) == ("the device's kernels in C++, on this machine", "the integer reference")


def test_costs_add_up(ordinary):
    assert sum(layer.cost for layer in ordinary.layers) == pytest.approx(1.0)
    assert ordinary.predicted_sqnr == pytest.approx(ordinary.arithmetics[1].sqnr, abs=2.5)
    assert [layer.cost for layer in ordinary.ranking] == sorted((x.cost for x in ordinary.ranking), reverse=True)


class InPlace(nn.Module):
    """Reads a tensor, and then writes it."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x):
        x = self.first(x)
        return x.relu_() + self.second(x)


@pytest.mark.parametrize("module", [Net, InPlace])
def test_costs_of_parts_that_run_again_are_those_of_whole_runs(module, monkeypatch):
    c = compiled(module(), DATA[:4])

    def costs():
        return [(x.cost, x.weights_cost) for x in layer_noise.measure(c.prepared, c.converted, c.samples.kept)]

    by_parts = costs()
    assert sum(cost > 0 for cost, _ in by_parts) > 2
    monkeypatch.setattr(layer_noise._Repeatable, "_is_divisible", False)
    assert costs() == by_parts


def test_layers_have_the_users_names(ordinary):
    layers = by_function(ordinary)
    assert list(layers) == [
        "input",
        "relu",
        "max_pool2d",
        "flatten",
        "linear",
    ]  # of the two with this function, the second
    assert layers["relu"].module == "second.1 (ReLU)" and layers["linear"].module == "classes (Linear)"
    assert all(
        layer.source.startswith("measurement_test.py:") for layer in layers.values() if layer.function != "input"
    )
    assert layers["input"].name == "x"


def test_the_device_stands_beside_pytorch(ordinary):
    for layer in ordinary.layers:
        if layer.function not in ("input", "aten.flatten.using_ints"):  # the device renames memory
            assert layer.device_sqnr == pytest.approx(layer.sqnr, abs=0.5), layer
    # It only selects numbers that are rounded already.
    assert by_function(ordinary)["max_pool2d"].cost == 0


def test_data_beyond_the_calibration():
    result = measured(Net(), samples(4, 0.25), samples(4, 1.0, seed=1))
    layer = by_function(result)["input"]
    assert layer.saturation > 0.1
    assert "Add such samples to the calibration data, which has only 4" in layer.proposals[0]
    assert result.arithmetics[1].sqnr < 20


def test_weights_of_different_sizes():
    """A large weight for a channel that is always zero changes no output, but it makes a common scale coarse."""
    module, data = Net(), samples(8)
    with torch.no_grad():
        module.second[0].bias[0] = -100.0
        module.classes.weight[0, 0] = 50.0
    coarse = measured(module, data, data, linear_weights="per-tensor")
    first, fine = coarse.ranking[0], measured(module, data, data)
    assert first.module == "classes (Linear)" and first.cost > 0.9 and first.weights_cost > 0.9
    assert any("--linear-weights per-channel" in text for text in first.proposals)
    assert any("has classes: {skip: true} under module_names" in text for text in first.proposals)
    assert any("`bias_correction: true`" in text for text in first.proposals)
    assert not any("`equalization: relu`" in text for layer in fine.layers for text in layer.proposals)
    assert fine.arithmetics[1].sqnr > coarse.arithmetics[1].sqnr + 5
    assert not any("--linear-weights" in text for layer in fine.layers for text in layer.proposals)


def test_channels_of_different_sizes():
    module, data = Net(), samples(8)
    with torch.no_grad():
        module.second[0].weight[0] *= 64
    result = measured(module, data, data)
    layer = next(layer for layer in result.layers if layer.module == "second.1 (ReLU)")
    assert any("`equalization: relu`" in text for text in layer.proposals)


def test_relu_without_a_bound():
    module = Net()
    data = samples(12)
    data[0][0][0, :, 0, 0] = 3000.0  # an outlier
    result = measured(module, data, data[1:])
    first = next(layer for layer in result.layers if layer.module == "first.2 (ReLU)")
    assert first.levels < 0.25 and any("nn.ReLU6 in place of nn.ReLU" in text for text in first.proposals)
    ranges = by_function(result)["input"].proposals
    assert any("Leave samples with outliers out of the calibration data" in text for text in ranges)


def test_what_formats_of_layers_would_gain_is_what_they_gain():
    """In a model with numbers that go so far that the steps of int8 are coarse."""
    torch.manual_seed(0)
    layers = [("first", nn.Conv2d(3, 8, 3)), ("second", nn.Conv2d(8, 8, 3)), ("classes", nn.Conv2d(8, 4, 4))]
    module, data = nn.Sequential(OrderedDict(layers)), [(x.pow(3),) for (x,) in samples(8)]

    def found(*wide):
        quantizer = CmsisNnQuantizer(preset="minmax")
        for name in wide:
            quantizer.set_module_name(name, QuantizationConfig(format="int16"))
        inspected = []
        compile_model(module, data[0], "cortex-m4", data, quantizer=quantizer, inspect=inspected.append)
        return measurement.measure(inspected[0], data)

    names = [name for name, _ in layers]
    before, after = found(), found(*names)
    texts = {layer.module.partition(" ")[0]: " ".join(layer.proposals) for layer in before.layers}
    gain = after.arithmetics[1].sqnr - before.arithmetics[1].sqnr
    match = re.search(r"in int16, .* \(first, classes\), outputs would have ([\d.]+) dB more, and", texts["second"])
    assert gain > 10 and float(match[1]) == pytest.approx(gain, abs=2.0)
    assert re.search(r"in int16, together with what reads it \(first\), outputs would have 2.\d dB more", texts[""])
    assert not any("outputs would have" in text for layer in after.layers for text in layer.proposals)


def test_a_model_in_parts_runs_on_the_host_or_says_why_not(monkeypatch):
    module, data = nn.Sequential(nn.Conv2d(3, 4, 3), Angles(), nn.Conv2d(4, 2, 1)), samples(3)
    compilation = compiled(module, data)
    result = measurement.measure(compilation, data, library=LIBRARY)
    assert result.device_steps <= 1 and "C++" in result.arithmetics[2].how
    monkeypatch.setattr(measurement, "HostProgram", NoHost)
    result = measurement.measure(compilation, data)
    assert [a.name for a in result.arithmetics] == ["float", "quantized"] and result.device_steps is None
    assert "not delegated as a whole" in result.device_obstacle and "no library here" in result.device_obstacle
    assert result.device_obstacle in report.render(result)
    assert all(layer.device_sqnr is None for layer in result.layers) and result.layers


@pytest.mark.parametrize(
    "labels, message",
    [
        (np.zeros(3, np.int64), "the data needs 2 integers"),
        (np.zeros(2), "labels are float64"),
        (np.array([0, 5]), "the model has 5 classes"),
    ],
)
def test_labels_that_do_not_fit(compilation, labels, message):
    with pytest.raises(UserError, match=message):
        measurement.measure(compilation, samples(2), labels)


def test_empty_data(compilation):
    with pytest.raises(UserError, match="contains no samples"):
        measurement.measure(compilation, [])


@pytest.mark.parametrize("count", [1, 3, 7])
def test_parts_add_up(compilation, ordinary, labels_of_data, count):
    parts = [
        measurement.measure(compilation, DATA, labels_of_data, part=Part(number, count), library=LIBRARY)
        for number in range(1, count + 1)
    ]
    assert sum(part.samples for part in parts) == 40 and not any(part.layers for part in parts)
    read = [report.from_json(part.to_json(), "a part") for part in parts]
    assert read == parts
    found = report.merged(read[::-1])
    assert (found.part, found.samples, found.device_steps) == ("", 40, ordinary.device_steps)
    for summed, whole in zip(found.arithmetics, ordinary.arithmetics, strict=True):
        assert (summed.name, summed.top1, summed.rows, summed.right) == (whole.name, whole.top1, 40, whole.right)
        assert summed.sqnr == pytest.approx(whole.sqnr) and summed.cosine == pytest.approx(whole.cosine)
    text = report.render(found)
    assert "40 samples\n" in text and "Layers" not in text


def test_parts_that_do_not_belong_together(compilation, ordinary):
    one, two = (measurement.measure(compilation, DATA, part=Part(number, 2), library=LIBRARY) for number in (1, 2))
    for parts, message in (
        ([one], "2/2 is missing"),
        ([dataclasses.replace(one, part="1/1000000000")], "all 1,000,000,000 parts .*: 2/1000000000 is missing"),
        ([one, two, two], "each once: given are '1/2', '2/2', '2/2'"),
        ([ordinary, ordinary], "all 1 parts of the data are needed, each once: given are '', ''"),
        ([one, dataclasses.replace(two, model="other")], "different models: model for .*, and other for"),
        (
            [one, dataclasses.replace(two, arithmetics=two.arithmetics[:2], device_obstacle="none")],
            "for some parts only",
        ),
    ):
        with pytest.raises(UserError, match=message):
            report.merged(parts)
    assert report.merged([ordinary]) == ordinary


def test_json_of_something_else():
    for text in ("", "[]", "{}", '{"schema": 1}', '{"schema": 2}'):
        with pytest.raises(UserError, match="^x.json.* write one with `cmsisnn accuracy MODEL"):
            report.from_json(text, "x.json")


def test_a_part_without_samples(compilation):
    with pytest.raises(UserError, match="no samples for part 41/41"):
        measurement.measure(compilation, DATA, part=Part(41, 41))


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/2/3", "a/b", "-1/2", "1/0"])
def test_what_is_no_part(text):
    with pytest.raises(ValueError, match="is no part of the data: give I/N"):
        Part.of(text)


class Counting(nn.Module):
    """Keeps a state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(1, 4))
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        result = self.linear(x) + self.last
        self.last.copy_(torch.clamp(result, -1, 1))
        return result


def test_samples_that_follow_one_another_have_no_parts():
    data = [(torch.randn(1, 4),) for _ in range(8)]
    c = compiled(Counting().eval(), data)
    assert measurement.measure(c, data).samples == 8
    with pytest.raises(UserError, match="keeps a state from one sample to the next"):
        measurement.measure(c, data, part=Part(1, 2))


class Gru(nn.Module):
    """Keeps its state in the delegate."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.linear = nn.GRUCell(4, 8), nn.Linear(8, 3)

    def forward(self, x, h):
        h = self.cell(x, h)
        return self.linear(h), h


def sequences(*lengths):
    generator = torch.Generator().manual_seed(0)
    return Sequences([[(torch.randn(1, 4, generator=generator),) for _ in range(length)] for length in lengths])


@pytest.mark.parametrize("on_host", [False, True])
def test_drift_over_the_steps_of_sequences(on_host, monkeypatch):
    if not on_host:
        monkeypatch.setattr(measurement, "HostProgram", NoHost)
    data, found = sequences(20, 20), []
    compile_model(
        Gru(), (torch.zeros(1, 4), torch.zeros(1, 8)), "cortex-m4", data, state={"h": 1}, inspect=found.append
    )
    c = found[0]
    result = measurement.measure(c, sequences(5, 9, 1), library=LIBRARY)
    exact, quantized, device = result.arithmetics
    assert result.samples == 15 and exact.drift == (None, None, None) and device.sqnr > 20
    # Of the first steps, which are those of sequences of one step each.
    firsts = Sequences([sequence[:1] for sequence in sequences(5, 9, 1).sequences])
    alone = measurement.measure(c, firsts, library=LIBRARY)
    for one, other in zip(result.arithmetics, alone.arithmetics):
        assert one.drift[0] == other.drift[0] == other.drift[1] == other.sqnr
    lasts = [sequence[-1] for sequence in sequences(5, 9, 1).sequences]
    assert quantized.drift[2] != measurement.measure(c, lasts, library=LIBRARY).arithmetics[1].sqnr  # from other states
    shown = report.render(result)
    assert all(step in shown for step in report.STEPS) and f"{device.drift[1]:.1f} dB" in shown
    assert report.from_json(result.to_json(), "it") == result
    assert measurement.measure(c, sequences(5, 9, 1), library=LIBRARY) == result  # the states are as they were


def test_no_drift_without_a_state(ordinary):
    assert all(a.drift == () for a in ordinary.arithmetics)
    assert not any(step in report.render(ordinary) for step in report.STEPS)


def test_steps_of_sequences():
    assert measurement._steps_of_sequences([0], 1) == [[0], [0], [0]]
    assert measurement._steps_of_sequences([0, 5, 14], 15) == [[0, 5, 14], [2, 9, 14], [4, 13, 14]]


def test_a_model_that_is_quantized_already():
    found = compiled(Net().eval(), DATA)
    again = []
    compile_model(found.quantized, DATA[0], "cortex-m4", inspect=again.append)
    result = measurement.measure(again[0], DATA)
    assert [a.name for a in result.arithmetics] == ["quantized", "device"] and not result.layers
    assert result.device_steps <= 1 and result.device.sqnr > 30
    assert "quantized" in report.render(result)


def test_limits(ordinary):
    device = ordinary.device
    kept = {"min_top1": device.top1, "min_sqnr": device.sqnr, "max_steps": ordinary.device_steps}
    assert report.shortfalls(ordinary, **kept) == report.shortfalls(ordinary) == []
    half_right = dataclasses.replace(device, top1=0.5, right=20)
    worse = dataclasses.replace(ordinary, arithmetics=(*ordinary.arithmetics[:-1], half_right), device_steps=3)
    top1, sqnr, steps = report.shortfalls(worse, 0.6, device.sqnr + 1, 2)
    assert top1.startswith("20 of 40 labels are right") and "dB, less than" in sqnr and steps.endswith("more than 2")
    nan = float("nan")
    for limits in ({"min_top1": nan}, {"min_top1": 1.01}, {"min_top1": -0.1}, {"min_sqnr": nan}, {"max_steps": -1}):
        with pytest.raises(UserError, match=f"{next(iter(limits.values())):g}"):
            report.shortfalls(ordinary, **limits)
    without = dataclasses.replace(ordinary, arithmetics=ordinary.arithmetics[:2], device_obstacle="why")
    with pytest.raises(UserError, match="nothing computed its outputs: why"):
        report.shortfalls(without, max_steps=1)
    unlabelled = dataclasses.replace(device, top1=None, rows=0, right=0)
    with pytest.raises(UserError, match="give --labels"):
        report.shortfalls(dataclasses.replace(ordinary, arithmetics=(unlabelled,)), min_top1=0.5)


def test_command(tmp_path, capsys):
    (tmp_path / "model.py").write_text(
        "import torch\nfrom torch import nn\n\ndef small():\n    torch.manual_seed(0)\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(12, 3)), (torch.zeros(1, 3, 2, 2),)\n"
    )
    generator = np.random.default_rng(0)
    x = generator.normal(size=(20, 3, 2, 2)).astype(np.float32)
    np.savez(tmp_path / "data.npz", input0=x, classes=generator.integers(0, 3, 20))
    command = ["accuracy", f"{tmp_path}/model.py:small", "--data", f"{tmp_path}/data.npz", "--observer", "minmax"]
    assert cli.main([*command, "--labels", "classes", "--json"]) == 0
    out, progress = capsys.readouterr()
    document = json.loads(out)
    assert "calibrating with" in progress
    assert (document["model"], document["target"], document["samples"]) == ("small", "cortex-m55", 20)
    assert all(0 <= a["top1"] <= 1 for a in document["arithmetics"])
    (tmp_path / "1.json").write_text(cli_output(capsys, [*command, "--json", "--part", "1/2"]))
    with zipfile.ZipFile(tmp_path / "2.zip", "w") as archive:
        archive.writestr("part.json", cli_output(capsys, [*command, "--json", "--part", "2/2"]))
    both = ["accuracy-sum", f"{tmp_path}/1.json", f"{tmp_path}/2.zip"]
    assert json.loads(cli_output(capsys, [*both, "--json"]))["samples"] == 20
    assert cli.main([*both, "--min-sqnr", "200"]) == 1
    out, err = capsys.readouterr()
    assert "20 samples" in out and "small is less accurate than its limits: the device's signal to noise" in err
    assert cli.main(both[:2]) == 2 and "2/2 is missing" in capsys.readouterr().err
    assert cli.main(["accuracy-sum", f"{tmp_path}/3.json"]) == 2 and "cannot be read" in capsys.readouterr().err
    assert cli.main([*command, "--image", "x.elf"]) == 2 and "--image is for --on sim" in capsys.readouterr().err
    assert cli.main([*command, "--part", "3/2"]) == 2 and "'3/2' is no part" in capsys.readouterr().err
    assert cli.main([*command, "--labels"]) == 2
    assert "has no array 'labels'" in capsys.readouterr().err


def cli_output(capsys, command):
    assert cli.main(command) == 0
    return capsys.readouterr().out


def test_json(ordinary):
    document = json.loads(ordinary.to_json())
    assert document["schema"] == report.SCHEMA
    assert document["arithmetics"][0]["sqnr"] is None  # no noise
    assert {a["name"] for a in document["arithmetics"]} == {"float", "quantized", "device"}
    assert set(document["ranking"]) <= {layer["name"] for layer in document["layers"]}


def test_text(ordinary):
    text = report.render(ordinary)
    assert text.startswith("model on cortex-m4, 40 samples\n")
    assert "top-1" in text and "classes (Linear)" in text and "100.00 %" in text
    assert f"in PyTorch by at most {ordinary.device_steps} step" in text
