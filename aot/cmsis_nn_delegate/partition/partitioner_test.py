"""CmsisNnPartitioner and explain: what is delegated together, and every reason why not."""

import math

import pytest
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import EdgeCompileConfig, to_edge, to_edge_transform_and_lower
from torch import nn
from torch.export import ExportedProgram
from torch.fx.passes.infra.pass_base import PassResult
from torch.nn import functional as F
from torch.utils import _pytree as pytree
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate.edge.context import EdgeContext
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.format.schema import MAX_IO
from cmsis_nn_delegate.partition.explain import explain
from cmsis_nn_delegate.partition.io_types import IoTypes
from cmsis_nn_delegate.partition.lower import NotDelegatedError, lower
from cmsis_nn_delegate.partition.partitioner import CmsisNnPartitioner
from cmsis_nn_delegate.partition.quantized_io import with_io
from cmsis_nn_delegate.partition.smaller_units import nest_concatenations
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.testing.lowering import (
    Branch,
    Function,
    Lowered,
    exported,
    in_float,
    lower_program,
    lowered,
    reports_of_branches,
)

R = Reason


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(2)


# Refusals -------------------------------------------------------------------

IMAGE = (1, 4, 6, 6)

REFUSALS = {
    # name: (function of the inputs, shapes, refused target, reason, part of the message)
    "unknown operator": (
        in_float,
        [IMAGE],
        "aten.atan2",
        R.UNSUPPORTED_OPERATOR,
        "no kernel for aten.atan2",
    ),
    "conv_transpose3d": (
        F.conv_transpose3d,
        [(1, 4, 5, 5, 5), (4, 3, 3, 3, 3)],
        "aten.convolution",
        R.UNSUPPORTED_SHAPE,
        "with constant weights and for pools",
    ),
    "broadcast": (
        lambda a, b: a + b,
        [(2, 1, 2, 1, 2), (1, 2, 1, 2, 1)],
        "aten.add",
        R.UNSUPPORTED_SHAPE,
        "5 nested loops",
    ),
    "infinite number": (
        lambda x: torch.fmod(F.max_pool2d(x, 1), math.inf),
        [IMAGE],
        "aten.fmod",
        R.UNSUPPORTED_PARAMETER,
        "not a finite number",
    ),
    "mean over rows and batch": (
        lambda x: x.mean((0, 3)),
        [(2, 4, 6, 6)],
        "aten.mean",
        R.UNSUPPORTED_PARAMETER,
        "apart in memory",
    ),
    "max pooling indices": (
        lambda x: F.max_pool2d(x, 2, return_indices=True),
        [IMAGE],
        "aten.max_pool2d_with_indices",
        R.UNSUPPORTED_PARAMETER,
        "indices",
    ),
    "large pooling stride": (
        lambda x: F.max_pool2d(x, 2, 2**28),
        [IMAGE],
        "aten.max_pool2d",
        R.TOO_LARGE,
        "at most 67108863",
    ),
    "large stride": (
        nn.Conv2d(4, 2, 1, stride=2**28),
        [IMAGE],
        "aten.convolution",
        R.TOO_LARGE,
        "at most 67108863",
    ),
    "long row, resampled": (
        lambda x: F.interpolate(x, size=1001, mode="linear"),
        [(1, 1, 40000)],
        "aten.upsample",
        R.TOO_LARGE,
        "at most 32767 rows",
    ),
    "long row, averaged in windows of two sizes": (
        lambda x: F.adaptive_avg_pool1d(x, 7),
        [(1, 1, 40000)],
        "aten.",
        R.TOO_LARGE,
        "at most 32767 rows",
    ),
    "long rows of a product": (torch.matmul, [(1, 40000), (40000, 1)], "aten.m", R.TOO_LARGE, "40000 products"),
    "weights from outside": (
        F.conv2d,
        [IMAGE, (3, IMAGE[1], 1, 1)],
        "aten.",
        R.NOT_CONSTANT,
        "weight is not a constant",
    ),
    "rank": (torch.relu, [(1,) * 7], "aten.relu", R.UNSUPPORTED_SHAPE, "rank 7"),
    "empty": (torch.relu, [(0, 3)], "aten.relu", R.UNSUPPORTED_SHAPE, "empty"),
}


@pytest.fixture(scope="module")
def refusals():
    """The reports of each case; all are lowered side by side."""
    torch.manual_seed(2)
    branches = {}
    for name, (f, shapes, *_) in REFUSALS.items():
        module = f if isinstance(f, nn.Module) else Function(f)
        branches[name] = Branch(module, tuple(torch.randn(shape) for shape in shapes))
    return reports_of_branches(branches)


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(refusals, name):
    _, _, target, reason, message = REFUSALS[name]
    matches = [r for r in refusals[name] if r.reason is reason and r.target.startswith(target)]
    assert matches, "\n".join(map(str, refusals[name]))
    assert any(message in match.message for match in matches), matches


def unquantized(module, *inputs, **kwargs):
    return torch.export.export(module, inputs, **kwargs)


def only_refusal(result, target):
    (found,) = [r for r in result.reports if r.target.startswith(target)]
    assert not result.delegates
    return found


def test_float_model_is_not_quantized():
    found = only_refusal(lower_program(unquantized(nn.Conv2d(2, 3, 3), torch.randn(1, 2, 5, 5))), "aten.convolution")
    assert found.reason is R.NOT_QUANTIZED and "CmsisNnQuantizer" in found.message


def test_float64_is_refused():
    x = torch.randn(1, 2, 5, 5, dtype=torch.float64)
    found = only_refusal(lower_program(unquantized(nn.Conv2d(2, 3, 3).double(), x)), "aten.convolution")
    assert found.reason is R.UNSUPPORTED_DTYPE and "float64" in found.message and ".float()" in found.message


def test_dynamic_shape_is_refused():
    x = torch.randn(3, 6)
    dynamic = {"dynamic_shapes": ({0: torch.export.Dim("batch", min=2, max=9)},)}
    graph = unquantized(nn.Linear(6, 4), x, **dynamic).module(check_guards=False)
    prepared = prepare_pt2e(graph, CmsisNnQuantizer("minmax"))
    prepared(x)
    result = lower_program(unquantized(convert_pt2e(prepared), x, **dynamic))
    assert not result.delegates
    assert any(r.reason is R.DYNAMIC_SHAPE and "static" in r.message for r in result.reports), "\n".join(
        map(str, result.reports)
    )


class Manual(nn.Module):
    """A linear layer with hand-made quantization."""

    def __init__(self, weight_zero=0, axis=0, low=-128, scale=1 / 16, bias_scale=None, out=1 / 16):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (4, 4), dtype=torch.int8))
        self.register_buffer("scales", torch.full((4,), 1 / 64))
        self.register_buffer("zeros", torch.full((4,), weight_zero, dtype=torch.int32))
        self.register_buffer("bias", torch.full((4,), 2**30, dtype=torch.int32))
        self.axis, self.low, self.scale, self.bias_scale, self.out = (
            axis,
            low,
            scale,
            bias_scale,
            out,
        )

    def forward(self, x):
        q = torch.ops.quantized_decomposed
        x = q.quantize_per_tensor(x, self.scale, 0, self.low, 127, torch.int8)
        x = q.dequantize_per_tensor(x, self.scale, 0, self.low, 127, torch.int8)
        weight = q.dequantize_per_channel(self.weight, self.scales, self.zeros, self.axis, -127, 127, torch.int8)
        bias = None
        if self.bias_scale is not None:
            bias = q.dequantize_per_tensor(self.bias, self.bias_scale, 0, -(2**31), 2**31 - 1, torch.int32)
        y = F.linear(x, weight, bias)
        y = q.quantize_per_tensor(y, self.out, 0, -128, 127, torch.int8)
        return q.dequantize_per_tensor(y, self.out, 0, -128, 127, torch.int8)


QUANTIZATIONS = {
    "range": ({"low": -127}, "[-127, 127]"),
    "axis": ({"axis": 1}, "dimension 1"),
    "weight zero points": ({"weight_zero": 3}, "symmetric"),
    "multiplier": ({"out": 1e-14}, "multipliers"),
    "bias": ({"bias_scale": 1.0}, "32 bits"),
}


@pytest.mark.parametrize("name", QUANTIZATIONS)
def test_unsupported_quantization(name):
    arguments, message = QUANTIZATIONS[name]
    program = unquantized(Manual(**arguments), torch.randn(2, 4))
    config = EdgeCompileConfig(_check_ir_validity=False)
    reports = explain(to_edge(program, compile_config=config).exported_program())
    (found,) = [r for r in reports if r.target.startswith("aten.addmm") or r.target.startswith("aten.mm")]
    assert found.reason is R.UNSUPPORTED_QUANTIZATION and message in found.message


def test_dynamic_quantization_is_named():
    """Each layer says it, not only the functions that compute the scales."""
    x = torch.randn(2, 4)
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True))
    prepared = prepare_pt2e(
        torch.export.export(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)), (x,)).module(), quantizer
    )
    prepared(x)
    reports = lower_program(torch.export.export(convert_pt2e(prepared), (x,))).reports
    layers = [report for report in reports if report.target.startswith("aten.addmm")]
    assert [report.reason for report in layers] == [R.UNSUPPORTED_QUANTIZATION] * 2
    scales = [report for report in reports if "choose_qparams" in report.target]
    assert scales and all("is_dynamic=False" in report.message for report in layers + scales)


class ManualSum(nn.Module):
    """A sum with hand-made quantization, of activations or of one and a constant."""

    def __init__(self, low=-128, per_channel=False, constants=1, out=1 / 16):
        super().__init__()
        self.register_buffer("constant", torch.randint(-127, 128, (4,), dtype=torch.int8))
        self.register_buffer("scales", torch.full((4,), 1 / 64))
        self.register_buffer("zeros", torch.zeros(4, dtype=torch.int32))
        self.low, self.per_channel, self.constants, self.out = low, per_channel, constants, out

    def forward(self, x):
        q = torch.ops.quantized_decomposed
        x = q.quantize_per_tensor(x, 1 / 16, 0, -128, 127, torch.int8)
        x = q.dequantize_per_tensor(x, 1 / 16, 0, -128, 127, torch.int8)
        if self.per_channel:
            c = q.dequantize_per_channel(self.constant, self.scales, self.zeros, 0, -127, 127, torch.int8)
        else:
            c = q.dequantize_per_tensor(self.constant, 1 / 64, 0, self.low, 127, torch.int8)
        y = torch.add(x if self.constants == 1 else c, c, alpha=3)
        y = q.quantize_per_tensor(y, self.out, 0, -128, 127, torch.int8)
        return x + q.dequantize_per_tensor(y, self.out, 0, -128, 127, torch.int8)


SUMS = {
    "per channel": ({"per_channel": True}, R.UNSUPPORTED_QUANTIZATION, "int8 with a scale per channel"),
    "both constant": ({"constants": 2}, R.UNSUPPORTED_PARAMETER, "both operands are constants"),
    "output scale": ({"out": 1e-8}, R.UNSUPPORTED_QUANTIZATION, "inputs of scale 0.0625"),
}


@pytest.mark.parametrize("name", SUMS)
def test_unsupported_sum(name):
    arguments, reason, message = SUMS[name]
    config = EdgeCompileConfig(_check_ir_validity=False)
    program = unquantized(ManualSum(**arguments), torch.randn(2, 4))
    reports = explain(to_edge(program, compile_config=config).exported_program())
    found = next(r for r in reports if r.target.startswith("aten.add"))
    assert found.reason is reason and message in found.message


def test_what_only_data_shows_is_an_error_at_the_latest_in_preprocess():
    with pytest.raises(Exception, match="symmetric"):
        lower_program(unquantized(Manual(weight_zero=3), torch.randn(2, 4)))


def test_manual_quantization_is_accepted():
    program = unquantized(Manual(bias_scale=1e-9), torch.randn(2, 4))
    assert not lower_program(program).outside


def test_what_a_pass_of_the_user_changes_is_seen():
    """ExecuTorch asks what to keep whole before the passes, and what to delegate after them."""

    def exchange_limits(module):
        (node,) = (node for node in module.graph.nodes if "hardtanh" in str(node.target))
        node.args = (node.args[0], 1.0, -1.0)
        return PassResult(module, True)

    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Hardtanh(), nn.Flatten(), nn.Linear(12, 5))
    program = exported(model, torch.randn(1, 2, 4, 4))
    partitioner = CmsisNnPartitioner("cortex-m55")
    to_edge_transform_and_lower(program, transform_passes=[exchange_limits], partitioner=[partitioner])
    (found,) = (report for report in partitioner.reports if "hardtanh" in report.target)
    assert found.reason is R.UNSUPPORTED_PARAMETER and "[1.0, -1.0]" in found.message
    assert any(report.delegated and "linear" in report.target for report in partitioner.reports)


def _runs_of_decompositions(program, monkeypatch):
    """`program`, lowered, and how often it was decomposed for that."""
    runs = []
    run_decompositions = ExportedProgram.run_decompositions

    def counted(self, *args, **kwargs):
        runs.append(self)
        return run_decompositions(self, *args, **kwargs)

    monkeypatch.setattr(ExportedProgram, "run_decompositions", counted)
    return lower_program(program), len(runs)


def test_programs_are_decomposed_once(monkeypatch):
    """Each run takes as long as exporting. ExecuTorch would run them again to make them functional, which they are."""
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 5), nn.Linear(5, 5))
    result, runs = _runs_of_decompositions(exported(model, torch.randn(1, 2, 4, 4)), monkeypatch)
    assert runs == 1 and len(result.delegates) == 1 and not result.outside


def test_what_is_taken_in_one_place_and_refused_in_another(monkeypatch):
    """Then ExecuTorch runs the program more often, to decompose only what is refused."""
    linear = nn.Linear(4, 5)
    program = exported(Function(lambda x: F.silu(F.silu(linear(x)).double()), linear=linear), torch.randn(2, 4))
    result, runs = _runs_of_decompositions(program, monkeypatch)
    assert runs == 3 and len(result.delegates) == 1
    assert any("sigmoid" in node for node in result.outside)
    assert [report.delegated for report in result.reports if report.target == "aten.silu.default"] == [True, False]


# Grouping -------------------------------------------------------------------


def test_unsupported_operator_in_the_middle_gives_two_delegates():
    a, b = nn.Conv2d(2, 3, 3), nn.Conv2d(3, 2, 3)
    result = lowered(Function(lambda x: b(in_float(F.relu(a(x)))), a=a, b=b), torch.randn(1, 2, 8, 8))
    assert len(result.delegates) == 2 and [n for n in result.outside if "atan2" in n] == result.outside
    result.edge.to_executorch()


def test_side_branch_that_joins_again_does_not_close_a_circle():
    a, b = nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)

    def f(x):
        y = F.relu(a(x))
        return F.relu(b(y) + in_float(y)), b(x)

    result = lowered(Function(f, a=a, b=b), torch.randn(1, 2, 4, 4))
    assert len(result.delegates) == 2
    result.edge.to_executorch()


def test_nothing_but_reshapes_is_not_delegated():
    result = lowered(Function(lambda x: in_float(in_float(x).flatten(1))), torch.randn(1, 2, 3))
    assert not result.delegates
    views = [r for r in result.reports if "view" in r.target]
    assert views and all(r.reason is R.NOT_FUSABLE for r in views)


def test_weights_move_into_the_delegate():
    result = lowered(nn.Conv2d(2, 3, 3), torch.randn(1, 2, 5, 5))
    program = result.edge.exported_program()
    assert [spec.kind.name for spec in program.graph_signature.input_specs] == ["USER_INPUT"]


def test_shared_layer_is_delegated_twice():
    conv = nn.Conv2d(2, 2, 3, padding=1)
    result = lowered(Function(lambda x: conv(in_float(conv(x))), conv=conv), torch.randn(1, 2, 4, 4))
    assert len(result.delegates) == 2


def test_reports_name_modules_and_partitions():
    conv = nn.Sequential(nn.Conv2d(2, 3, 3), Function(in_float))
    reports = lowered(conv, torch.randn(1, 2, 5, 5)).reports
    lines = [str(report) for report in reports]
    assert any("delegated to partition 0" in line and "(Conv2d)" in line for line in lines)
    assert any("aten.atan2.default" in line and "unsupported-operator" in line for line in lines)


def test_edge_programs_that_were_decomposed_are_explained():
    """The other way in: to_edge first, which splits linear and pooling."""
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 3),
        nn.Softmax(1),
    )
    edge = to_edge(exported(model, torch.randn(1, 2, 6, 6)))
    reports = explain(edge.exported_program())
    assert {"aten.max_pool2d_with_indices.default", "aten.addmm.default"} <= {r.target for r in reports}
    assert all(report.delegated for report in reports), "\n".join(map(str, reports))
    lowered_edge = edge.to_backend(CmsisNnPartitioner("cortex-m4"))
    targets = [str(n.target) for n in lowered_edge.exported_program().graph.nodes if n.op == "call_function"]
    assert len(targets) == 2  # the delegate and its result


class Wide(nn.Module):
    """The sum of all inputs, read by a layer for each output."""

    def __init__(self, outputs):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 2) for _ in range(outputs))

    def forward(self, *inputs):
        total = sum(inputs[1:], inputs[0])
        return [layer(total) for layer in self.layers]


@pytest.mark.parametrize(
    "inputs, outputs, io",
    [(12, 1, "float"), (13, 1, "int8"), (1, 13, "float"), (14, 5, "float"), (14, 5, "int8")],
)
def test_more_inputs_and_outputs_than_a_payload_has_are_several_delegates(inputs, outputs, io):
    samples = [torch.randn(1, 3) for _ in range(inputs)]
    result = lowered(Wide(outputs), *samples, io=io)
    assert all(report.delegated for report in result.reports) and not result.outside
    assert (len(result.delegates) > 1) == (inputs + outputs > MAX_IO)
    for delegate in result.delegates:
        signature = delegate.graph_signature
        assert len(signature.user_inputs) + len(signature.user_outputs) <= MAX_IO
    result.edge.to_executorch()
    if io == "float":
        wanted = result.program.module(check_guards=False)(*samples)
        got = result.edge.exported_program().module(check_guards=False)(*samples)
        torch.testing.assert_close(list(got), list(wanted))


class ManyReaders(nn.Module):
    """One dequantize for more operators than a payload has outputs."""

    def forward(self, x):
        q = torch.ops.quantized_decomposed
        parameters = (1 / 16, 0, -128, 127, torch.int8)

        def through(y):
            return q.dequantize_per_tensor(q.quantize_per_tensor(y, *parameters), *parameters)

        x = through(x)
        return [through(torch.clamp(x, -1.0, 0.1 * i)) for i in range(MAX_IO)]


def same_results(result, *inputs):
    """Whether the lowered program computes exactly what it did before."""
    wanted = result.program.module(check_guards=False)(*inputs)
    got = result.edge.exported_program().module(check_guards=False)(*inputs)
    return all(map(torch.equal, *map(pytree.tree_leaves, (wanted, got))))


def io_counts(result):
    signatures = [delegate.graph_signature for delegate in result.delegates]
    return [len(signature.user_inputs) + len(signature.user_outputs) for signature in signatures]


def test_one_dequantize_for_more_readers_than_a_payload_has_outputs():
    x = torch.randn(2, 4)
    result = lower_program(unquantized(ManyReaders(), x))
    assert len(result.delegates) == 2 and not result.outside and max(io_counts(result)) <= MAX_IO
    assert same_results(result, x)
    result.edge.to_executorch()


@pytest.mark.parametrize("count, io", [(12, "int8"), (13, "float"), (30, "int8")])
def test_concatenations_of_more_inputs_than_a_payload_has(count, io):
    layer = nn.Linear(2, 3)
    constant = nn.Parameter(torch.randn(3, 2))
    join = Function(
        lambda *inputs: layer(torch.stack([constant[0], *inputs, constant[1], inputs[0], constant[2]])),
        layer=layer,
        constant=constant,
    )
    inputs = [torch.randn(2) for _ in range(count)]
    result = lowered(join, *inputs, io=io)
    assert all(report.delegated for report in result.reports) and not result.outside
    assert len(result.delegates) in (1 + count // MAX_IO, 2 + count // MAX_IO) and max(io_counts(result)) <= MAX_IO
    assert io == "int8" or same_results(result, *inputs)


def test_concatenations_are_nested_as_deep_as_needed():
    constant = nn.Parameter(torch.randn(1, 2))
    join = Function(lambda x: torch.cat([*(x + 0.1 * i for i in range(9)), constant, x]), constant=constant)
    x = torch.randn(1, 2)
    program = exported(join, x)
    wanted = program.module(check_guards=False)(x)
    nodes, context = list(program.graph.nodes), EdgeContext(program)
    assert nest_concatenations(program, nodes, 2, context) and not nest_concatenations(program, nodes, 2, context)
    program.graph.lint()
    program.graph_module.recompile()
    widths = [len(node.args[0]) for node in program.graph.nodes if node.target is torch.ops.aten.cat.default]
    assert max(widths) == 3 and len(widths) > 5  # the constant is no activation
    assert torch.equal(program.module(check_guards=False)(x), wanted)


class TwoScales(nn.Module):
    """A concatenation of tensors with different scales, which no kernel computes."""

    def forward(self, x):
        q = torch.ops.quantized_decomposed

        def through(y, scale):
            parameters = (scale, 0, -128, 127, torch.int8)
            return q.dequantize_per_tensor(q.quantize_per_tensor(y, *parameters), *parameters)

        return through(torch.cat([through(x, 0.1), through(x, 0.2)]), 0.2)


@pytest.mark.parametrize("prepared, advice", [(False, "quantize with CmsisNnQuantizer"), (True, "remove the override")])
def test_advice_is_for_the_flow_that_the_user_is_in(prepared, advice):
    """`prepared`: compile_model and the command line use the quantizer, so that it is no use to advise it."""
    reports = lower_program(unquantized(TwoScales(), torch.randn(2, 4)), prepared=prepared).reports
    (message,) = {report.message for report in reports if report.reason is R.UNSUPPORTED_QUANTIZATION}
    assert advice in message


def test_memories_leave_room_for_fewer_inputs_and_outputs():
    memories = [Memory("fast", 4096, ("activations",)), Memory("sram", 65536)]
    partitioner = CmsisNnPartitioner("cortex-m55", memories=memories)
    program = exported(Wide(1), *(torch.randn(1, 3) for _ in range(MAX_IO - 1)))
    result = Lowered(program, lower(program, "cortex-m55", partitioner=partitioner), partitioner.reports)
    assert len(result.delegates) == 2 and not result.outside


# Interface ------------------------------------------------------------------


def test_compile_specs():
    specs = CmsisNnPartitioner("cortex-m4", io_placement="caller").delegation_spec.compile_specs
    assert {spec.key: spec.value for spec in specs} == {
        "target": b"cortex-m4",
        "io_placement": b"caller",
        "providers": b"tuned,cmsis-nn,portable",
        "prefer": b"speed",
        "max_flash_growth": b"0",
    }


@pytest.mark.parametrize(
    "io, layers, parts",
    [
        ("int8", [nn.Linear(4, 3), nn.ReLU()], []),
        ("int8", [nn.Linear(4, 3), nn.Sigmoid()], ["dequantize", "function", "quantize"]),
        ("float", [nn.Linear(4, 3)], ["quantize", "dequantize"]),
    ],
)
def test_what_only_another_provider_computes_stays_outside(io, layers, parts):
    """Instead of being an error once the partitions are lowered; then the layer has int8 inputs and outputs."""
    partitioner = CmsisNnPartitioner("cortex-m55", prepared=True, providers=("cmsis-nn",))
    program = exported(nn.Sequential(*layers), torch.randn(1, 4))
    lower(program, "cortex-m55", io, partitioner=partitioner)
    (linear,) = [report for report in partitioner.reports if "linear" in report.target]
    assert linear.delegated
    messages = [report.message for report in partitioner.reports if not report.delegated]
    assert len(messages) == len(parts)
    for message, part in zip(messages, parts):
        assert message.startswith(f"no kernel for {part} in cmsis-nn") and "add portable to --providers" in message


def test_unknown_names_are_listed_with_the_choices():
    with pytest.raises(ValueError, match="'cortex-m5'.*cortex-m55"):
        CmsisNnPartitioner("cortex-m5")
    with pytest.raises(ValueError, match="'flash'.*arena, caller"):
        CmsisNnPartitioner("cortex-m55", io_placement="flash")
    with pytest.raises(ValueError, match="'int4'.*float, int8"):
        lower(exported(nn.Linear(2, 2), torch.randn(1, 2)), "cortex-m55", io="int4")


def test_strict_names_what_is_left():
    program = exported(nn.Sequential(nn.Linear(4, 4), Function(in_float)), torch.randn(1, 4))
    with pytest.raises(NotDelegatedError, match="aten.atan2.default.*unsupported-operator"):
        lower(program, "cortex-m55", strict=True)


def test_quantized_io_needs_quantized_borders():
    x = torch.randn(1, 4)
    with pytest.raises(ValueError, match="input.*read by atan2.*aten.atan2"):
        with_io(exported(Function(in_float), x), IoTypes.of("int8"))
    linear = nn.Linear(4, 4)
    with pytest.raises(ValueError, match="output 0.*aten.atan2"):
        with_io(exported(Function(lambda x: in_float(linear(x)), linear=linear), x), IoTypes.of("int8"))


def test_quantized_io_leaves_the_program_as_it_was():
    program = exported(nn.Linear(4, 4), torch.randn(1, 4))
    before = str(program.graph)
    lower(program, "cortex-m55", io="int8")
    assert str(program.graph) == before


class SharedDequantize(nn.Module):
    """One dequantize read on both sides of an operator that is not delegated."""

    def forward(self, x):
        q = torch.ops.quantized_decomposed
        parameters = (1 / 16, 0, -128, 127, torch.int8)

        def through(y):
            return q.dequantize_per_tensor(q.quantize_per_tensor(y, *parameters), *parameters)

        x = through(x)
        return through(x + through(in_float(through(x * x))))


def test_circles_through_a_shared_dequantize_are_broken():
    x = torch.randn(2, 4)
    result = lower_program(unquantized(SharedDequantize(), x))
    assert len(result.delegates) == 2 and len(result.outside) == 1 and "atan2" in result.outside[0]
    assert same_results(result, x)
    result.edge.to_executorch()
