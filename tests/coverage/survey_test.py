"""What docs/coverage.md says is true, for each case with one of its sets of data, and what it says to be wrong is
expected."""

import re
from pathlib import Path

import pytest

from tests.coverage.expected import MCU_FAR, MCU_OUTSIDE
from tests.coverage.mcu_cases import cases
from tests.coverage.mcu_outcome import outcome_of, sampled_set
from tests.coverage.mcu_report import cells, read
from tests.coverage.survey import REPORT

NAMES = list(cases())
TEXT = Path(REPORT).read_text(encoding="utf-8")
ROWS = read(TEXT)


def test_the_report_has_every_case():
    assert list(ROWS) == NAMES and len(NAMES) == 292


def test_what_is_not_one_call_is_expected():
    assert {name for name, row in ROWS.items() if "-" in row} == set(MCU_OUTSIDE)


def test_what_is_further_than_one_step_is_expected():
    far = {name: [cell for cell in row[1:] if cell not in ("0", "1")] for name, row in ROWS.items() if "-" not in row}
    assert {name for name, beyond in far.items() if beyond} == set(MCU_FAR)
    for name, (steps, reason) in MCU_FAR.items():
        assert reason and max(int(cell.rstrip("i")) for cell in far[name]) <= steps


def test_the_readme_has_the_numbers_of_the_report():
    ((number, whole, near, differing),) = re.findall(r"\| \*\*all\*\* \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", TEXT)
    assert differing == "0"
    readme = " ".join(Path("README.md").read_text(encoding="utf-8").split())
    assert f"Of {number} cases with which ExecuTorch tests its own Cortex-M library, {whole} become" in readme
    assert f"{near} of these within one step" in readme


@pytest.mark.parametrize("name", NAMES)
def test_case(name):
    number = sampled_set(name)
    sets = outcome_of(name, [number])
    (outcome,) = sets.of
    if not outcome.whole:
        assert name in MCU_OUTSIDE and outcome.reasons and all(outcome.reasons)
    else:
        assert outcome.differing_bytes == 0
        # Steps may differ from those in the report, whose floating-point numbers are another processor's.
        assert outcome.is_near or outcome.steps <= MCU_FAR[name].steps
    calls, cell, *_ = cells(sets)
    reported = ROWS[name][1 + number]
    assert (cell == "-") == (reported == "-") and (cell == "-" or calls == ROWS[name][0]), f"write {REPORT} again"
