"""Presets, overrides and the file that has them."""

import pytest

from cmsis_nn_delegate.quantization import configuration_file
from cmsis_nn_delegate.quantization.configuration import ALIASES, PRESETS, SKIP, Configuration, QuantizationConfig
from cmsis_nn_delegate.support.errors import UserError

FILE = """
preset: minmax
everywhere: {activations: symmetric}
operator_types:
  softmax: {skip: true}
module_types:
  Linear: {weights: per-tensor}
module_names:
  features.0: {observer: histogram, skip: false}
  2: {skip: true}
ranges:
  image: [0, 1.5]
equalization: relu
bias_correction: true
"""


def test_a_file_has_everything():
    parsed = configuration_file.parse(FILE)
    assert parsed == Configuration(
        "minmax",
        None,
        QuantizationConfig(activations="symmetric"),
        {"softmax": SKIP},
        {"Linear": QuantizationConfig(weights="per-tensor")},
        {"features.0": QuantizationConfig(observer="histogram", skip=False), "2": SKIP},
        {"image": (0.0, 1.5)},
        "relu",
        True,
    )
    assert str(parsed) == (
        "minmax; everywhere: activations symmetric; operator_types: softmax: float; module_types: Linear: weights "
        "per-tensor; module_names: features.0: skip False, observer histogram; module_names: 2: float; "
        "ranges: image: [0, 1.5]; equalization relu; bias correction"
    )
    assert configuration_file.parse("") == Configuration()


MISTAKES = {
    "preset: minmx": "unknown preset 'minmx'; did you mean 'minmax'?",
    "preset: mixed": "there is no preset 'mixed': .* call choose_formats .* give compile --min-sqnr",
    "preset: 3": "unknown preset 3; choose one of default, minmax, fast-linear, symmetric, w4, int16, int8$",
    "preset: int9": "unknown preset 'int9'; did you mean 'int8' or 'int16'?",
    "module_name: {}": "unknown part 'module_name'; did you mean 'module_names'?",
    "everywhere: {observr: minmax}": "everywhere: unknown setting 'observr'; did you mean 'observer'?",
    "module_names: {a: {observer: max}}": r"module_names: a: unknown observer 'max'; did you mean 'minmax'\?",
    "module_names: {a: {skip: please}}": "module_names: a: skip is 'please'; choose true or false",
    "module_names: {a: {group: 1}}": "module_names: a: group is 1; choose 2 or more",
    "module_names: {a: {group: all}}": "module_names: a: group is 'all'; choose 2 or more",
    "module_names: {a: float}": "module_names: a: it is 'float'; write NAME: VALUE",
    "module_names: [a]": r"module_names is \['a'\]; write NAME: VALUE",
    "equalization: gelu": "unknown equalization 'gelu'; did you mean",
    "equalization: true": "unknown equalization True; choose one of relu, relu6",
    "bias_correction: 1": "bias_correction is 1; choose true or false",
    "just text": "the file is 'just text'; write NAME: VALUE",
    "preset: minmax\npreset: default": "line 2: preset is given twice",
    "module_names:\n  a: {skip: true}\n  a: {skip: false}": "line 3: a is given twice",
    "preset: [": "line 1: ",
    "ranges: {x: 3}": "ranges: x: 3 is no range",
    "ranges: {x: [1]}": r"ranges: x: \[1\] is no range",
    "ranges: {x: [0, true]}": "is no range; write",
    "ranges: {x: [1, 2]}": r"range of 'x': \[1, 2\] is impossible: a range has two finite numbers and contains 0",
    "ranges: {x: [0, .inf]}": "is impossible",
    "ranges: {x: [0, 0]}": "is impossible",
    "[" * 600 + "]" * 600: "nested too deeply",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_named(text, tmp_path):
    path = tmp_path / "quantizer.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=f"^{path}: .*{MISTAKES[text]}"):
        configuration_file.load(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        configuration_file.load(tmp_path / "missing.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="it is not text"):
        configuration_file.load(tmp_path / "binary.yaml")


def test_special_settings_go_before_general_ones():
    """As the module docstring has it; the last of the overrides goes first."""
    configuration = Configuration(
        operator_types={"aten.linear": SKIP, "linear": SKIP, "relu": SKIP},
        module_types={"Block": SKIP, "torch.nn.Linear": SKIP, "Conv2d": SKIP},
        module_names={"features.0": SKIP, "features": SKIP, "feat": SKIP},
    )
    stack = [("", "Net"), ("features", "my.Block"), ("features.0", "torch.nn.modules.linear.Linear")]
    assert list(configuration.overrides("aten.linear.default", stack)) == [
        "operator_types: aten.linear",
        "operator_types: linear",
        "module_types: Block",
        "module_types: torch.nn.Linear",
        "module_names: features",
        "module_names: features.0",
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_decide_everything(preset):
    for linear in (False, True):
        assert None not in vars(Configuration(preset).general(linear)).values()


def test_int8_is_another_name_of_the_default():
    """Reports and files that the compiler writes have one name for it."""
    configuration = configuration_file.parse("preset: int8\neverywhere: {observer: minmax}")
    assert configuration == Configuration("default", everywhere=QuantizationConfig(observer="minmax"))
    assert str(configuration) == "default; everywhere: observer minmax"
    assert "preset: default" in configuration_file.dump(configuration)
    assert configuration.general().format == "int8"
    assert set(ALIASES.values()) <= set(PRESETS) and not set(ALIASES) & set(PRESETS)


@pytest.mark.parametrize("preset", ["default", "w4"])
@pytest.mark.parametrize("correction", [None, False, True])
def test_a_file_says_whether_biases_are_corrected(preset, correction):
    """Also that they are not, where the preset corrects them."""
    configuration = Configuration(preset, bias_correction=correction)
    read = configuration_file.parse(configuration_file.dump(configuration))
    assert read == configuration and read.corrects_biases == configuration.corrects_biases


def test_settings_that_an_override_leaves_out_are_those_of_the_preset():
    configuration = Configuration("fast-linear", everywhere=QuantizationConfig(observer="minmax"))
    assert configuration.general() == QuantizationConfig(False, "per-channel", "affine", "minmax", "int8", 0)
    assert configuration.general(linear=True).weights == "per-tensor"
    assert Configuration("fast-linear", "per-channel").general(linear=True).weights == "per-channel"


@pytest.mark.parametrize("kind", ["{a: *x%d, b: *x%d}", "[*x%d, *x%d]"])
def test_aliases_of_aliases_take_no_time(kind):
    """Each line stands for twice as much as the line before."""
    begin = "{a: 1}" if kind[0] == "{" else "[1]"
    lines = [f"  n0: &x0 {begin}", *(f"  n{i}: &x{i} {kind % (i - 1, i - 1)}" for i in range(1, 60))]
    with pytest.raises(UserError) as error:
        configuration_file.parse("\n".join(["module_names:", *lines, "ranges:", "  y: *x59"]))
    assert len(str(error.value)) < 500
