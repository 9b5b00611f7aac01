"""`compile_for_targets` gives each target what `compile_model` gives it alone."""

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.compile import compile_for_targets, compile_model
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

TARGETS = ["cortex-m33+nodsp", "cortex-m55+nofp"]

make_torch_faster()


class Parts(nn.Module):
    """Two parts for the delegate, around what stays outside."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3)
        self.second = nn.Conv2d(4, 3, 3)

    def forward(self, x):
        y = self.first(x)
        return self.second(torch.atan2(y, y))


@pytest.mark.parametrize(
    "module, parts, options",
    [
        (nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU()), 1, {"io": "int8", "io_placement": "caller"}),
        (Parts(), 2, {}),
    ],
    ids=["whole", "in parts"],
)
def test_each_target_gets_the_files_that_it_gets_alone(module, parts, options):
    torch.manual_seed(0)
    x = torch.randn(1, 2, 8, 8)
    lines = []
    together = compile_for_targets(module, (x,), TARGETS, [(x,)], progress=lines.append, **options)
    assert [compiled.target.name for compiled in together] == TARGETS
    for compiled in together:
        alone = compile_model(module, (x,), compiled.target.name, [(x,)], **options)
        assert compiled.pte.count(b"CNND") == alone.pte.count(b"CNND") == parts
        assert compiled.files() == alone.files()
        assert compiled.reports == alone.reports
        assert (compiled.obstacle, compiled.warnings) == (alone.obstacle, alone.warnings)
    # They are of different instruction sets.
    assert together[0].pte != together[1].pte
    # And what takes the time was done once.
    assert lines.count("calibrating") == 1
    assert lines.count(f"partitioning and compiling for {', '.join(TARGETS)}") == 1


def test_no_target_and_unknown_ones():
    x = torch.zeros(1, 2)
    with pytest.raises(UserError, match="no target is given"):
        compile_for_targets(nn.Linear(2, 2), (x,), [], [(x,)])
    with pytest.raises(UserError, match="unknown target 'cortex-m99'"):
        compile_for_targets(nn.Linear(2, 2), (x,), ["cortex-m3", "cortex-m99"], [(x,)])
