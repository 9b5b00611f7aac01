"""NaN and infinity are refused wherever numbers come in, and the message says where they are."""

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.samples import InputSpec, load
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.support.finite import flaw, require_finite

SHAPE = (2, 3)
VALUES = [(np.nan, "NaN"), (np.inf, "an infinity"), (-np.inf, "an infinity")]


def bad(value, shape=SHAPE, index=(1, 2)):
    array = np.zeros(shape, np.float32)
    array[index] = value
    return array


@pytest.mark.parametrize("value, words", VALUES)
def test_the_first_element_is_named(value, words):
    array = bad(value)
    array[1, 0] = value
    assert flaw(array) == f"{words} at [1, 0]"
    with pytest.raises(UserError, match=rf"the picture holds {words} at \[1, 0\]"):
        require_finite(array, "the picture")


@pytest.mark.parametrize(
    "array", [np.zeros(3, np.float32), np.zeros(3, np.int8), np.zeros((0, 2), np.float32), np.float32(1e38)]
)
def test_finite_numbers_and_integers_pass(array):
    assert flaw(np.asarray(array)) == ""


def test_scalars_have_no_index():
    assert flaw(np.asarray(np.float32(np.nan))) == "NaN"


@pytest.mark.parametrize("value, words", VALUES)
def test_files(tmp_path, value, words):
    file = tmp_path / "x.npz"
    np.savez(file, a=np.zeros((3, 2), np.float32), b=bad(value, (3, 4), (2, 1)))
    specs = [InputSpec("a", (1, 2)), InputSpec("b", (1, 4))]
    with pytest.raises(UserError, match=rf"x.npz: sample 2 of input b holds {words} at \[0, 1\]"):
        load(file, specs, "inputs")


@pytest.mark.parametrize("value, words", VALUES)
def test_calibration(value, words):
    good = torch.ones(SHAPE)
    with pytest.raises(UserError, match=rf"sample 1 of the calibration data: input 1 holds {words} at \[1, 2\]"):
        compile_model(Sum(), (good, good), "cortex-m4", [(good, good), (good, torch.from_numpy(bad(value)))])


class Sum(nn.Module):
    def forward(self, a, b):
        return a + b


@pytest.fixture(scope="module")
def compiled():
    x = torch.ones(SHAPE)
    return compile_model(Sum(), (x, x), "cortex-m4", [(x, x)])


@pytest.mark.parametrize("value, words", VALUES)
def test_runs(compiled, value, words, tmp_path):
    inputs = [np.ones(SHAPE, np.float32), bad(value)]
    with pytest.raises(UserError, match=rf"input b holds {words} at \[1, 2\]"):
        reference.run(compiled.graph, inputs)
    with pytest.raises(UserError, match=rf"input 1 of set 1 holds {words} at \[1, 2\]"):
        simulate.run(compiled.payload, [[inputs[0], inputs[0]], inputs], tmp_path / "image.elf")
