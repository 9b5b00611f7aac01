"""Greedy CTC decoding: of whole sequences, and of sequences that come in parts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.edge.ctc_ops import CTC_GREEDY
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.frontend import CtcGreedyDecoder
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import Function, lower_program, lowered
from cmsis_nn_delegate.testing.networks import random_inputs
from cmsis_nn_delegate.testing.random_case import RandomCase


def decoded(classes: list[int], blank: int) -> list[int]:
    return [number for number, _ in itertools.groupby(classes) if number != blank]


def texts(found: np.ndarray) -> list[list[int]]:
    """The classes of each sequence; -1 is behind them, and nothing else."""
    rows = found.reshape(-1, found.shape[-1]).tolist()
    kept = [[number for number in row if number >= 0] for row in rows]
    assert [row + [-1] * (found.shape[-1] - len(row)) for row in kept] == rows
    return kept


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_each_sequence_is_decoded(seed):
    case = RandomCase(seed)
    op = OPS["ctc_greedy"]
    op.draws[seed % len(op.draws)](case)
    (node,), graph = case.nodes, case.graph(case.nodes[0].output)
    (x,) = random_inputs(graph, seed)
    (found,) = reference.run(graph, [x])
    blank, seen = node.attrs.blank, node.attrs.seen
    # In PyTorch the same, of the numbers that the steps stand for; without earlier steps, what groupby finds.
    reals = (x.astype(np.float64) - node.inputs[0].zero_point) * node.inputs[0].scale
    assert np.array_equal(found, CTC_GREEDY(torch.from_numpy(reals), blank, seen).numpy())
    if seen == 0:
        best = x.reshape(-1, *x.shape[-2:]).argmax(-1).tolist()
        assert texts(found) == [decoded(row, blank) for row in best]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=24), st.integers(1, 5), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_parts_of_a_sequence_are_together_the_whole(classes, steps, blank):
    """Also a class that goes on from one part to the next."""
    classes += [blank] * (-len(classes) % steps)
    scores = torch.eye(4)[classes][None]
    decoder = CtcGreedyDecoder(blank, 4)
    parts = [texts(decoder(part).numpy())[0] for part in scores.split(steps, 1)]
    assert list(itertools.chain(*parts)) == decoded(classes, blank)
    assert texts(CtcGreedyDecoder(blank)(scores).numpy()) == [decoded(classes, blank)]


class Reader(nn.Module):
    def __init__(self, classes=None):
        super().__init__()
        torch.manual_seed(1)
        self.layer, self.decoder = nn.Linear(6, 5), CtcGreedyDecoder(0, classes)

    def forward(self, x):
        return self.decoder(4 * self.layer(x))


def test_a_decoder_that_remembers_is_one_call():
    """It holds the scores of the last step, and decodes parts as the whole: 10 calls of 3 steps."""
    generator = torch.Generator().manual_seed(2)
    # Slow, so that classes go on from one part to the next.
    signal = torch.randn(1, 10, 6, generator=generator).repeat_interleave(3, 1).roll(1, 1)
    parts = [(part,) for part in signal.split(3, 1)]
    compiled = compile_model(Reader(5).eval(), parts[0], "cortex-m4", parts, io="int8", strict=True)
    (part,) = compiled.parts
    assert compiled.report.persistent_bytes == 16  # 5, rounded up
    states = reference.initial_states(part.graph)
    found = []
    for (x,) in parts:
        (classes,) = reference.run(part.graph, [part.graph.inputs[0].type.quantize(x.numpy())], states=states)
        found += texts(classes)[0]
    whole = Reader().eval()
    assert found == texts(whole(signal).numpy())[0] and 3 < len(found) < 12


@pytest.mark.parametrize(
    "make, reason, part",
    [
        (
            lambda: lower_program(torch.export.export(Reader().eval(), (torch.randn(1, 4, 6),))),
            Reason.NOT_QUANTIZED,
            "prepare the model with CmsisNnQuantizer",
        ),
        (
            lambda: lowered(Function(lambda x: CTC_GREEDY(x * 2, 7, 0)), torch.randn(4, 3)),
            Reason.UNSUPPORTED_PARAMETER,
            "blank 7 is not one of 3 classes",
        ),
        (
            lambda: lowered(Function(lambda x: CTC_GREEDY(x * 2, 0, 0)), torch.randn(1, 2, 4, 3)),
            Reason.UNSUPPORTED_SHAPE,
            "reshape them",
        ),
    ],
)
def test_what_is_not_delegated_says_why_and_what_to_do(make, reason, part):
    (report,) = (report for report in make().reports if "ctc_greedy" in report.target)
    assert report.reason is reason and part in report.message, report
    assert "ExecuTorch has no kernel for ctc_greedy" in report.message


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda: CtcGreedyDecoder(-1), "blank is -1"),
        (lambda: CtcGreedyDecoder(5, 5), "blank is 5; it must be one of the 5"),
        (lambda: CtcGreedyDecoder(0, 5)(torch.zeros(2, 3, 5)), r"have to be \[1, steps, 5\]"),
    ],
)
def test_what_does_not_fit_together_is_an_error(make, part):
    with pytest.raises(UserError, match=part):
        make()
