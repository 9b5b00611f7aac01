import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.report.delegated_work import Share, Work
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Function, in_float

make_torch_faster()


def work_of(module, *inputs):
    return compile_model(module, inputs, "cortex-m4", [inputs], observer="minmax", check=False).work


def test_a_network_that_is_delegated_as_a_whole():
    convolution, linear = nn.Conv2d(3, 8, 3, padding=1, groups=1), nn.Linear(8 * 16, 5)
    work = work_of(nn.Sequential(convolution, nn.ReLU(), nn.Flatten(), linear), torch.randn(2, 3, 4, 4))
    multiplications = 2 * 8 * 16 * 27 + 2 * 5 * 128
    assert work.multiplications == Share(multiplications, multiplications)
    assert work.operators.delegated == work.operators.total == 2
    assert (work.calls, work.border_bytes) == (1, 4 * (2 * 3 * 16 + 2 * 5))


def test_work_outside_of_the_delegate_counts():
    """Two halves with a function between them that no kernel computes."""
    first, second = nn.Linear(16, 32), nn.Linear(32, 4)
    halves = Function(lambda x: second(in_float(first(x))), first=first, second=second)
    work = work_of(halves, torch.randn(1, 16))
    assert work.multiplications == Share(16 * 32 + 32 * 4, 16 * 32 + 32 * 4)
    assert work.operators == Share(2, 3)
    assert (work.calls, work.border_bytes) == (2, 4 * (16 + 32 + 32 + 4))
    assert str(work) == (
        "100 % of 640 multiplications and 2 of 3 operators that compute are delegated, in 2 calls with 336 bytes of "
        "inputs and outputs"
    )


def test_layers_that_stay_in_float_are_counted():
    work = work_of(
        Function(lambda x, w: F.relu(F.conv_transpose3d(x, w))), torch.randn(1, 1, 4, 4, 4), torch.randn(1, 2, 3, 3, 3)
    )
    assert work.multiplications == Share(0, 2 * 64 * 27)
    assert work.calls == work.border_bytes == 0
    assert str(work).startswith("nothing is delegated: 0 % of 3,456 multiplications and 0 of ")


class Remembering(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("past", torch.zeros(1, 4, 3))

    def forward(self, x):
        window = torch.cat([self.past, x[..., None]], -1)
        self.past.copy_(window[..., 1:])
        return self.layer(window.sum(-1))


def test_states_that_a_call_holds_cross_no_border():
    x = torch.randn(1, 4)
    work = compile_model(Remembering(), (x,), "cortex-m4", [(x,), (x + 1,)], io="int8").work
    assert (work.calls, work.border_bytes) == (1, 4 + 4)


def test_a_share_is_whole_or_nothing_only_if_it_is():
    assert [Share(n, 10_000).percent for n in (0, 1, 5_000, 9_999, 10_000)] == [
        "0 %",
        "0.1 %",
        "50.0 %",
        "99.9 %",
        "100 %",
    ]
    assert str(Work(operators=Share(0, 3))) == "nothing is delegated: 0 of 3 operators that compute"
