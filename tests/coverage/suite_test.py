"""What docs/operator_suite.md says is true, for every fortieth case, and what it says to be wrong is expected."""

from pathlib import Path

import pytest

from tests.coverage.expected import SUITE_FAR, SUITE_OUTSIDE
from tests.coverage.suite_cases import cases
from tests.coverage.suite_outcome import outcome_of
from tests.coverage.suite_report import cells, expected_outside, read
from tests.coverage.suite_survey import REPORT

NAMES = list(cases())
ROWS = read(Path(REPORT).read_text(encoding="utf-8"))


def test_the_report_has_every_case():
    assert len(NAMES) == 467 and list(ROWS) == NAMES
    for name, (modules, whole, partly, none, refused, _, differing, crashes) in ROWS.items():
        assert modules == whole + partly + none + refused and differing == crashes == 0, name


def test_what_is_not_one_call_is_expected():
    assert {name for name, row in ROWS.items() if row[1] < row[0]} == {name for name in NAMES if expected_outside(name)}
    used = {expected_outside(name) for name in NAMES}
    assert used - {""} == set(SUITE_OUTSIDE.values()), "a pattern matches nothing"


def test_what_is_further_than_one_step_is_expected():
    assert {name for name, row in ROWS.items() if row[5]} == set(SUITE_FAR)


@pytest.mark.parametrize("name", NAMES[20::40])
def test_case(name):
    outcome = outcome_of(name)
    assert not outcome.crashes, outcome.crashes
    found, reported = cells([outcome]), ROWS[name]
    # What is beyond 1 step may differ: the floating-point numbers of the report are another processor's.
    assert found[:5] + found[6:] == reported[:5] + reported[6:], f"write {REPORT} again: {outcome}"
    assert all(part.whole or part.reasons and all(part.reasons) for part in outcome.parts)
    assert outcome.is_near or outcome.steps <= SUITE_FAR[name].steps
