from __future__ import annotations

import pytest
import torch

from cmsis_nn_delegate.edge.selection_ops import SELECTIONS, TOPK_INDICES, TOPK_VALUES


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("shape, dim, count", [((5,), 0, 5), ((3, 40), 1, 7), ((4, 9, 6), 1, 9), ((2, 3, 4, 5), -3, 2)])
def test_they_are_those_of_topk(shape, dim, count, largest):
    torch.manual_seed(0)
    x = torch.randn(shape)
    for op, function in SELECTIONS.items():
        assert torch.equal(op(x, count, dim, largest), function(x, count, dim, largest))
        torch.library.opcheck(op, (x, count, dim, largest))


def test_the_first_of_equal_numbers_comes_first():
    x = torch.tensor([1.0, 3.0, 1.0, 3.0, 2.0])
    assert TOPK_INDICES(x, 5, 0, True).tolist() == [1, 3, 4, 0, 2]
    assert TOPK_INDICES(x, 5, 0, False).tolist() == [0, 2, 4, 1, 3]


def test_chosen_numbers_have_a_gradient():
    torch.manual_seed(1)
    x = torch.randn(3, 8, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: TOPK_VALUES(x, 5, 1, False), (x,))
