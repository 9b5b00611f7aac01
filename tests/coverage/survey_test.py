"""Every eighth of ExecuTorch's cases: what docs/coverage.md says to be one call is one, and its results are right."""

import re
from pathlib import Path

import pytest

from tests.coverage.mcu_cases import cases
from tests.coverage.outcome import outcome_of
from tests.coverage.survey import REPORT

NAMES = list(cases())
OUTSIDE = frozenset(re.findall(r"^- `([^`]+)`: ", Path(REPORT).read_text(encoding="utf-8"), re.MULTILINE))


def test_the_report_names_cases():
    assert len(NAMES) > 250 and set(NAMES) >= OUTSIDE


@pytest.mark.parametrize("name", NAMES[::8])
def test_case(name):
    outcome = outcome_of(name)
    assert outcome.whole or name in OUTSIDE, outcome.reasons
    if outcome.whole:
        assert outcome.steps <= 1 and outcome.differing_bytes == 0
    else:
        assert all(outcome.reasons)
