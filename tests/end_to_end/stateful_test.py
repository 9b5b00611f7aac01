"""Stateful programs, in ExecuTorch's runtime on the host, start with the module's initial state."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.errors import UserError
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

LIBRARY = "runtime/libcmsis_nn_delegate.so"
X = torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6)


class Accumulator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(2, 2, 1)
        self.register_buffer("total", torch.full((1, 2, 6, 6), 5.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(self.conv(x))
        return self.total * 2


def test_the_first_and_later_outputs_are_those_of_the_module():
    module = Accumulator()
    program = HostProgram(compile_model(module, (X,), "cortex-m55", [(X,), (X,), (-X,)]).pte, LIBRARY)
    for count, sign in enumerate((1, 1, -1), start=1):
        (got,) = program.run([sign * X.numpy()])
        # The sum keeps the error of each inference, one step of the convolution, twice.
        assert np.abs(got - module(sign * X).detach().numpy()).max() < 0.05 * count


def test_inputs_that_are_not_finite_are_refused():
    program = HostProgram(compile_model(Accumulator(), (X,), "cortex-m55", [(X,)]).pte, LIBRARY)
    for value in (np.nan, np.inf, -np.inf):
        image = X.numpy().copy()
        image[0, 1, 2, 3] = value
        with pytest.raises(UserError, match=r"input 0 of the program holds .* at \[0, 1, 2, 3\]"):
            program.run([image])
