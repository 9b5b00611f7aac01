"""Wrong arguments of the public Python interface: each is an error that names the argument."""

import inspect
import math

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate.accuracy_report import Accuracy, Arithmetic, Part, shortfalls
from cmsis_nn_delegate.board import Board, BoardMemory
from cmsis_nn_delegate.compile import compile_for_targets, compile_model
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.errors import UserError
from cmsis_nn_delegate.partition.partitioner import CmsisNnPartitioner
from cmsis_nn_delegate.payload.planner.memories import Memory
from cmsis_nn_delegate.payload.report.budget import Budget
from cmsis_nn_delegate.quantization.configuration import Configuration, QuantizationConfig
from cmsis_nn_delegate.quantization.convert import convert_trained
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.target import Target

X = torch.zeros(1, 4)


def compile_(**changes):
    arguments = dict(module=nn.Linear(4, 2), example_inputs=(X,), target="cortex-m4", calibration=[(X,)], io="none")
    return compile_model(**{**arguments, **changes})  # an unknown `io` ends it before there is any work


def compile_all(**changes):
    arguments = dict(module=nn.Linear(4, 2), example_inputs=(X,), targets=["cortex-m4"], calibration=[(X,)], io="none")
    return compile_for_targets(**{**arguments, **changes})


FLOAT = Arithmetic("float", "PyTorch", None, 1.0, None, (), 0, 0)
ACCURACY = Accuracy("m", "cortex-m4", "", 1, 0, (FLOAT,), None, "no library", None, ())


class Odd:
    """Is nothing that an argument may be."""


# What can be called, with right arguments.
CALLS = {
    "compile_model": (compile_, {name: None for name in inspect.signature(compile_model).parameters}),
    "compile_for_targets": (compile_all, {name: None for name in inspect.signature(compile_for_targets).parameters}),
    "CmsisNnQuantizer": (CmsisNnQuantizer, {n: None for n in list(inspect.signature(CmsisNnQuantizer).parameters)}),
    "of": (CmsisNnQuantizer.of, dict(configuration=Configuration(), qat=False)),
    "from_file": (CmsisNnQuantizer.from_file, dict(path="x.yaml", qat=False)),
    "set_global": (CmsisNnQuantizer().set_global, dict(config=None)),
    "set_operator_type": (CmsisNnQuantizer().set_operator_type, dict(operator="linear", config=None)),
    "set_module_type": (CmsisNnQuantizer().set_module_type, dict(module_type="Linear", config=None)),
    "set_module_name": (CmsisNnQuantizer().set_module_name, dict(module_name="head", config=None)),
    "set_range": (CmsisNnQuantizer().set_range, dict(name="x", low=0, high=1)),
    "QuantizationConfig": (QuantizationConfig, dict(skip=None, weights=None, activations=None, observer=None)),
    "Memory": (Memory, dict(name="a", nbytes=4096, holds=("activations",))),
    "Memory.of": (Memory.of, dict(text="a=4K")),
    "Budget": (Budget, dict(arena=1, flash=1, instructions=1)),
    "BoardMemory": (BoardMemory, dict(nbytes=1, wait_states=None)),
    "Board": (Board, dict(name="b", core="cortex-m4", memories={})),
    "Board.of": (Board.of, dict(text="b")),
    "Target": (Target, dict(name="t", isa=None)),
    "Part": (Part, dict(number=1, count=2)),
    "shortfalls": (shortfalls, dict(accuracy=ACCURACY, min_top1=None, min_sqnr=None, max_steps=None)),
    "convert_trained": (convert_trained, dict(prepared=None)),
    "CmsisNnPartitioner": (
        lambda **a: CmsisNnPartitioner(**{"target": "cortex-m4", **a}),
        {name: None for name in inspect.signature(CmsisNnPartitioner).parameters},
    ),
    "Compiled.write": (lambda **a: Compiled.write(None, **{"folder": "out", **a}), dict(folder=None, emit=None)),
    "Compiled.files": (lambda **a: Compiled.files(None, **a), dict(emit=None)),
    "Compiled.page": (lambda **a: Compiled.page(None, **a), dict(image=None)),
    "Compiled.require": (lambda **a: Compiled.require(None, **a), dict(budget=None)),
}
LAZY = {"compile_model", "compile_for_targets", "CmsisNnQuantizer", "CmsisNnPartitioner"}  # have all defaults
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
