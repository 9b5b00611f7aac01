"""The stages of the compiler: each step once, what is printed after them, and graphs in errors."""

import collections
import dataclasses
import gc
import weakref

import numpy as np
import pytest
import torch
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.schema import DelegateCall
from torch import nn

from cmsis_nn_delegate import pipeline, reference
from cmsis_nn_delegate.compile import compile_for_targets, compile_model
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.passes import run_passes as passes
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.quantization.calibration import Sequences
from cmsis_nn_delegate.report.explanation import explain
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Function, in_float

make_torch_faster()

X, Y = torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6), torch.linspace(-1, 1, 108).reshape(1, 3, 6, 6)
STAGES = [stage.name for stage in pipeline.STAGES]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def several(a, b):
    """Reads its inputs in another order than it takes them, and returns results in another than it computes."""

    def function(x, y):
        right = b(y)
        left = a(x)
        both = left + right
        return left, torch.relu(both), right, left

    return Function(function, a=a, b=b)


def two_parts():
    first, second = nn.Conv2d(2, 2, 3), nn.Conv2d(2, 2, 3)
    return Function(lambda x: second(in_float(first(x))), first=first, second=second)


def compile_small(module=None, inputs=(X,), calibration=None, **options):
    return compile_model(module or nn.Conv2d(2, 4, 3), inputs, "cortex-m55", calibration or [inputs], **options)


def called(pte):
    """Returns the data of the delegates in a program, in the order in which it calls them."""
    program = deserialize_pte_binary(pte).program
    (plan,) = program.execution_plan
    arguments = [instruction.instr_args for chain in plan.chains for instruction in chain.instructions]
    calls = [plan.delegates[args.delegate_index] for args in arguments if isinstance(args, DelegateCall)]
    return [program.backend_delegate_data[delegate.processed.index].data for delegate in calls]


def a_late_branch_first():
    """Computes first what has operators outside of the delegate before it."""
    first, second = nn.Conv2d(2, 2, 3), nn.Conv2d(2, 2, 3)

    def function(x):
        late = in_float(first(in_float(x)))
        return late, second(x)

    return Function(function, first=first, second=second)


@pytest.mark.parametrize("model", [two_parts, a_late_branch_first])
def test_parts_are_in_the_order_of_the_program(model):
    result = compile_small(model())
    assert len(result.parts) == 2 and result.parts[0].payload != result.parts[1].payload
    assert called(result.pte) == [part.payload for part in result.parts]
    for node, placement in result.placements.items():
        call = result.parts[placement.partition].calls[placement.call]
        assert node in call.node.sources and call.choice.kernel.name == placement.kernel
    for report in result.reports:
        assert report.name not in result.placements or result.placements[report.name].partition == report.partition


def test_a_function_is_placed_where_it_is_computed_rather_than_where_its_result_is_moved_or_rounded():
    convolution, linear = nn.Conv2d(2, 2, 3), nn.Linear(2, 4)
    mean = Function(lambda x: linear(convolution(x).mean((2, 3))), convolution=convolution, linear=linear)
    for module in (mean, convolution):
        calls = {e.function: [call.kernel for call in e.calls] for e in explain(compile_small(module))}
        assert len(calls["aten.conv2d.default"]) == 1 and calls["aten.conv2d.default"][0].startswith("conv2d")
        assert module is convolution or calls["aten.mean.dim"] == ["avg_pool2d"]


def test_a_whole_model_is_its_only_part():
    result = compile_small()
    assert result.parts == (result.encoded,) and called(result.pte) == [result.payload]


@pytest.mark.parametrize("io", ["float", "int8"])
@pytest.mark.parametrize("io_placement", ["arena", "caller"])
def test_the_program_holds_the_payload_that_is_written(io, io_placement):
    module = several(nn.Conv2d(2, 4, 3), nn.Conv2d(3, 4, 3))
    results = compile_for_targets(
        module, (X, Y), ["cortex-m4", "cortex-m55"], [(X, Y)], io=io, io_placement=io_placement
    )
    for result in results:
        assert result.files()["model.payload.bin"] == result.payload
        assert result.pte.count(result.payload) == 1
        view = decode(result.payload)
        assert [tensor.shape[:2] for tensor in view.inputs] == [(1, 2), (1, 3)]
        assert len(view.outputs) == 4
    if io == "float":
        left, both, right, again = reference.run(results[0].graph, [X.numpy(), Y.numpy()])
        wanted = [output.detach().numpy() for output in module(X, Y)]
        for got, want in zip((left, both, right, again), wanted):
            assert np.abs(got - want).max() < 0.05


class Remembering(nn.Module):
    """Remembers what nothing reads."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.register_buffer("last", torch.zeros(X.shape))

    def forward(self, x):
        y = self.conv(x)
        self.last.copy_(y)
        return y


class Summing(nn.Module):
    """Keeps the sum of what it was given since the state began."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3, bias=False)
        nn.init.eye_(self.linear.weight)
        self.register_buffer("total", torch.zeros(1, 3))

    def forward(self, x):
        self.total.copy_(self.total + x)
        return self.linear(self.total)


ONES = [(torch.ones(1, 3),)] * 4


def largest(calibration, **options):
    """Returns the largest number that calibration saw of the sum."""
    found = []
    compile_model(Summing(), ONES[0], "cortex-m4", calibration, observer="minmax", inspect=found.append, **options)
    ranges = [
        observer.max_val for observer in found[0].prepared.children() if getattr(observer, "max_val", None) is not None
    ]
    return max(float(top.max()) for top in ranges if top.numel()), found[0]


def test_each_sequence_begins_with_the_initial_state():
    assert largest(ONES)[0] == 4
    assert largest(Sequences([ONES[:2], iter(ONES[:3]), torch.ones(1, 3)]))[0] == 3


def test_a_single_step_is_calibrated_with_twice():
    """Otherwise what reads the state would see its initial zeros alone."""
    top, compilation = largest(ONES[:1])
    assert top == 2 and compilation.samples.count == 1
    assert largest(Sequences([ONES[:1], ONES[:1]]))[0] == 2


def seeded_linear():
    torch.manual_seed(0)
    return nn.Linear(3, 2)


def test_sequences_for_a_model_without_a_state_are_samples():
    lines = []
    compiled = compile_small(seeded_linear(), ONES[0], calibration=Sequences([ONES[:2], ONES]), progress=lines.append)
    assert compiled.payload == compile_small(seeded_linear(), ONES[0], calibration=ONES).payload
    assert "the model keeps no state: the steps of all sequences are samples by themselves" in lines
    assert "calibrated with 6 samples; quantizing" in lines


def test_errors_name_the_step():
    huge = (torch.full((1, 3), 3e38),)
    with pytest.raises(UserError, match="sample 2 of sequence 1 of the calibration data"):
        largest(Sequences([ONES, [ONES[0], huge, huge]]))


def test_state_that_nothing_reads_does_not_prevent_a_payload():
    result = compile_small(Remembering())
    assert result.obstacle == ""
    assert result.payload in result.pte
    assert len(decode(result.payload).outputs) == 1


def test_every_step_is_done_once(monkeypatch):
    counts = collections.Counter()

    def count(module, name):
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **k: counts.update([name]) or function(*a, **k))

    for name in ("partition", "import_program", "run_passes", "plan", "encode_planned"):
        count(pipeline, name)
    compile_for_targets(two_parts(), (X,), ["cortex-m4", "cortex-m33", "cortex-m55"], [(X,)])
    assert counts == {"partition": 1, "import_program": 2, "run_passes": 2, "plan": 6, "encode_planned": 6}


@pytest.fixture
def questions(monkeypatch):
    """What operators are asked, in order: (method, operator, node, whether the program has data)."""
    asked = []
    for op in set(map(type, OPS.values())):
        for method in ("check", "check_data"):
            question = getattr(op, method)

            def ask(self, node, context, method=method, question=question):
                asked.append((method, self.name, node.name, context.has_data))
                return question(self, node, context)

            monkeypatch.setattr(op, method, ask)
    return asked


def test_each_node_is_checked_once(questions, monkeypatch):
    """ExecuTorch shows the partitioner the program before and after its last decomposition, and the importer gets
    each partition: every node is asked about once for its shapes and parameters, and once for its data."""
    imported = collections.Counter()

    def count(program, import_program=pipeline.import_program, **arguments):
        graph = import_program(program, **arguments)
        imported.update(node.op for node in graph.nodes)
        return graph

    monkeypatch.setattr(pipeline, "import_program", count)
    layers = nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 5)
    result = compile_small(nn.Sequential(*layers, nn.Softmax(1)))
    assert result.obstacle == "" and imported["fully_connected"] == 1 and imported["dequantize"] > 5
    for method in ("check", "check_data"):
        assert collections.Counter(op for name, op, _, _ in questions if name == method) == imported
    assert all(has_data for _, _, _, has_data in questions)


def test_what_stays_outside_is_checked_again_to_name_nodes_of_the_edge_program(questions):
    pool = nn.MaxPool2d(2, stride=2**28)  # refused, so that it is decomposed
    result = compile_small(nn.Sequential(nn.Conv2d(2, 3, 3), pool, nn.Flatten(), nn.Linear(3, 5)))
    (refused,) = (report for report in result.reports if report.reason is Reason.TOO_LARGE)
    asked = [question for question in questions if question[0] == "check"]
    pools = [("check", "max_pool2d", "max_pool2d", True), ("check", "max_pool2d", refused.name, False)]
    assert [question for question in asked if question[1] == "max_pool2d"] == pools
    others = collections.Counter(op for _, op, _, _ in asked)
    assert (others["conv2d"], others["reshape"], others["fully_connected"]) == (1, 1, 1)


def test_float_weights_are_let_go(monkeypatch):
    """Batch norms are folded, which makes a copy of the weights that nothing reads after the comparison."""
    modules = []

    def note(c):
        modules.extend(map(weakref.ref, (c.module, c.prepared, c.converted)))
        pipeline_release(c)

    def partition(c):
        gc.collect()
        assert len(modules) == 3 and not any(module() for module in modules)
        pipeline_partition(c)

    pipeline_release, pipeline_partition = pipeline._release, pipeline._partition
    replaced = {"release": note, "partition": partition}
    stages = (dataclasses.replace(s, run=replaced.get(s.name, s.run)) for s in pipeline.STAGES)
    monkeypatch.setattr(pipeline, "STAGES", tuple(stages))
    compile_small(nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU()))


def test_print_after(capsys):
    result = compile_small(print_after=["all"])
    printed = capsys.readouterr().out
    parts = dict(part.split(":\n", 1) for part in printed.split("After ")[1:])
    assert list(parts) == STAGES
    assert "torch.ops.aten.conv2d" in parts["capture"] and "quantize_per_tensor" in parts["convert"]
    assert "executorch_call_delegate" in parts["partition"]
    assert "= dequantize(%" in parts["import"] and "= conv2d(%" in parts["passes"]
    assert str(result.graph) in parts["passes"]
    assert f"arena of {result.report.arena.nbytes} bytes" in parts["plan"]
    assert f"payload of {len(result.payload)} bytes" in parts["encode"]


def test_print_after_some_stages(capsys):
    compile_small(two_parts(), print_after=["passes", "io"])
    printed = capsys.readouterr().out
    assert printed.count("After ") == 2 and printed.index("After io:") < printed.index("After passes:")
    assert "partition 0: graph(" in printed and "partition 1: graph(" in printed


def test_unknown_stages():
    with pytest.raises(UserError, match=f"no stage 'layout'; choose one of {', '.join(STAGES)}, or all"):
        compile_small(print_after=["layout"])


def break_graph(graph):
    graph.nodes.reverse()


def test_a_pass_that_breaks_a_graph_shows_it(monkeypatch):
    monkeypatch.setattr(passes, "PASSES", (break_graph,))
    with pytest.raises(AssertionError, match="break_graph left an invalid graph") as caught:
        compile_small()
    (note,) = caught.value.__notes__
    assert "= conv2d(%" in note


def test_a_graph_that_cannot_be_encoded_is_shown(monkeypatch):
    def refuse(planned):
        raise ValueError("this is too much")

    monkeypatch.setattr(pipeline, "encode_planned", refuse)
    with pytest.raises(UserError, match="cannot compile model: this is too much") as caught:
        compile_small()
    (note,) = caught.value.__notes__
    assert "= conv2d(%" in note


def test_the_weights_of_several_parts_are_not_copied():
    with pytest.raises(UserError, match="delegated in 2 parts, and a memory can hold the weights of one part only"):
        compile_small(two_parts(), memories=[Memory.of("tcm=1K:weights")], strict=False)


# What an error says that fits, as arguments.
ADVICE = {
    '--prefer ram (prefer="ram")': {"prefer": "ram"},
    "--max-slowdown 50 (max_slowdown=50)": {"max_slowdown": 50},
    '--io-placement caller (io_placement="caller")': {"io_placement": "caller"},
}


@pytest.mark.parametrize("given", [{}, {"prefer": "ram"}], ids=str)
def test_what_helps_a_model_that_does_not_fit_is_true(given):
    layers = nn.Sequential(
        nn.Conv2d(2, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.Conv2d(12, 2, 1)
    )

    def compile_(nbytes, **options):
        x = (torch.linspace(-1, 1, 2 * 8 * 8).reshape(1, 2, 8, 8),)
        memories = [Memory("ram", nbytes)] if nbytes else []
        options = {**given, **options}
        return compile_model(layers, x, "cortex-m4", [x], io="int8", memories=memories, **options)

    # Each option alone, with all the memory that it asks for.
    sizes = {text: compile_(0, **options).encoded.plan.arena_bytes for text, options in ADVICE.items()}
    alone = compile_(0).encoded.plan.arena_bytes
    helped = {text for text, size in sizes.items() if size < alone}
    assert helped or given
    for nbytes in sorted({alone - 16, *(size for size in sizes.values() if size < alone)}):
        with pytest.raises(UserError) as error:
            compile_(nbytes)
        message = str(error.value)
        assert {text for text in ADVICE if text in message} == {t for t in helped if sizes[t] <= nbytes}
        assert f"{alone - nbytes:,} more bytes of ram" in message
    with pytest.raises(UserError, match=r"It fits with [\d,]+ more bytes of ram"):
        compile_(64)
