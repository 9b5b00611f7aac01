"""The comparison with the float model passes what is converted rightly, and names what is not."""

import copy
import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torchao.quantization.pt2e.observer import HistogramObserver, MinMaxObserver
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cmsis_nn_delegate import pipeline
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization import prepare
from cmsis_nn_delegate.quantization.comparison import Samples, compare
from cmsis_nn_delegate.quantization.comparison.layers import Layers
from cmsis_nn_delegate.quantization.configuration import OBSERVERS
from cmsis_nn_delegate.quantization.convert import convert_calibrated
from cmsis_nn_delegate.quantization.interface import make_flat
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.in_place_forms import Writer

make_torch_faster()

aten = torch.ops.aten
Q = torch.ops.quantized_decomposed.quantize_per_tensor.default
SHAPE = (1, 3, 8, 8)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.stem = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.ReLU6(), nn.Conv2d(6, 6, 1))
        self.head = nn.Linear(6, 5)
        self.stem[1].running_mean.uniform_(-1, 1)
        self.stem[1].running_var.uniform_(0.2, 2)

    def forward(self, x):
        y = self.stem(x)
        z = y + self.body(y)
        z[:, :2] = 0.5
        return self.head(F.max_pool2d(z, 2).mean((2, 3)))


def samples(count=12, shape=SHAPE, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(shape, generator=generator),) for _ in range(count)]


def quantized(module, data, observer="histogram"):
    """The arguments of `compare`, as compile_model makes them; the program is not there yet."""
    module = module.eval()
    with torch.no_grad():
        exported = torch.export.export(copy.deepcopy(module), tuple(x.clone() for x in data[0]))
        kept = Samples()
        graph = quantizable_module(exported)
        make_flat(graph)
        state = {name: buffer.clone() for name, buffer in graph.named_buffers()}
        prepared = prepare_pt2e(graph, CmsisNnQuantizer(observer))
        for sample in data:
            prepared(*(x.clone() for x in sample))
            kept.add(sample)
        pipeline.restore(prepared, state)
        converted = convert_calibrated(copy.deepcopy(prepared))
        original = exported.module(check_guards=False)
        make_flat(original)
        return original, prepared, converted, kept


def compared(module, data, observer="histogram"):
    original, prepared, converted, kept = quantized(module, data, observer)
    with torch.no_grad():
        return compare(original, prepared, converted, torch.export.export(converted, data[0]), kept)


@functools.cache
def network(observer):
    return quantized(Network(), samples(), observer)


# What is right ----------------------------------------------------------------


@pytest.mark.parametrize("observer", OBSERVERS)
def test_a_network_that_is_converted_rightly(observer):
    found = compared(Network(), samples(), observer)
    assert 0 < found.part < 0.1 and 20 < found.sqnr < 60


@pytest.mark.parametrize("form", ["slice", "own_buffer", "remembered", "index", "chunk", "norm_and_layer", "input"])
def test_models_that_write_in_place(form):
    assert compared(Writer(form), samples(3), "minmax").part < 0.2


def test_a_result_that_is_written_in_place_after_it_was_computed():
    class Assigned(nn.Module):
        def forward(self, x):
            y = x * 1.3
            y[:, 1:] = 0.7
            return y

    data = samples(3)
    assert compared(Assigned(), data, "minmax").part < 0.02


ODD_DATA = {
    "zero": torch.zeros(SHAPE),
    "constant": torch.full(SHAPE, 3.0),
    "tiny": torch.full(SHAPE, 1e-30),
    "denormal": torch.full(SHAPE, 1e-40),
    "one_outlier": torch.zeros(SHAPE).index_put((torch.tensor(0),) * 4, torch.tensor(1e6)),
    "far_from_zero": torch.rand(SHAPE, generator=torch.Generator().manual_seed(0)) + 1000.0,
}


@pytest.mark.parametrize("observer", OBSERVERS)
@pytest.mark.parametrize("name", ODD_DATA)
def test_odd_data(name, observer):
    compared(nn.Conv2d(3, 2, 3), [(ODD_DATA[name],), (ODD_DATA[name].flip(3),)], observer)
    compared(nn.Conv2d(3, 2, 3), [*samples(3), (ODD_DATA[name],)], observer)


def test_data_that_an_observer_cannot_handle():
    """The histogram observer's squares are too large for floats."""
    data = [(x * 1e20,) for (x,) in samples(3)]
    with pytest.raises(UserError, match="^x: its values from .*the observer found no scale.*observer='minmax'"):
        compared(Network(), data, "histogram")
    compared(Network(), data, "minmax")


def test_random_and_remembering_models():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 1)
            self.register_buffer("mean", torch.zeros(SHAPE))

        def forward(self, x):
            self.mean.mul_(0.9).add_(x, alpha=0.1)
            return self.conv(x + torch.rand_like(x) - self.mean), torch.argmax(self.conv(self.mean), 1)

    compared(Noisy(), samples(9), "minmax")


def test_layers_that_no_bound_on_the_outputs_would_tell_from_wrong_ones():
    """Deep, and with cancellation: errors of a step become a large part of the result."""
    torch.manual_seed(0)
    layers = [m for _ in range(12) for m in (nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.Hardtanh(-9, 9))]
    for layer in layers:
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_var.fill_(0.02)
    compared(nn.Sequential(*layers), samples(4))


TAILS = {
    "normal": lambda g, shape: torch.randn(shape, generator=g),
    "cauchy": lambda g, shape: torch.empty(shape).cauchy_(generator=g),
    "lognormal": lambda g, shape: torch.empty(shape).log_normal_(0, 3, generator=g),
    "sparse": lambda g, shape: (torch.rand(shape, generator=g) > 0.99) * torch.randn(shape, generator=g) * 1e3,
    "steps": lambda g, shape: torch.randint(0, 2, shape, generator=g) * 6.0,
}


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(TAILS)), st.floats(-12, 12)), min_size=1, max_size=11),
    st.integers(1, 40),
    st.sampled_from(sorted(OBSERVERS)),
)
def test_scales_of_any_data_pass(parts, size, observer):
    """Whatever an observer decides about its data is not the conversion's fault."""
    generator = torch.Generator().manual_seed(size)
    data = [(TAILS[tail](generator, (1, 3, size, size)).float() * 2.0**scale,) for tail, scale in parts]
    torch.manual_seed(0)
    compared(nn.Sequential(nn.Conv2d(3, 2, 1), nn.ReLU(), nn.MaxPool2d(1)), data, observer)


# What is wrong ----------------------------------------------------------------


def calls(model, target):
    return [node for node in model.graph.nodes if node.target == target]


def quantizes(node):
    return [user for user in node.users if user.target is Q]


def swap_biases(prepared, converted):
    first, second, _ = calls(converted, aten.conv2d.default)
    a, b = first.args[2], second.args[2]
    first.update_arg(2, b)
    second.update_arg(2, a)
    first.prepend(b.args[1]), first.prepend(b.args[2]), first.prepend(b.args[0]), first.prepend(b)


def double_weight_scale(prepared, converted):
    weight = calls(converted, aten.conv2d.default)[1].args[1]
    getattr(converted, weight.args[1].target).mul_(2.0)


def scale_of(factor, both):
    def change(prepared, converted):
        (quantize,) = quantizes(calls(converted, aten.hardtanh.default)[0])
        for node in [*([quantize] if both else []), *list(quantize.users)]:
            node.update_arg(1, node.args[1] * factor)

    return change


def shift_zero_point(prepared, converted):
    (quantize,) = quantizes(calls(converted, aten.hardtanh.default)[0])
    for node in list(quantize.users):
        node.update_arg(2, node.args[2] + 1)


def drop_write(prepared, converted):
    (write,), (rest,) = (calls(converted, target) for target in (aten.cat.default, aten.slice.Tensor))
    write.replace_all_uses_with(rest.args[0])
    converted.graph.erase_node(write)


def other_pooling(prepared, converted):
    (pool,) = calls(converted, aten.max_pool2d.default)
    pool.args = (pool.args[0], [2, 1], [2, 2])


def other_operand(prepared, converted):
    (add,) = calls(converted, aten.add.Tensor)
    add.update_arg(1, add.args[0])


def write_in_place(prepared, converted):
    """A write that conversion separates from the tensor's other name."""
    conv = calls(prepared, aten.conv2d.default)[1]
    with prepared.graph.inserting_after(conv):
        prepared.graph.call_function(aten.mul_.Tensor, (conv, 2.0))


def folded_wrongly(prepared, converted):
    prepared.get_parameter("stem.0.weight").mul_(1.2)


SPOILT = {
    "swapped_biases": (swap_biases, r"conv2d in stem\.0 \(Conv2d\): its constant"),
    "weight_scale": (double_weight_scale, r"conv2d_1 in body\.0 \(Conv2d\): its constant"),
    "scale_half": (scale_of(0.5, True), r"in body\.1 \(ReLU6\): its output"),
    "scale_double": (scale_of(2.0, True), r"in body\.1 \(ReLU6\): its output"),
    "scale_of_readers": (scale_of(1.05, False), r"in body\.1 \(ReLU6\): its output"),
    "zero_point": (shift_zero_point, r"in body\.1 \(ReLU6\): its output"),
    "dropped_write": (drop_write, r"cat: its output"),
    "other_pooling": (other_pooling, r"max_pool2d"),
    "other_operand": (other_operand, r"conv2d_2 in body\.2 \(Conv2d\): its output"),
    "write_in_place": (write_in_place, r"mul_.*writes into a tensor"),
    "folded_wrongly": (folded_wrongly, r"batch_norm in stem\.1 \(BatchNorm2d\): the graph prepared"),
}


@pytest.mark.parametrize("name", SPOILT)
@pytest.mark.parametrize("observer", OBSERVERS)
def test_wrong_conversions_are_named(name, observer):
    change, pattern = SPOILT[name]
    original, prepared, converted, kept = network(observer)
    prepared, converted = copy.deepcopy(prepared), copy.deepcopy(converted)
    with torch.no_grad():
        change(prepared, converted)
        for module in (prepared, converted):
            module.graph.lint()
            module.recompile()
        program = torch.export.export(converted, kept.kept[0])
        with pytest.raises(UserError, match=rf"^the quantized model parts from the float model at .*{pattern}"):
            compare(original, prepared, converted, program, kept)


@pytest.mark.parametrize("factor", [1 / 16, 16])
@pytest.mark.parametrize("name, observer", [("histogram", HistogramObserver), ("minmax", MinMaxObserver)])
def test_scales_that_do_not_fit_are_named(name, observer, factor, monkeypatch):
    right = observer.calculate_qparams

    def calculate_qparams(self):
        scale, zero_point = right(self)
        return (scale, zero_point) if "symmetric" in str(self.qscheme) else (scale * factor, zero_point)

    monkeypatch.setattr(observer, "calculate_qparams", calculate_qparams)
    with pytest.raises(UserError, match=r"^x: its values from -\S+ to \S+ are quantized in steps of"):
        compared(Network(), samples(), name)


class Delayed(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv1d(3, 2, 3)
        self.register_buffer("held", torch.zeros(1, 3, 2))

    def forward(self, x):
        y = torch.cat([self.held, x], 2)
        self.held.copy_(x[..., -2:])
        return self.conv(y)


@pytest.mark.parametrize("quantized_only", [False, True])
def test_a_state_that_became_a_constant_shows_with_one_sample(quantized_only):
    """The first inference starts from the initial state in any case."""
    data = samples(1, (1, 3, 6))
    original, prepared, converted, kept = quantized(Delayed(), data, "minmax")
    compare(original, prepared, converted, torch.export.export(converted, data[0]), kept)
    for model in (prepared, converted)[quantized_only:]:
        model.register_buffer("frozen", torch.zeros(1, 3, 2))
        held = next(node for node in model.graph.nodes if node.target == "held")
        with model.graph.inserting_before(held):
            frozen = model.graph.get_attr("frozen")
        held.replace_all_uses_with(frozen, delete_user_cb=lambda user: user.target is not aten.copy_.default)
        model.recompile()
    place = "its constant held" if quantized_only else "on sample 0, step 1"
    with pytest.raises(UserError, match=f"parts from the float model at .*{place}"):
        compare(original, prepared, converted, torch.export.export(converted, data[0]), kept)


@pytest.mark.parametrize("steps", [1, 3])
def test_states_begin_anew_with_each_sequence(steps, monkeypatch):
    """Of all modules, but not in the steps that are added to a short sequence."""
    data = samples(6, (1, 3, 6))
    original, prepared, converted, _ = quantized(Delayed(), data, "minmax")
    kept = Samples(steps=True)
    for index, sample in enumerate(data):
        kept.add(sample, index % steps == 0)
    assert kept.starts == set(range(0, 6, steps))
    held = []

    class Seen(Layers):
        def __init__(self, prepared, converted, *arguments):
            held.append([bool(module.held.any()) for module in (prepared, converted)])
            super().__init__(prepared, converted, *arguments)

    monkeypatch.setattr("cmsis_nn_delegate.quantization.comparison.Layers", Seen)
    found = compare(original, prepared, converted, torch.export.export(converted, data[0]), kept)
    assert held == [[step % steps > 0 or step >= 6] * 2 for step in range(10 - steps)]
    assert found.sqnr > 30


def test_compile_model_compares_and_need_not(monkeypatch):
    lost = prepare.functional_module

    def functional_module(program, share_parameters):
        model = lost(program, share_parameters)
        (write,) = calls(model, aten.slice_scatter.default)
        write.replace_all_uses_with(write.args[0])
        model.recompile()
        return model

    monkeypatch.setattr(prepare, "functional_module", functional_module)
    data = samples(2)
    with pytest.raises(UserError, match="parts from the float model at .*no-check"):
        compile_model(Network(), data[0], "cortex-m55", data)
    assert compile_model(Network(), data[0], "cortex-m55", data, check=False).pte


def test_compile_model_says_how_far_the_outputs_are():
    lines = []
    compile_model(nn.Conv2d(3, 2, 1), samples(1)[0], "cortex-m4", samples(20), progress=lines.append)
    (line,) = [line for line in lines if "compared" in line]
    assert line.startswith("compared with the float model on 5 samples: outputs differ by at most ")


def test_a_program_that_is_exported_wrongly(monkeypatch):
    right = pipeline.export

    def export(module, *arguments):
        if hasattr(module, "_frozen_param0"):
            module._frozen_param0 = module._frozen_param0.flip(0)
        return right(module, *arguments)

    monkeypatch.setattr(pipeline, "export", export)
    with pytest.raises(UserError, match="parts from the float model at"):
        compile_model(nn.Conv2d(3, 2, 1), samples(1)[0], "cortex-m4", samples(2))


@pytest.mark.parametrize("count, kept", [(1, 1), (8, 8), (9, 5), (16, 8), (17, 5), (100, 7)])
def test_samples_are_spread(count, kept):
    found = Samples()
    for index in range(count):
        found.add((index,))
    assert found.count == count and len(found.kept) == kept
    distances = {b[0] - a[0] for a, b in zip(found.kept, found.kept[1:])}
    assert len(distances) <= 1 and found.kept[0] == (0,)


def test_results_whose_size_depends_on_data_are_not_compared():
    class Different(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(40, 40)

        def forward(self, x):
            return torch.unique(self.layer(x))  # in int8, some are the same

    data = [(torch.randn(1, 40),) for _ in range(2)]
    assert compile_model(Different(), data[0], "cortex-m55", data).parts
