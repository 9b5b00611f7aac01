"""Wrong arguments of the public Python interface: each is an error that names the argument."""

import importlib
import inspect
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import pytest
import torch
from torch import nn

import cmsis_nn_delegate
from cmsis_nn_delegate.accuracy.measurement import measure
from cmsis_nn_delegate.accuracy.report import Accuracy, Arithmetic, Part, from_json, merged, render, shortfalls
from cmsis_nn_delegate.compile import compile_for_targets, compile_model
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.partition.partitioner import CmsisNnPartitioner
from cmsis_nn_delegate.pipeline import Compilation
from cmsis_nn_delegate.quantization.calibration import Sequences
from cmsis_nn_delegate.quantization.configuration import Configuration, QuantizationConfig
from cmsis_nn_delegate.quantization.convert import convert_trained
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.report.budget import Budget
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.streaming.option import Stream
from cmsis_nn_delegate.support.checked import checked, is_checked, spelled_out
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.board import Board, BoardMemory
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import Target, get_target

X = torch.zeros(1, 4)


def compile_(**changes):
    arguments = dict(module=nn.Linear(4, 2), example_inputs=(X,), target="cortex-m4", calibration=[(X,)], io="none")
    return compile_model(**{**arguments, **changes})  # an unknown `io` ends it before there is any work


def compile_all(**changes):
    arguments = dict(module=nn.Linear(4, 2), example_inputs=(X,), targets=["cortex-m4"], calibration=[(X,)], io="none")
    return compile_for_targets(**{**arguments, **changes})


FLOAT = Arithmetic("float", "PyTorch", None, 1.0, None, (), 0, 0)
ACCURACY = Accuracy("m", "cortex-m4", "", 1, 0, (FLOAT,), None, "no library", None, ())


EXPORTED = torch.export.export(nn.Linear(4, 2), (X,))


def arguments_of(function):
    return list(spelled_out(function)[0].parameters)


class Odd:
    """Is nothing that an argument may be."""


# What can be called, with right arguments.
CALLS = {
    "compile_model": (compile_, dict.fromkeys(arguments_of(compile_model))),
    "compile_for_targets": (compile_all, dict.fromkeys(arguments_of(compile_for_targets))),
    "CmsisNnQuantizer": (CmsisNnQuantizer, {n: None for n in list(inspect.signature(CmsisNnQuantizer).parameters)}),
    "of": (CmsisNnQuantizer.of, dict(configuration=Configuration(), qat=False)),
    "from_file": (CmsisNnQuantizer.from_file, dict(path="x.yaml", qat=False)),
    "set_global": (CmsisNnQuantizer().set_global, dict(config=None)),
    "set_operator_type": (CmsisNnQuantizer().set_operator_type, dict(operator="linear", config=None)),
    "set_module_type": (CmsisNnQuantizer().set_module_type, dict(module_type="Linear", config=None)),
    "set_module_name": (CmsisNnQuantizer().set_module_name, dict(module_name="head", config=None)),
    "set_range": (CmsisNnQuantizer().set_range, dict(name="x", low=0, high=1)),
    "QuantizationConfig": (QuantizationConfig, dict(skip=None, weights=None, activations=None, observer=None)),
    "Sequences": (Sequences, dict(sequences=[[(X,)]])),
    "Stream": (Stream, dict(dim=2, hop=1)),
    "Stream.of": (Stream.of, dict(text="2=1")),
    "Memory": (Memory, dict(name="a", nbytes=4096, holds=("activations",))),
    "Memory.of": (Memory.of, dict(text="a=4K")),
    "Budget": (Budget, dict(arena=1, flash=1, instructions=1)),
    "BoardMemory": (BoardMemory, dict(nbytes=1, wait_states=None)),
    "Board": (Board, dict(name="b", core="cortex-m4", memories={})),
    "Board.of": (Board.of, dict(text="b")),
    "Target": (Target, dict(name="t", isa=None)),
    "Part": (Part, dict(number=1, count=2)),
    "shortfalls": (shortfalls, dict(accuracy=ACCURACY, min_top1=None, min_sqnr=None, max_steps=None)),
    "from_json": (from_json, dict(text="", what="x")),
    "merged": (merged, dict(parts=[ACCURACY])),
    "render": (render, dict(accuracy=ACCURACY, most=5)),
    "get_target": (get_target, dict(name="cortex-m4")),
    "HostProgram": (HostProgram, dict(program=b"", library=None, method="forward")),
    "HostProgram.run": (lambda **a: HostProgram.run(None, **a), dict(inputs=[], channels_last=())),
    "measure": (
        lambda **a: measure(Compilation.__new__(Compilation), None, **a),
        dict(layer_samples=8),
    ),
    "lower": (
        lambda **a: cmsis_nn_delegate.lower(**{"program": EXPORTED, "target": "cortex-m4", **a}),
        dict.fromkeys(arguments_of(cmsis_nn_delegate.lower)),
    ),
    "quantizable_module": (
        lambda **a: cmsis_nn_delegate.quantizable_module(**{"program": EXPORTED, **a}),
        dict(program=None, share_parameters=False),
    ),
    "QuantizationConfig.of": (QuantizationConfig.of, dict(settings={})),
    "QuantizationConfig.over": (QuantizationConfig().over, dict(general=QuantizationConfig())),
    "Memory.list_of": (Memory.list_of, dict(text="")),
    "convert_trained": (convert_trained, dict(prepared=None)),
    "CmsisNnPartitioner": (
        lambda **a: CmsisNnPartitioner(**{"target": "cortex-m4", **a}),
        dict.fromkeys(arguments_of(CmsisNnPartitioner)),
    ),
    "Compiled.write": (lambda **a: Compiled.write(None, **{"folder": "out", **a}), dict(folder=None, emit=None)),
    "Compiled.files": (lambda **a: Compiled.files(None, **a), dict(emit=None)),
    "Compiled.page": (lambda **a: Compiled.page(None, **a), dict(image=None)),
    "Compiled.require": (lambda **a: Compiled.require(None, **a), dict(budget=None)),
}
# What has all other arguments in CALLS.
LAZY = {"compile_model", "compile_for_targets", "CmsisNnQuantizer", "CmsisNnPartitioner", "lower", "quantizable_module"}
CASES = [(name, argument) for name, (_, right) in CALLS.items() for argument in right]


@pytest.mark.parametrize("name, argument", CASES, ids=[f"{n}-{a}" for n, a in CASES])
def test_a_wrong_type_is_an_error_that_names_the_argument(name, argument):
    function, right = CALLS[name]
    named = {"module": "model", "example_inputs": "example inputs", "calibration": "calibration data"}
    others = {} if name in LAZY or name.startswith("Compiled") else right
    with pytest.raises(UserError) as found:
        function(**{**others, **({"io": "float"} if argument in named else {}), argument: Odd()})
    assert named.get(argument, argument) in str(found.value) and "Odd" in str(found.value)


@pytest.mark.parametrize(
    "make, pattern",
    [
        (lambda: compile_(strict="no"), "strict is 'no'; it must be True or False"),
        (lambda: compile_(check=1), "check is 1; it must be True or False"),
        (lambda: compile_(max_flash_growth=math.nan), "max_flash_growth is nan; it must be an integer"),
        (lambda: compile_(max_flash_growth=1.5), "max_flash_growth is 1.5"),
        (lambda: compile_(max_flash_growth=-1), "max_flash_growth is -1"),
        (lambda: compile_(max_slowdown=math.nan), "max_slowdown is nan"),
        (lambda: compile_(max_slowdown=math.inf), "max_slowdown is inf"),
        (lambda: compile_(providers="portable"), "providers is 'portable'; it must be a list, each item a text"),
        (lambda: compile_(memories=["a=4K"]), "memories is .*; it must be a list, each item a Memory"),
        (lambda: compile_(name=""), "cannot be the name of a model"),
        (lambda: compile_(target=5), "target is 5"),
        (lambda: Memory("a", 4096.5), "nbytes of a Memory is 4096.5; it must be an integer"),
        (lambda: Memory("a", True), "nbytes of a Memory is True"),
        (lambda: Memory("a", 0), "give 1 to"),
        (lambda: Memory("a", 4, "weights"), "holds of a Memory is 'weights'"),
        (lambda: CmsisNnQuantizer().set_operator_type(5, None), "operator is 5; it must be a text or"),
        (
            lambda: CmsisNnQuantizer().set_module_type(int, None),
            "module_type is of type type; it must be a text or a class",
        ),
        (lambda: CmsisNnQuantizer().set_range("x", math.nan, 1), "low is nan; it must be a number"),
        (lambda: CmsisNnQuantizer().set_range("x", -math.inf, 1), "impossible"),
        (lambda: Budget(arena=math.nan), "arena of a Budget is nan"),
        (lambda: Budget(flash=-1), "give 0 or more"),
        (lambda: Part(3, 2), "does not exist"),
    ],
)
def test_an_impossible_value_is_an_error(make, pattern):
    with pytest.raises(ValueError, match=pattern):
        make()


def test_numbers_of_numpy_and_lists_are_taken():
    memory = Memory("a", np.int64(4096), ["weights", "activations"])
    assert type(memory.nbytes) is int and memory.holds == ("activations", "weights")
    quantizer = CmsisNnQuantizer().set_range("x", np.float32(0), 1).set_module_type(nn.Linear, None)
    assert quantizer.configuration.ranges == {"x": (0.0, 1.0)}


def test_what_is_iterated_over_is_checked_when_it_is_used():
    @checked()
    def total(numbers: Iterable[int]) -> int:
        return sum(numbers)

    assert total(number for number in (1, 2)) == total(iter([1, 2])) == total({1: 2, 2: 3}.keys()) == total([1, 2]) == 3
    with pytest.raises(UserError, match="item 1 of what is iterated over is 'x'; it must be an integer"):
        total(item for item in (1, "x"))
    for text in ("ab", 5, {1: 2}):
        with pytest.raises(UserError, match="numbers is .*; it must be a list, each item an integer"):
            total(text)


class Keywords(TypedDict, total=False):
    size: int
    names: Sequence[str]


@checked()
def with_options(first: int, *, last: bool = False, **options: Unpack[Keywords]) -> dict:
    return {"first": first, "last": last, **options}


def test_options_by_name_are_checked_one_by_one():
    assert with_options(np.int64(1), names=["a"]) == {"first": 1, "last": False, "names": ("a",)}
    with pytest.raises(UserError, match="size is 'x'; it must be an integer"):
        with_options(1, size="x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'sizes'"):
        with_options(1, sizes=3)
    assert arguments_of(with_options) == ["first", "last", "size", "names"]


# Callables of the reference whose arguments are not checked, and why.
UNCHECKED = {
    "CmsisNnBackend": "ExecuTorch makes it",
    "CmsisNnBackend.preprocess": "ExecuTorch calls it",
    "CmsisNnPartitioner.partition": "ExecuTorch calls it",
    "CmsisNnPartitioner.ops_to_not_decompose": "ExecuTorch calls it",
    "CmsisNnPartitioner.transform_for_pre_decomposition": "called with what ExecuTorch lowers",
    "CmsisNnQuantizer.annotate": "torchao calls it",
    "CmsisNnQuantizer.validate": "torchao calls it",
    "CmsisNnQuantizer.transform_for_annotation": "torchao calls it",
    "Compiled": "compile_model makes it",
    "Compiled.put": "takes what `files` returned",
    "Report": "compile_model makes it",
    "UserError": "raised here only",
    "QuantizationConfig": "checks its settings itself",
    "BoxDecoder.forward": "PyTorch calls it",
    "CtcGreedyDecoder.forward": "PyTorch calls it",
    "DetectionSmoother.forward": "PyTorch calls it",
    "LogMel.forward": "PyTorch calls it",
    "Mfcc.forward": "PyTorch calls it",
    "NonMaxSuppression.forward": "PyTorch calls it",
    "Pcen.forward": "PyTorch calls it",
    "VariableLength": "checks its layer itself",
    "VariableLength.forward": "PyTorch calls it",
}


def callables():
    """Yields the names of public functions, classes and methods that take arguments, and what they are."""
    text = Path("docs/reference/python.md").read_text(encoding="utf-8")
    names = dict.fromkeys((*re.findall(r"^.. auto(?:function|class|exception):: (\S+)", text, re.MULTILINE),))
    for name in names:
        module, _, name = name.rpartition(".")
        found = getattr(importlib.import_module(module or "cmsis_nn_delegate"), name)
        yield name, found
        for member, value in vars(found).items() if inspect.isclass(found) else ():
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, staticmethod)):
                yield f"{name}.{member}", getattr(found, member)


def takes_arguments(name, found):
    parameters = inspect.signature(found.__init__ if inspect.isclass(found) else found).parameters
    return [parameter for parameter in parameters if parameter != "self"] != []


def test_all_public_callables_check_their_arguments():
    found = {name: value for name, value in callables() if takes_arguments(name, value)}
    assert {"compile_model", "lower", "Board.of", "Compiled.write", "get_target", "Memory"} <= found.keys()
    assert {name for name in cmsis_nn_delegate.__all__ if callable(getattr(cmsis_nn_delegate, name))} <= {
        name for name, _ in callables()
    }
    unchecked = {
        name for name, value in found.items() if not is_checked(value.__init__ if inspect.isclass(value) else value)
    }
    assert unchecked == UNCHECKED.keys()


def test_no_layer_can_be_measured_on_no_samples():
    for count in (0, -3):
        with pytest.raises(UserError, match=f"layer_samples is {count}; give 1 or more"):
            measure(Compilation.__new__(Compilation), [], layer_samples=count)
