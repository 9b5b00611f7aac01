"""`choose_formats`: the limits are kept, nothing cheaper keeps them, and its file gives the same bytes."""

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate.accuracy import measurement
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.pipeline import LeftOutside
from cmsis_nn_delegate.precision.configurations import with_formats
from cmsis_nn_delegate.precision.formats import FORMATS
from cmsis_nn_delegate.quantization import configuration_file
from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.search import choose, subject
from cmsis_nn_delegate.search.choose import choose_formats
from cmsis_nn_delegate.search.limits import Figures, Limits
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

SHAPE = (1, 3, 8, 8)
UNITS = ("first", "second", "classes")


class Net(nn.Module):
    """Its layers have ranges so different that each costs another part of the accuracy."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3)
        self.classes = nn.Linear(8 * 6 * 6, 5)

    def forward(self, x):
        return self.classes(torch.relu(self.second(torch.relu(self.first(x)))).flatten(1))


def samples(count=12, seed=0):
    generator = torch.Generator().manual_seed(seed)
    # A few numbers far outside make the steps of all others coarse.
    return [(torch.randn(SHAPE, generator=generator).pow(3),) for _ in range(count)]


DATA = samples()


# Tests of what corrected biases do say so; for the others they would take more time.
MINMAX = CmsisNnQuantizer(preset="minmax", bias_correction=False)


def chosen(**options):
    return choose_formats(Net(), DATA[0], "cortex-m4", DATA, quantizer=MINMAX, **options)


def measured(configuration, **options):
    """(the compiled model, the signal to noise of the device)"""
    found = []
    compiled = compile_model(
        Net(), DATA[0], "cortex-m4", DATA, quantizer=CmsisNnQuantizer.of(configuration), inspect=found.append, **options
    )
    c = found[0]
    with torch.no_grad():
        everything, starts = measurement.samples_of(DATA, c)
        wanted = measurement.run_float(c, everything, starts)
        outputs, _, how = measurement.device_outputs(c, everything, starts)
    return compiled, measurement.arithmetic_of("device", how, wanted, outputs, None, []).sqnr


@pytest.fixture(scope="module")
def all_assignments():
    """(instructions, SQNR) of each assignment, the cheapest first."""
    found = []
    for formats in itertools.product(FORMATS[:2], repeat=len(UNITS)):
        compiled, sqnr = measured(with_formats(Configuration("minmax"), FORMATS[0], dict(zip(UNITS, formats))))
        found.append((compiled.report.prediction.instructions, sqnr))
    return sorted(found)


def limit_formats(patch):
    for module in (choose, subject):
        patch.setattr(module, "FORMATS", FORMATS[:2])


@pytest.fixture
def int8_and_int16(monkeypatch):
    """All that a search tries, which then takes half the time."""
    limit_formats(monkeypatch)


@pytest.fixture(scope="module")
def mixed():
    """A choice in which layers differ: the last layer in int8 saves RAM, which int16 throughout does not."""
    with pytest.MonkeyPatch.context() as patch:
        limit_formats(patch)
        result = chosen(min_sqnr=38.0, prefer="ram")
    assert len(set(result.formats.values())) == 2
    return result


def check_cheapest(result, all_assignments):
    limit = result.limits.min_sqnr
    assert result.outcome.figures.sqnr >= limit
    best = next(instructions for instructions, sqnr in all_assignments if sqnr >= limit)
    assert result.compiled.report.prediction.instructions == result.outcome.price.instructions == best


def test_the_cheapest_of_all_that_keep_the_limit(all_assignments):
    check_cheapest(chosen(min_sqnr=38.0), all_assignments)
    check_cheapest(chosen(min_sqnr=max(sqnr for _, sqnr in all_assignments) - 1.5), all_assignments)


def test_its_file_gives_the_same_payload(mixed):
    configuration = configuration_file.parse(mixed.quantizer_file)
    assert configuration == mixed.configuration
    compiled, sqnr = measured(configuration, prefer="ram")
    assert compiled.payload == mixed.compiled.payload and sqnr == mixed.outcome.figures.sqnr
    assert compiled.report.quantizer == mixed.compiled.report.quantizer != "minmax"


def test_it_is_repeatable(mixed, int8_and_int16):
    lines = []
    again = chosen(min_sqnr=mixed.limits.min_sqnr, prefer="ram", progress=lines.append)
    assert again.compiled.payload == mixed.compiled.payload and again.formats == mixed.formats
    assert any(" of 3 modules: " in line and "dB" in line for line in lines)


def test_what_is_out_of_reach_says_how_close_it_came(all_assignments):
    most = max(sqnr for _, sqnr in all_assignments)
    with pytest.raises(UserError, match=r"no formats keep at least 200 dB: the closest found is") as error:
        chosen(min_sqnr=200.0)
    near = float(str(error.value).split("with ")[1].split(" dB")[0])
    assert near > most and "float32 throughout" in str(error.value)
    # More format: float32 would not help.
    assert f"ask for {int(near)} dB or less" in str(error.value) and "format:" not in str(error.value)


def test_least_ram_is_less_than_that_of_the_fastest(mixed, int8_and_int16):
    fastest = chosen(min_sqnr=mixed.limits.min_sqnr)
    assert min(mixed.outcome.figures.sqnr, fastest.outcome.figures.sqnr) >= mixed.limits.min_sqnr
    assert mixed.outcome.price.arena == mixed.compiled.report.arena.nbytes < fastest.outcome.price.arena
    assert fastest.outcome.price.instructions < mixed.outcome.price.instructions


def test_formats_that_the_quantizer_gives_stay(int8_and_int16):
    pinned = CmsisNnQuantizer(preset="minmax", bias_correction=False).set_module_name("second", FORMATS[0].config)
    result = choose_formats(Net(), DATA[0], "cortex-m4", DATA, quantizer=pinned, min_sqnr=5.0)
    assert "second" not in result.formats and set(result.formats) == {"first", "classes"}


def test_what_does_not_fit_the_memories_says_so(int8_and_int16, monkeypatch):
    monkeypatch.setattr(choose, "_CLIMBS", 1)
    with pytest.raises(UserError, match="does not fit|It fits with"):
        chosen(min_sqnr=10.0, memories=[Memory.of("ram=1K")])


class Positive(Net):
    """Its inputs and all tensors between layers are positive, so that rounding weights shifts the means of results."""

    DATA = [(x.abs(),) for (x,) in DATA]

    def __init__(self):
        super().__init__()
        for layer in (self.first, self.second):
            layer.bias = None


def test_corrected_biases_are_free():
    """Where they make formats more exact, formats that would be too noisy without keep the limit."""
    data, lines = Positive.DATA, []

    def found(**options):
        return choose_formats(Positive(), data[0], "cortex-m4", data, prefer="flash", **options)

    corrected = found(min_sqnr=10.0, progress=lines.append)
    assert corrected.configuration.bias_correction is True and "w4" in corrected.formats.values()
    assert any(line.startswith("with corrected biases") and line.endswith("all formats have them") for line in lines)
    parsed = configuration_file.parse(corrected.quantizer_file)
    assert parsed.bias_correction is True and parsed == corrected.configuration
    limit = corrected.outcome.figures.sqnr - 0.1
    without = found(min_sqnr=limit, quantizer=CmsisNnQuantizer(bias_correction=False))
    assert without.configuration.bias_correction is False
    assert corrected.outcome.price.flash < without.outcome.price.flash


def test_float32_is_a_choice_where_its_price_is_known():
    """In bytes all calls have one."""
    result = chosen(min_sqnr=90.0, prefer="flash")
    assert set(result.formats.values()) == {"float32"} and result.outcome.figures.sqnr >= 90


def test_weights_of_4_bits_take_less_flash():
    result = chosen(min_sqnr=15.0, prefer="flash")
    assert "w4" in result.formats.values() and result.outcome.figures.sqnr >= 15
    assert result.outcome.price.flash < min(outcome.price.flash for outcome in result.uniform if outcome.name[0] != "w")


def is_exact(c):
    """Returns whether some layers have more than 8 bits."""
    return any(name in str(c.options.quantizer.configuration) for name in ("int16", "float32"))


def test_what_leaves_more_outside_is_not_cheaper(monkeypatch, int8_and_int16):
    """As if exact formats had a kernel that does not take the size of a tensor: that costs nothing in the delegate."""
    price_of = subject.price_of

    def with_more_outside(c):
        return dataclasses.replace(price_of(c), outside=int(is_exact(c)))

    monkeypatch.setattr(subject, "price_of", with_more_outside)
    monkeypatch.setattr(choose, "price_of", with_more_outside)
    assert set(chosen(min_sqnr=10.0).formats.values()) == {"int8"}
    with pytest.raises(UserError, match="int16.* leaves 1 functions outside .*, 1 more than int8"):
        chosen(min_sqnr=38.0)


def test_a_format_whose_rest_does_not_run_is_no_obstacle_to_others(monkeypatch):
    """Kernels of float32 take tensors in row-major order only, and ExecuTorch's padding none of one channel that has
    the strides of another order."""

    class Padded(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.layer = nn.Conv2d(1, 4, 3)

        def forward(self, x):
            return torch.relu(self.layer(nn.functional.pad(x, (0, 1, 0, 1))))

    data = [(torch.empty(1, 1, 6, 6, memory_format=torch.channels_last).copy_(x[:, :1, :6, :6]),) for (x,) in DATA]
    monkeypatch.setattr(subject, "APART", -1.0)  # the device judges all formats, as of models with recurrent layers
    lines = []
    found = choose_formats(Padded(), data[0], "cortex-m4", data, min_sqnr=20.0, quantizer=MINMAX, progress=lines.append)
    assert any(line.startswith("what is outside of the delegate does not run here") for line in lines)
    assert found.compiled.graph is not None and found.outcome.figures.sqnr >= 20.0


def test_what_strict_refuses_is_not_the_result(monkeypatch, int8_and_int16):
    """The next one that keeps the limits is."""
    advance = choose.advance

    def refusing(c, *stages):
        if stages[0] == "stream" and is_exact(c):
            raise LeftOutside("1 operator is not delegated", exit_code=1)
        advance(c, *stages)

    monkeypatch.setattr(choose, "advance", refusing)
    assert set(chosen(min_sqnr=10.0).formats.values()) == {"int8"}
    with pytest.raises(LeftOutside):
        chosen(min_sqnr=38.0)


def test_noise_of_the_device_alone_is_not_blamed_on_layers(monkeypatch, int8_and_int16):
    outputs = choose.device_outputs

    def noisier(*arguments):
        found, *others = outputs(*arguments)
        return [[0.9 * x for x in output] if isinstance(output, list) else 0.9 * output for output in found], *others

    monkeypatch.setattr(choose, "device_outputs", noisier)
    with pytest.raises(UserError, match=r"on the device: int16 .* dB in PyTorch, has (1\d|20)\.\d+ dB there"):
        chosen(min_sqnr=33.0)


def test_labels():
    """As many right as in float."""
    with torch.no_grad():
        labels = np.array([int(Net().eval()(*x).argmax()) for x in DATA])
    labels[0] = (labels[0] + 1) % 5
    result = chosen(labels=labels, max_drop=0.0)
    assert result.exact.right == 11 and result.outcome.figures.right >= 11
    with pytest.raises(UserError, match="a top-1 of at least 1: the closest found .* 91.67 % of 12 labels right"):
        chosen(labels=labels, min_top1=1.0)


def test_inputs_and_outputs_have_the_type_that_was_asked_for(int8_and_int16):
    result = chosen(min_sqnr=10.0, io="int16")
    graph = result.compiled.graph
    assert {value.element.value for value in (*graph.inputs, *graph.outputs)} == {"int16"}
    assert result.formats["first"] == result.formats["classes"] == "int16"


def test_limits():
    exact = Figures(None, rows=10, right=9)
    assert Limits(max_drop=0.1).kept(Figures(20.0, 10, 8), exact) and not Limits(max_drop=0.1).kept(
        Figures(20, 10, 7), exact
    )
    assert not Limits(min_sqnr=20.0, max_drop=0.1).kept(Figures(19.9, 10, 9), exact)
    assert Limits(min_sqnr=20.0).kept(Figures(None, 0, 0), Figures(None, 0, 0))
    for wrong in ({}, {"min_sqnr": float("inf")}, {"min_top1": 1.5}, {"max_drop": -0.1}):
        with pytest.raises(UserError):
            Limits(**wrong)
    with pytest.raises(UserError, match="a limit of top-1 needs labels"):
        chosen(min_top1=0.5)


def test_a_candidate_that_a_dearer_one_spoke_against_is_tried(monkeypatch):
    # By assignment: the estimated and the real ratio in dB, and the price.
    known = {(0,): (50.0, 49.0, 10), (1,): (53.7, 52.7, 11), (2,): (53.8, 50.5, 12), (9,): (55.2, 53.45, 20)}
    known |= {(number,): (54.0, 51.0, 19) for number in range(3, 9)}  # neighbours of the last one, with less noise

    class Known:
        problem = some_exact = None
        tried: dict = {}

        def judged(self, assignments):
            estimates = np.array([known[assignment] for assignment in assignments])
            return 10 ** (-estimates[:, 0] / 10), estimates[:, 2]

        def try_(self, assignment):
            return self.tried.setdefault(assignment, subject.Tried(Figures(known[assignment][1], 0, 0)))

    model = Known()
    model.problem = model
    monkeypatch.setattr(choose, "changed", lambda problem, found: [(number,) for number in range(3, 9)])
    search, candidates = choose._Search(model, Limits(min_sqnr=52.0), None), [(0,), (1,), (2,), (9,)]
    found = search._first_kept(candidates)
    assert found == (9,) and (1,) not in model.tried
    assert search._cheaper(found, candidates) == (1,)
