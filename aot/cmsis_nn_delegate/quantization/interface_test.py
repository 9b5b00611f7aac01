"""Every form in which a model may take and return tensors, and data for it."""

import itertools
import re
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchao.quantization import IntxWeightOnlyConfig, quantize_

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization import calibration
from cmsis_nn_delegate.quantization.calibration import Sequences
from cmsis_nn_delegate.quantization.interface import Inputs, check_model, make_flat, required_names
from cmsis_nn_delegate.support import heartbeat
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

A, B, C = (torch.linspace(-1, 1, 6).reshape(2, 3) + i for i in range(3))
Pair = namedtuple("Pair", "first second")


@dataclass
class Record:
    first: torch.Tensor


class Model(nn.Module):
    """`function(model, ...)` as forward; `p` is a parameter, `b` a buffer."""

    def __init__(self, function):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.p = nn.Parameter(torch.ones(3))
        self.register_buffer("b", torch.ones(2))
        function = function.__get__(self)
        self.forward = function


def flat(model, examples):
    inputs = Inputs.of(model, examples)
    module = torch.export.export(model, inputs.args, inputs.kwargs).module(check_guards=False)
    notes = make_flat(module)
    return inputs, module, notes


# What forward takes ---------------------------------------------------------


def two(self, x, y):
    return self.linear(x) - self.linear(y)


def nested(self, x, pair):
    return self.linear(self.linear(x) + self.linear(pair[0]) + self.linear(pair[0]) + self.linear(pair[1]["k"]))


def keywords(self, x, *, y=None, z):
    return self.linear(x) - self.linear(z) * (0.5 if y is None else 2.0)


def several(self, *xs, scale=1.0):
    return sum(self.linear(x) * (i + scale) for i, x in enumerate(xs))


TAKES = {
    "tuple": (two, (A, B), ["x", "y"]),
    "list": (two, [A, B], ["x", "y"]),
    "dict": (two, {"x": A, "y": B}, ["x", "y"]),
    "dict in another order": (two, {"y": A, "x": B}, ["x", "y"]),
    "arrays": (two, (A.numpy(), B.numpy()), ["x", "y"]),
    "nested": (nested, (A, (B, {"k": C})), ["x", "pair_0", "pair_1_k"]),
    "nested, by name": (nested, {"pair": (B, {"k": C}), "x": A}, ["x", "pair_0", "pair_1_k"]),
    "keywords": (keywords, {"x": A, "z": B, "y": C}, ["x", "y", "z"]),
    "keywords left out": (keywords, {"x": A, "z": B}, ["x", "z"]),
    "None": (lambda self, x, y=None: self.linear(x) if y is None else x, (A, None), ["x"]),
    "a number": (lambda self, x, factor: self.linear(x) * factor, (A, 2.5), ["x"]),
    "a number first": (lambda self, count, x: self.linear(x) + count, (3, A), ["x"]),
    "a flag by name": (
        lambda self, x, twice=False: self.linear(x) * (2 if twice else 1),
        {"x": A, "twice": True},
        ["x"],
    ),
    "text in a structure": (lambda self, x, by: getattr(self.linear(x), by[0])(), (A, ["relu"]), ["x"]),
    "variadic": (several, (A, B, C), ["xs_0", "xs_1", "xs_2"]),
    "the same tensor twice": (two, (A, A), ["x", "y"]),
}


@pytest.mark.parametrize("form", TAKES)
def test_structures_are_taken_apart(form):
    function, examples, names = TAKES[form]
    model = Model(function)
    inputs, module, notes = flat(model, examples)
    assert sorted(inputs.names) == sorted(names) and notes == []
    placeholders = [node.target for node in module.graph.nodes if node.op == "placeholder"]
    assert placeholders == list(inputs.names)
    changed = [x + i for i, x in enumerate(inputs.tensors)]
    again = dict(zip(inputs.names, changed))
    if form == "the same tensor twice":
        wanted = model.linear(again["x"]) - model.linear(again["y"])
    else:
        flat_, spec = torch.utils._pytree.tree_flatten((inputs.args, inputs.kwargs))
        rest = iter(changed)
        args, kwargs = torch.utils._pytree.tree_unflatten(
            [next(rest) if isinstance(x, torch.Tensor) else x for x in flat_], spec
        )
        wanted = model(*args, **kwargs)
    (got,) = module(*changed)
    torch.testing.assert_close(got, wanted)
    # A sample of the same structure is brought into the same order.
    for a, b in zip(inputs.flatten(examples, "it"), inputs.tensors):
        torch.testing.assert_close(a, b)


UNUSABLE = {
    "a tensor": (A, "got a single tensor"),
    "nothing": ((), "do not fit the model, whose forward takes x, y: missing"),
    "too few": ((A,), "forward takes x, y: missing a required argument: 'y'"),
    "too many": ((A, B, C), "forward takes x, y: too many"),
    "another name": ({"x": A, "w": B}, "forward takes x, y"),
    "only numbers": ((2, 3), "no example inputs"),
    "text": ("x", "got str"),
    "None": (None, "got NoneType|got None"),
    "an iterator": (iter([A]), "got list_iterator"),
    "an object": ((A, object()), "example input 1 is object"),
    "float64": ((A, B.double()), "example input 1 is float64.*float32"),
    "an array of float64": ((A, B.double().numpy()), "example input 1 is float64.*astype"),
    "int16": ((A, B.short()), r"example input 1 is int16.*int64 or int32 for indices.*\.long\(\)"),
    "an array of bytes": ((A, B.numpy().astype("uint8")), "example input 1 is uint8.*astype"),
    "inside of a structure": ((A, [B, {"k": B.half()}]), r"example input 1\[1\]\['k'\] is float16"),
    "by name": ({"x": A, "y": B.half()}, "example input 1 is float16"),
    "sparse": ((A, B.to_sparse()), "example input 1 is a torch.sparse_coo tensor"),
    "keys": ({0: A}, "keys of the dict"),
}


@pytest.mark.parametrize("form", UNUSABLE)
def test_unusable_example_inputs(form):
    examples, pattern = UNUSABLE[form]
    with pytest.raises(UserError, match=pattern):
        Inputs.of(Model(two), examples)


@pytest.mark.parametrize("names", [("x", "y"), ("y", "x")])
def test_exported_programs_take_names_and_positions(names):
    program = torch.export.export(Model(two), (A, B))
    by_name = Inputs.of(program, dict(zip(names, (A, B))))
    assert by_name.names == ("x", "y")
    assert torch.equal(by_name.tensors[0], (A, B)[names.index("x")])
    assert Inputs.of(program, (A, B)).names == ("x", "y")
    program = torch.export.export(Model(keywords), (A,), {"z": B, "y": C})
    names = Inputs.of(program, (A, B, C)).names
    assert set(names) == {"x", "z", "y"}
    assert Inputs.of(program, {"y": C, "x": A, "z": B}).names == names
    with pytest.raises(UserError, match="exported program, which takes x"):
        Inputs.of(program, (A,))


@pytest.mark.parametrize(
    "function, names",
    [(two, ["x", "y"]), (keywords, ["x", "z"]), (several, ["scale"]), (lambda self, x=None, y=None: x, ["x"])],
)
def test_names_of_inputs_that_are_required(function, names):
    assert required_names(Model(function)) == names


def small_weights():
    model = nn.Sequential(nn.Linear(8, 2))
    quantize_(model, IntxWeightOnlyConfig(weight_dtype=torch.int4))
    return model


@pytest.mark.parametrize(
    "model, pattern",
    [
        (nn.Linear(2, 2).half(), "weight of the model is float16: .*float"),
        (nn.Linear(2, 2).to(torch.complex64), "weight of the model is complex64"),
        (nn.Linear(2, 2).to("meta"), "weight of the model is on device meta"),
        (nn.Linear(2, 2).state_dict(), "the model is OrderedDict; give a torch.nn.Module"),
        (two, "the model is function"),
        (nn.Linear, "the model is type"),
        (None, "the model is None"),
        (
            torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2)),
            "TopLevelTracedModule of TorchScript .* give the torch.nn",
        ),
        (small_weights(), "0.weight of the model is of type Intx.*quantize_ .* as it was before, .* --quantizer w4"),
    ],
)
def test_what_is_no_model(model, pattern):
    with pytest.raises(UserError, match=pattern):
        check_model(model)


# What forward returns -------------------------------------------------------

RETURNS = {
    "a tensor": (lambda self, x: self.linear(x), 1, []),
    "a tuple": (lambda self, x: (self.linear(x), x.relu()), 2, []),
    "a list": (lambda self, x: [self.linear(x)], 1, []),
    "a dict": (lambda self, x: {"b": self.linear(x), "a": x.relu()}, 2, []),
    "nested": (lambda self, x: ([self.linear(x)], {"a": (x.relu(),)}), 2, []),
    "a named tuple": (lambda self, x: Pair(self.linear(x), None), 1, ["output 1 is None"]),
    "torch.return_types.max": (lambda self, x: torch.max(self.linear(x), dim=1), 2, []),
    "torch.return_types.sort": (lambda self, x: (torch.sort(x, dim=1), x.relu()), 3, []),
    "torch.return_types.topk": (lambda self, x: torch.topk(x, 2), 2, []),
    "None": (lambda self, x: (self.linear(x), None), 1, ["output 1 is None"]),
    "None first": (lambda self, x: (None, self.linear(x)), 1, ["output 0 is None"]),
    "numbers": (lambda self, x: (3, self.linear(x), 1.5, True), 1, ["the constant 3", "1.5", "True"]),
    "text": (lambda self, x: (self.linear(x), "label"), 1, ["output 1 is the constant 'label'"]),
    "a shape": (lambda self, x: (self.linear(x), x.shape), 1, ["constant 2", "constant 3"]),
    "an input": (lambda self, x: (self.linear(x), x), 2, []),
    "the same twice": (lambda self, x: [self.linear(x)] * 2, 2, []),
    "views": (lambda self, x: (self.linear(x), x.view(-1)), 2, []),
    "a parameter": (lambda self, x: (self.linear(x), self.p), 2, []),
    "a buffer": (lambda self, x: (self.linear(x), self.b), 2, []),
    "a constant": (lambda self, x: (self.linear(x), torch.ones(2)), 2, []),
}


@pytest.mark.parametrize("form", RETURNS)
def test_results_are_taken_apart(form):
    function, count, left_out = RETURNS[form]
    model = Model(function)
    _, module, notes = flat(model, (A,))
    leaves = torch.utils._pytree.tree_leaves(model(B))
    wanted = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    got = module(B)
    assert isinstance(got, tuple) and len(got) == len(wanted) == count
    for a, b in zip(got, wanted):
        torch.testing.assert_close(a, b)
    assert len(notes) == len(left_out) and all(a in b for a, b in zip(left_out, notes)), notes


@pytest.mark.parametrize("form", [None, (), {}, 3, (None, 3)])
def test_models_that_return_no_tensor(form):
    with pytest.raises(UserError, match="forward returns no tensor"):
        flat(Model(lambda self, x: form), (A,))


def compiled(function, examples=(A,), data=None, **options):
    data = [examples] if data is None else data
    return compile_model(Model(function), examples, "cortex-m55", data, observer="minmax", **options)


@pytest.mark.parametrize(
    "form, obstacle",
    [
        ("torch.return_types.max", ""),
        ("a dict", ""),
        ("numbers", ""),
        ("an input", "output 1 is an input, x,"),
        ("a parameter", "output 1 is a constant, p_p|output 1 is a constant"),
    ],
)
def test_results_of_every_structure_are_compiled(form, obstacle):
    result = compiled(RETURNS[form][0])
    assert re.search(obstacle, result.obstacle) and bool(obstacle) == bool(result.obstacle), result.obstacle


def test_dataclasses_are_refused_with_what_to_do():
    with pytest.raises(UserError, match="torch.export cannot export.*Record"):
        compiled(lambda self, x: Record(self.linear(x)))


def test_nested_inputs_are_compiled():
    torch.manual_seed(0)
    result = compiled(nested, (A, (B, {"k": C})))
    assert [value.name for value in result.graph.inputs] == ["x", "pair_0", "pair_1_k"]
    (got,) = reference.run(result.graph, [x.numpy() for x in (A, B, C)])
    wanted = result.program.module(check_guards=False)(A, B, C)[0].numpy()
    assert np.abs(got - wanted).max() < 2 * result.graph.nodes[-1].inputs[0].quant.scale[0]


# Calibration data -----------------------------------------------------------


def read(data, examples=(A,), function=lambda self, x: self.linear(x)):
    calibration.check(data)
    return list(itertools.chain(*calibration.read(data, Inputs.of(Model(function), examples))))


SIX = torch.arange(18.0).reshape(6, 3)


def generator():
    for i in range(3):
        yield (SIX[2 * i : 2 * i + 2],)


class Indexed:
    """A data set of the old kind: __getitem__ and no __iter__."""

    def __getitem__(self, index):
        if index == 3:
            raise IndexError
        return (SIX[2 * index : 2 * index + 2],)


FORMS = {
    "a list of tuples": [(SIX[:2],), (SIX[2:4],), (SIX[4:],)],
    "a list of lists": [[SIX[:2]], [SIX[2:4]], [SIX[4:]]],
    "a list of tensors": [SIX[:2], SIX[2:4], SIX[4:]],
    "a list of arrays": [SIX[:2].numpy(), (SIX[2:4].numpy(),), SIX[4:].numpy()],
    "a list of dicts": [{"x": SIX[:2]}, {"x": SIX[2:4]}, {"x": SIX[4:]}],
    "a generator": generator,
    "a tensor": SIX,
    "an array": SIX.numpy(),
    "more rows": [(SIX[:4],), (SIX[4:],)],
    "arrays by name": {"x": SIX.numpy()},
    "tensors by position": {"input0": SIX},
    "a DataLoader": DataLoader(TensorDataset(SIX), batch_size=2),
    "a DataLoader of other batches": DataLoader(TensorDataset(SIX), batch_size=4),
    "a data set": Indexed(),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_calibration_data(form):
    data = FORMS[form]
    samples = read(data() if callable(data) else data)
    assert [len(sample) for sample in samples] == [1, 1, 1]
    assert torch.equal(torch.cat([sample[0] for sample in samples]), SIX)


@pytest.mark.parametrize("form", FORMS)
def test_progress_names_the_sample(form):
    data = FORMS[form]() if callable(FORMS[form]) else FORMS[form]
    (sequence,) = calibration.read(data, Inputs.of(Model(lambda self, x: x), (A,)))
    places = [heartbeat.place() for _ in sequence]
    if "of other" in form or form == "more rows":  # of which one gives several samples
        assert places == [f"sample {number}{' of 2' * (form == 'more rows')}" for number in (1, 1, 2)]
    else:
        unknown = form in ("a generator", "a DataLoader", "a data set")
        assert places == [f"sample {number}{'' if unknown else ' of 3'}" for number in (1, 2, 3)]
    assert not heartbeat.place()


def test_npz_files_as_numpy_opens_them(tmp_path):
    np.savez(tmp_path / "x.npz", x=SIX.numpy(), y=-SIX.numpy())
    with np.load(tmp_path / "x.npz") as archive:
        samples = read(archive, (A, B), two)
    assert len(samples) == 3 and all(torch.equal(x, -y) for x, y in samples)


def raising():
    yield (A,)
    raise OSError("disk gone")


WRONG = {
    "None": (None, (A,), "calibration data is missing"),
    "a path": ("x.npz", (A,), "calibration data is 'x.npz'; give the samples: numpy.load"),
    "a number": (3, (A,), "calibration data is int; give an iterable"),
    "an iterator that raises": (raising, (A,), "sample 1 of|sample 1 cannot be read: OSError: disk gone"),
    "labels": (
        DataLoader(TensorDataset(SIX, torch.arange(6)), batch_size=2),
        (A,),
        r"sample 0 of the calibration data has 2 items, but the model takes 1 input \(x\).*label",
    ),
    "another type": ([(A,), (B.double(),)], (A,), "input x of sample 1 of the calibration data is float64"),
    "int labels": ([A.long()], (A,), "input x of sample 0 of the calibration data is int64, and .* float32"),
    "another shape": (
        [(A,), (A[:, :2],)],
        (A,),
        r"sample 1 .* has shapes \[\[2, 2\]\], the model's inputs \[\[2, 3\]\]",
    ),
    "rows left over": ([(SIX[:3],)], (A,), r"sample 0 .* has shapes \[\[3, 3\]\].*multiple"),
    "one tensor for two inputs": (SIX, (A, B), r"is one tensor, but the model takes 2 inputs \(x, y\)"),
    "tensors for two inputs": ([A, B], (A, B), "sample 0 .* is one tensor, but the model takes 2 inputs"),
    "different rows": ([(SIX, A)], (A, B), "sample 0 .* has shapes"),
    "another structure": ([((A,), B)], (A, B), r"structured in another way .*\(\(tensor\), tensor\)|structured"),
    "too few": ([(A,)], (A, B), "sample 0 .*missing a required argument: 'y'"),
    "text": (["x"], (A,), "sample 0 of the calibration data is str"),
    "a name that is not there": ({"z": SIX, "w": SIX}, (A,), "has no array 'x' or 'input0'.*holds z, w"),
    "lists by name": ({"x": [1, 2]}, (A,), "item 'x' is list, not an array"),
}


@pytest.mark.parametrize("form", WRONG)
def test_calibration_data_that_is_refused(form):
    data, examples, pattern = WRONG[form]
    function = two if len(examples) == 2 else (lambda self, x: self.linear(x))
    with pytest.raises(UserError, match=pattern):
        read(data() if callable(data) else data, examples, function)


def test_numbers_are_those_of_the_example_inputs():
    def scaled(self, x, factor):
        return self.linear(x) * factor

    model = Model(scaled)
    inputs = Inputs.of(model, (A, 2.0))
    assert torch.equal(inputs.flatten((B, 2.0), "sample 0")[0], B)
    with pytest.raises(UserError, match="sample 0 has the value 3.0 where the example inputs have 2.0"):
        inputs.flatten((B, 3.0), "sample 0")
    with pytest.raises(UserError, match="sample 0 is structured in another way"):
        inputs.flatten((B, A), "sample 0")
    result = compile_model(model, (A, 2.0), "cortex-m55", [(A, 2.0), (B, 2.0)], observer="minmax")
    (got,) = reference.run(result.graph, [A.numpy()])
    with torch.no_grad():
        torch.testing.assert_close(torch.from_numpy(got), model(A, 2.0), atol=0.1, rtol=0)


# The command line -----------------------------------------------------------

FILE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x, pair, *, z):
        return {"sum": self.linear(x) + self.linear(pair["a"]), "other": (self.linear(z), None)}

X = torch.ones(1, 3)

def by_name():
    return Net(), {"x": X, "pair": {"a": 2 * X}, "z": 3 * X}

def exported():
    net, examples = by_name()
    return torch.export.export(net, (examples["x"], examples["pair"]), {"z": examples["z"]})
"""


@pytest.mark.parametrize("function", ["by_name", "exported"])
def test_structures_on_the_command_line(tmp_path, function, capsys):
    (tmp_path / f"net_{function}.py").write_text(FILE)
    model = f"{tmp_path}/net_{function}.py:{function}"
    assert main(["explain", model, "--target", "cortex-m4", "--strict"]) == 0
    arrays = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    np.savez(tmp_path / "x.npz", x=arrays, pair_a=arrays, z=arrays)
    arguments = ["--calibration", f"{tmp_path}/x.npz", "-o", str(tmp_path), "--strict", "--name", "net"]
    assert main(["compile", model, "--target", "cortex-m4", *arguments]) == 0
    assert main(["run", f"{tmp_path}/net", "--inputs", f"{tmp_path}/x.npz"]) == 0
    out = capsys.readouterr().out
    assert "output 2 is None" in out and "output1: float32[4, 4]" in out


# Sequences -------------------------------------------------------------------


def sequences_of(data, examples=(A,)):
    sequences = calibration.read(Sequences(data), Inputs.of(Model(lambda self, x: self.linear(x)), examples))
    return [[sample[0] for sample in sequence] for sequence in sequences]


@pytest.mark.parametrize("form", FORMS)
def test_a_sequence_has_any_form_of_calibration_data(form):
    data = FORMS[form]
    first, second = sequences_of([data() if callable(data) else data, [SIX[2:4]]])
    assert torch.equal(torch.cat(first), SIX) and torch.equal(torch.cat(second), SIX[2:4])


def test_sequences_are_read_one_after_the_other():
    """They may be generators, of a generator."""
    read_so_far = []

    def steps(number):
        for step in range(number + 1):
            read_so_far.append((number, step))
            yield SIX[:2]

    inputs = Inputs.of(Model(lambda self, x: self.linear(x)), (A,))
    for number, sequence in enumerate(calibration.read(Sequences(map(steps, range(3))), inputs)):
        for step, _ in enumerate(sequence):
            assert read_so_far[-1] == (number, step) and heartbeat.place() == f"sample {step + 1}"
    assert len(read_so_far) == 6


def fails():
    raise KeyError("no such recording")
    yield


@pytest.mark.parametrize(
    "data, message",
    [
        ([[SIX[:2]], []], "sequence 1 of the calibration data is empty: leave it out"),
        ([[SIX[:2]], 3], "sequence 1 of the calibration data is int; give an iterable of samples"),
        ([None], "sequence 0 of the calibration data is missing"),
        ([[SIX[:2], SIX[:3]]], r"sample 1 of sequence 0 of the calibration data has shapes \[\[3, 3\]\]"),
        ([[SIX[:2] * torch.nan]], "sample 0 of sequence 0 of the calibration data: input 0"),
        ([fails()], "sequence 0 of the calibration data: sample 0 cannot be read: KeyError"),
        ([{"x": SIX, "y": 3}], "sequence 0 of the calibration data: item 'y' is int"),
        (fails(), "calibration data: sequence 0 cannot be read: KeyError: 'no such recording'"),
    ],
)
def test_unusable_sequences(data, message):
    with pytest.raises(UserError, match=message):
        sequences_of(data)


@pytest.mark.parametrize("data", ["x.npz", {"x": SIX}, 3, None])
def test_what_is_no_iterable_of_sequences(data):
    with pytest.raises(UserError, match=f"Sequences has {type(data).__name__}; give an iterable of sequences"):
        Sequences(data)
