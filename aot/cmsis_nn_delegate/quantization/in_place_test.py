"""Writes in place: nothing is lost, and what follows them is quantized."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e, prepare_qat_pt2e

from cmsis_nn_delegate import compile_model, quantizable_module
from cmsis_nn_delegate.quantization.convert import convert_calibrated
from cmsis_nn_delegate.quantization.in_place import written
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.in_place_forms import FORMS, INPUT_SHAPE, Writer

make_torch_faster()

aten = torch.ops.aten
Q = torch.ops.quantized_decomposed.quantize_per_tensor.default
DQ = torch.ops.quantized_decomposed.dequantize_per_tensor.default


def export(module, *inputs):
    with torch.no_grad():
        return torch.export.export(copy.deepcopy(module).eval(), tuple(x.clone() for x in inputs))


def remembered(set_up, step):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(3, 3)
            set_up(self)

        def forward(self, x):
            return step(self, x)

    return Model()


def lazily(m, x):
    m.state = m.cell(x, torch.zeros_like(x) if m.state is None else m.state)
    return m.state


def counting(m, x):
    m.count += 1
    return m.cell(x) * (m.count % 2)


def in_a_list(m, x):
    m.states[0] = m.cell(x, m.states[0])
    return m.states[0]


def assigned(m, x):
    m.state = m.cell(x, m.state)
    return m.state


FORGOTTEN = {
    "an attribute": (lambda m: setattr(m, "state", torch.zeros(1, 3)), assigned),
    "a list": (lambda m: setattr(m, "states", [torch.zeros(1, 3)]), in_a_list),
    "a buffer that is None": (lambda m: m.register_buffer("state", None), lazily),
    "a number": (lambda m: setattr(m, "count", 0), counting),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_what_torch_export_would_forget_is_refused(name):
    x = torch.randn(1, 3)
    with pytest.raises(UserError, match=r"forward sets self\.(state|states|count), .* self\.register_buffer\("):
        compile_model(remembered(*FORGOTTEN[name]), (x,), "cortex-m4", [(x,)])


def test_a_function_in_the_place_of_forward_is_not_run():
    """It may be that of the caller's model, which a compilation leaves as it is."""
    module, seen = nn.Linear(3, 3), []

    def forward(x):
        if not torch.compiler.is_exporting():
            seen.append(x)
        return nn.functional.linear(x, module.weight)

    module.forward = forward
    compile_model(module, (torch.randn(1, 3),), "cortex-m4", [(torch.randn(1, 3),)])
    assert not seen


def kept_to_look_at(m, x):
    m.seen = m.cell(x)
    return m.seen


@pytest.mark.parametrize("form", [kept_to_look_at, assigned])
def test_what_is_set_and_lost_nothing_is_allowed(form):
    x = torch.randn(1, 3)
    module = remembered(lambda m: m.register_buffer("state", torch.zeros(1, 3)), form)
    assert compile_model(module, (x,), "cortex-m4", [(x,)] * 2, check=False).payload is not None


def converted(module, *inputs):
    prepared = prepare_pt2e(quantizable_module(export(module, *inputs)), CmsisNnQuantizer("minmax"))
    state = copy.deepcopy(prepared.state_dict())
    for _ in range(2):  # what reads the state has a scale once there is something else than zeros in it
        prepared(*(x.clone() for x in inputs))
    if hasattr(prepared, "memory"):
        prepared.memory.copy_(state["memory"])
    return convert_calibrated(prepared)


def quantized_inputs(model, targets):
    """How many calls of `targets` there are, and how many of these read a dequantized tensor."""
    calls = [node for node in model.graph.nodes if node.target in targets]
    return len(calls), sum(node.args[0].target is DQ for node in calls)


@pytest.fixture
def x():
    return torch.randn(INPUT_SHAPE, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("form", FORMS)
def test_the_module_to_quantize_computes_what_the_model_does(form, x):
    module = Writer(form).eval()
    with torch.no_grad():
        wanted = [copy.deepcopy(module)(x.clone()) for _ in range(1)]
    program = export(module, x)
    graph = quantizable_module(program)
    torch.testing.assert_close(graph(x.clone()), wanted[0])
    states = [arg.op for node in graph.graph.nodes for arg in written(node)]
    assert set(states) <= {"get_attr"}
    # The program is the caller's.
    assert str(program) == str(export(module, x))


@pytest.mark.parametrize("form", FORMS)
def test_the_quantized_model_is_close_and_all_convolutions_are_quantized(form, x):
    module = Writer(form).eval()
    model = converted(module, x)
    calls, quantized = quantized_inputs(model, {aten.conv2d.default})
    # A layer is computed with and without its norm; a norm that no layer can take over is a layer itself.
    assert calls == quantized == 2 + (form in ("norm_and_layer", "before_norm"))
    steps = [node.args[1] for node in model.graph.nodes if node.target is Q]
    with torch.no_grad():
        torch.testing.assert_close(model(x.clone()), module(x.clone()), atol=6 * max(steps), rtol=0)


def test_a_model_remembers_what_it_wrote(x):
    module = Writer("remembered").eval()
    model = converted(module, x)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(model(x * 0.3), module(x * 0.3), atol=0.15, rtol=0)


def test_a_buffer_that_is_written_is_no_constant(x):
    """Its quantized value must not be folded into the program."""

    class Late(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 1)
            self.register_buffer("memory", torch.zeros(INPUT_SHAPE))

        def forward(self, x):
            y = self.conv(self.memory[:, :, ::2].relu()) + self.conv(self.memory)[:, :, ::2]
            self.memory.copy_(x)
            return y

    module = Late().eval()
    model = converted(module, x)
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(model(x), module(x), atol=0.1, rtol=0)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1, 3, 8, 8))
        self.register_buffer("whole", torch.zeros(INPUT_SHAPE))
        self.register_buffer("part", self.whole[:, :1])

    def forward(self, x):
        y = x * self.gain + self.whole
        (self.part if self.write_buffer else self.gain).copy_(x[:, :1])
        return y


@pytest.mark.parametrize(
    "write_buffer, message",
    [
        (True, "writes into part, which shares its memory with whole"),
        (False, "writes into the parameter gain: make it"),
    ],
)
def test_states_that_cannot_be_kept_are_refused(write_buffer, message, x):
    module = Shared()
    module.write_buffer = write_buffer
    with pytest.raises(UserError, match=message):
        quantizable_module(export(module, x))


# A view, as a function that leaves at least two dimensions.
VIEWS = {
    "itself": lambda y: y,
    "slice": lambda y: y[:, 1:],
    "stride": lambda y: y[..., ::2],
    "flatten": lambda y: y.flatten(1),
    "view": lambda y: y.reshape(y.shape[0], -1),
    "transpose": lambda y: y.transpose(0, -1),
    "unsqueeze": lambda y: y.unsqueeze(1),
    "chunk": lambda y: y.chunk(2, -1)[0],
    "dropout": lambda y: nn.functional.dropout(y, 0.3, training=False),
    "detach": lambda y: y.detach(),
}
WRITES = {
    "relu": lambda v, y: v.relu_(),
    "add": lambda v, y: v.add_(0.5),
    "scale": lambda v, y: v.mul_(-1.5),
    "zero": lambda v, y: v.zero_(),
    "silu": lambda v, y: nn.functional.silu(v, inplace=True),
    "first": lambda v, y: v[:1].fill_(2.0),
    "self": lambda v, y: v.add_(v),
}
step = st.tuples(st.sampled_from(sorted(VIEWS)), st.sampled_from(sorted(VIEWS)), st.sampled_from(sorted(WRITES)))


class Steps(nn.Module):
    """Views and writes, and the sum of all names of the tensor in the end."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        y = self.conv(x)
        total = 0.0
        names = [y]
        for first, second, write in self.steps:
            view = VIEWS[second](VIEWS[first](names[-1]))
            result = WRITES[write](view, y)
            total = total + result.sum()
            names.append(view)
        return sum(name.sum() for name in names) + total, self.conv(y)


class Written(nn.Module):
    """States that take what has another type or shape, and are read afterwards."""

    def __init__(self, forward):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.register_buffer("row", torch.ones(1, 6))
        self.register_buffer("rows", torch.zeros(2, 6))
        self.register_buffer("whole", torch.zeros(1, 6, dtype=torch.int32))
        self._forward = forward

    def forward(self, x):
        return self._forward(self, x, lambda state, value: state.copy_(value))


CONVERSIONS = {
    "bool to float": lambda m, x, copy: (copy(m.row, x > 0), m.linear(x) + m.row)[1],
    "float to int": lambda m, x, copy: (copy(m.whole, x * 3), m.linear(x + m.whole * 0.5))[1],
    "int to float": lambda m, x, copy: (copy(m.row, m.whole), m.whole.add_(1), m.linear(x + m.row))[2],
    "row to rows": lambda m, x, copy: (copy(m.rows, x), m.linear(m.rows).sum(0, keepdim=True))[1],
    "state to rows": lambda m, x, copy: (copy(m.rows, m.row), copy(m.row, x), m.rows[:1] + m.row)[2],
    "column to rows": lambda m, x, copy: (copy(m.rows, x[:, :1]), m.rows[1:] * x)[1],
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_states_convert_what_is_written_to_them(name):
    torch.manual_seed(0)
    module = Written(CONVERSIONS[name]).eval()
    inputs = torch.randn(3, 1, 6)
    with torch.no_grad():
        graph = quantizable_module(torch.export.export(module, (inputs[0],)))
        for x in inputs:
            torch.testing.assert_close(graph(x), module(x))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.lists(step, min_size=1, max_size=3))
def test_any_views_and_writes(steps):
    torch.manual_seed(0)
    module, image = Steps(steps), torch.randn(1, 2, 4, 4)
    with torch.no_grad():
        wanted = module(image)
    graph = quantizable_module(export(module, image))
    assert not any(written(node) for node in graph.graph.nodes)
    torch.testing.assert_close(graph(image), wanted)


@pytest.mark.parametrize("form", ["slice", "view", "chunk", "transpose", "norm_and_layer", "read_before"])
def test_the_quantizer_refuses_what_would_be_lost(form, x):
    graph = export(Writer(form), x).module(check_guards=False)
    with pytest.raises(UserError, match="writes into a tensor that is read under another name.*quantizable_module"):
        prepare_pt2e(graph, CmsisNnQuantizer())


def test_the_message_names_the_layer(x):
    class Inner(nn.Module):
        def forward(self, y):
            y.view(-1).mul_(2.0)
            return y

    model = nn.Sequential(nn.Conv2d(3, 3, 1), Inner())
    graph = export(model, x).module(check_guards=False)
    with pytest.raises(UserError, match=r"^mul_ in 1 \(Inner\) writes"):
        prepare_pt2e(graph, CmsisNnQuantizer())


ACTIVATIONS = {
    "relu": nn.ReLU(inplace=True),
    "relu6": nn.ReLU6(inplace=True),
    "silu": nn.SiLU(inplace=True),
    "hardswish": nn.Hardswish(inplace=True),
    "hardsigmoid": nn.Hardsigmoid(inplace=True),
    "leaky": nn.LeakyReLU(0.1, inplace=True),
    "elu": nn.ELU(inplace=True),
    "mish": nn.Mish(inplace=True),
    "threshold": nn.Threshold(0.1, 0.0, inplace=True),
    "dropout": nn.Dropout(0.5, inplace=True),
}


class Block(nn.Module):
    """An inverted residual block as of mobilenet_v3 and efficientnet, with squeeze and excitation."""

    def __init__(self, activation):
        super().__init__()

        def layer(inputs, outputs, kernel, groups=1):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False),
                nn.BatchNorm2d(outputs),
                copy.deepcopy(activation),
            )

        self.expand, self.depthwise = layer(4, 8, 1), layer(8, 8, 3, groups=8)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 2, 1), copy.deepcopy(activation), nn.Conv2d(2, 8, 1)
        )
        self.project = nn.Sequential(nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4))

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        y = self.project(torch.sigmoid(self.squeeze(y)) * y)
        y += x
        return y


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_what_follows_an_activation_in_place_is_quantized(activation):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 4, 3), *(Block(ACTIVATIONS[activation]) for _ in range(2))).eval()
    image = torch.randn(INPUT_SHAPE)
    model = converted(module, image)
    assert quantized_inputs(model, {aten.conv2d.default}) == (11, 11)
    assert not any(written(node) for node in model.graph.nodes)
    with torch.no_grad():
        difference = (model(image) - module(image)).abs().max() / module(image).abs().max()
    assert difference < 0.1


def test_an_input_that_forward_writes_into(x):
    class Normalized(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 1)

        def forward(self, image):
            return self.conv(image.sub_(0.5).mul_(2.0))

    model = converted(Normalized(), x)
    assert quantized_inputs(model, {aten.conv2d.default}) == (1, 1)
    given_, before = x.clone(), x.clone()
    model(given_)
    assert torch.equal(given_, before)


def test_training_refuses_what_would_be_lost(x):
    module = Writer("after_norm").train()
    with torch.no_grad():
        program = torch.export.export(module, (x,))
    with pytest.raises(UserError, match="cannot be trained with quantization"):
        quantizable_module(program)


def test_training_keeps_dropout_and_batch_norm(x):
    module = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Dropout(inplace=True), nn.Conv2d(4, 2, 1)
    )
    graph = quantizable_module(torch.export.export(module.train(), (x,)))
    targets = [node.target for node in graph.graph.nodes]
    assert aten.batch_norm.default in targets and aten.dropout.default in targets and aten.relu.default in targets
    prepare_qat_pt2e(graph, CmsisNnQuantizer())
