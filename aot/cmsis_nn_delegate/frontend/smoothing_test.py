"""Smoothed and debounced detections next to a counter in Python."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.frontend import DetectionSmoother
from cmsis_nn_delegate.support.errors import UserError

FRESH, THRESHOLD = 0.3, 0.6


def counted(scores: np.ndarray, quiet: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns [steps, classes] which are detected, and the means, of scores [steps, classes]."""
    mean, wait = np.zeros(scores.shape[1]), quiet
    found, means = [], []
    for step in scores:
        mean = (1 - FRESH) * mean + FRESH * step
        detected = (mean > THRESHOLD) & (wait == 0)
        wait = quiet if detected.any() else max(wait - 1, 0)
        found.append(detected)
        means.append(mean)
    return np.array(found), np.array(means)


def spoken(steps: int, seed: int) -> torch.Tensor:
    """Scores [steps, 3] of which one after the other is near 1, in some steps for long, and noise."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(0, 4, (steps // 12 + 1,), generator=generator).repeat_interleave(12)[:steps]
    return (torch.eye(4)[words, :3] * 0.95 + 0.05 * torch.rand(steps, 3, generator=generator)).float()


@given(st.integers(0, 2**32 - 1), st.integers(0, 50))
@settings(max_examples=30, deadline=None)
def test_floats_are_those_of_a_counter(seed, quiet):
    scores = spoken(120, seed)
    smoother = DetectionSmoother(3, FRESH, THRESHOLD, quiet)
    found = torch.cat([smoother(step[None]) for step in scores]).numpy()
    wanted, means = counted(scores.double().numpy(), quiet)
    if np.abs(means - THRESHOLD).min() > 1e-5:
        assert np.array_equal(found, wanted.astype(np.float32))


class Scored(nn.Module):
    def __init__(self, quiet):
        super().__init__()
        self.smoother = DetectionSmoother(3, FRESH, THRESHOLD, quiet)

    def forward(self, x):
        return self.smoother(torch.sigmoid(x))


@pytest.mark.parametrize("quiet", [0, 7, 50])
def test_the_call_holds_the_means_and_counts_exactly(quiet):
    """260 steps; where a mean is within a step of 8 bits of the threshold, both answers are right."""
    steps = [(torch.logit(scores[None], 1e-3),) for scores in spoken(260, 1)]
    module = Scored(quiet).eval()
    compiled = compile_model(copy.deepcopy(module), steps[0], "cortex-m4", steps, io="int8", strict=True)
    (part,) = compiled.parts
    assert compiled.report.persistent_bytes == (32 if quiet else 16)
    (x,), (y,) = part.graph.inputs, part.graph.outputs
    states = reference.initial_states(part.graph)
    found, wait, mean = [], quiet, np.zeros(3)
    for (step,) in steps:
        given_ = x.type.quantize(step.numpy())
        (result,) = reference.run(part.graph, [given_], states=states)
        detected = (result[0].astype(int) - y.zero_point) * y.scale > 0.5
        mean = (1 - FRESH) * mean + FRESH * torch.sigmoid(step).numpy()[0]
        for one, value in zip(detected, mean):
            if abs(value - THRESHOLD) > 0.02:
                assert bool(one) == (wait == 0 and value > THRESHOLD)
        wait = quiet if detected.any() else max(wait - 1, 0)
        found.append(detected.any())
    assert 2 < sum(found) < 250


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda: DetectionSmoother(3, fresh=0.0), "from 2.-10 to 1"),
        (lambda: DetectionSmoother(0), "at least 1"),
        (lambda: DetectionSmoother(3, quiet=51), "from 0 to 50"),
        (lambda: DetectionSmoother(3)(torch.zeros(1, 2)), r"have to be \[1, 3\]"),
    ],
)
def test_what_does_not_fit_together_is_an_error(make, part):
    with pytest.raises(UserError, match=part):
        make()
