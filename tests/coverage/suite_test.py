"""Every fortieth case of ExecuTorch's operator suite: what docs/operator_suite.md says of it is true."""

import re
from pathlib import Path

import pytest

from tests.coverage.suite_cases import cases
from tests.coverage.suite_outcome import outcome_of
from tests.coverage.suite_survey import REPORT

NAMES = list(cases())
ROWS = re.findall(r"^\| (\w+) \|(.*)\|$", Path(REPORT).read_text(encoding="utf-8"), re.MULTILINE)
ROWS = {name: [int(cell) for cell in cells.split("|")] for name, cells in ROWS if name != "operator"}


def test_the_report_has_every_case():
    assert len(NAMES) == 467 == sum(row[0] for row in ROWS.values())
    assert {name.split("/")[0] for name in NAMES} == set(ROWS)
    assert all(row[1] == sum(row[2:5]) and row[-1] == row[-2] == 0 for row in ROWS.values())


@pytest.mark.parametrize("name", NAMES[20::40])
def test_case(name):
    outcome = outcome_of(name)
    assert outcome.parts and not outcome.crashes, outcome.crashes
    row = ROWS[name.split("/")[0]]
    assert outcome.whole or row[2] < row[1], outcome
    for part in outcome.parts:
        assert part.differing_bytes == 0 if part.whole else part.reasons and all(part.reasons)
        assert not part.whole or part.steps <= 1 or row[5]
