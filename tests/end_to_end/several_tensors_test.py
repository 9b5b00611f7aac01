"""Programs with several inputs and outputs, in ExecuTorch's runtime on the host, keep the module's order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

LIBRARY = "runtime/libcmsis_nn_delegate.so"
X, Y = torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6), torch.linspace(-1, 1, 108).reshape(1, 3, 6, 6)


class Several(nn.Module):
    """Reads its inputs in a different order than its arguments, and returns its results in a different order than it
    computes them, one of them twice, and an index."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Conv2d(2, 4, 3), nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        right = self.second(y)
        left = self.first(x)
        return left, torch.relu(left + right), right, left, right.argmax(1)


@pytest.mark.parametrize("io_placement", ["arena", "caller"])
@pytest.mark.parametrize("io", ["float", "int8"])
def test_inputs_and_outputs_are_in_the_order_of_the_module(io, io_placement):
    module = Several()
    compiled = compile_model(module, (X, Y), "cortex-m55", [(X, Y)], io=io, io_placement=io_placement)
    assert compiled.payload in compiled.pte
    inputs = [X.numpy(), Y.numpy()]
    if io == "int8":
        inputs = [value.type.quantize(x) for value, x in zip(compiled.graph.inputs, inputs)]
    got = HostProgram(compiled.pte, LIBRARY).run(inputs)
    wanted = reference.run(compiled.graph, inputs)
    assert len(got) == len(wanted) == 5
    for a, b, exact in zip(got, wanted, module(X, Y)):
        assert a.tobytes() == b.tobytes()
        assert (a.dtype == np.int64) == (exact.dtype == torch.int64)
        if a.dtype == np.float32:
            assert np.abs(a - exact.detach().numpy()).max() < 0.05


def test_an_index_that_is_in_no_row_of_its_table_is_an_error():
    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.layer = nn.Embedding(20, 4), nn.Linear(4, 3)

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return self.layer(self.words(x[:, 1:]).mean(1)) + y

    x, y = torch.randint(0, 20, (1, 5)), torch.randn(1, 3)
    compiled = compile_model(Words(), (x, y), "cortex-m4", [(x, y)], observer="minmax", io="int8")
    kinds = [value.element.value for value in compiled.graph.inputs]
    assert kinds == ["int64", "int8"]
    program = HostProgram(compiled.pte, LIBRARY)
    steps = compiled.graph.inputs[1].type.quantize(y.numpy())
    indices = x.numpy().copy()
    for place, index in ((0, -1), (1, 20), (4, -1), (2, 2**32)):
        indices[:] = x.numpy()
        indices[0, place] = index
        if place:
            with pytest.raises(UserError, match="failed"):
                program.run([indices, steps])
        else:  # which nothing looks up
            (wanted,) = reference.run(compiled.graph, [indices, steps])
            assert program.run([indices, steps])[0].tobytes() == wanted.tobytes()
