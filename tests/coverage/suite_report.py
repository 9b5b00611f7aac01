"""The text of docs/operator_suite.md."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tests.coverage.expected import SUITE_FAR, SUITE_OUTSIDE
from tests.coverage.outcome import CALIBRATED, EVALUATED
from tests.coverage.suite_outcome import SuiteOutcome

_HEAD = """\
<!-- Written by `bazel run //tests/coverage:suite_survey -- --write`. Do not edit. -->
# ExecuTorch's operator suite
ExecuTorch runs these tests with each of its backends. They cover operators and types of numbers that no delegate for
Cortex-M takes, such as writes at indices that are inputs. A case lowers one module or several. The table counts
the modules that are one delegate call; those of which a part is delegated, and those of which nothing is, with a reason
for each operator outside; those refused as a whole, with a message; those with an output that is more than one step
from the quantized module in PyTorch, or with another index; and those in which the delegate under ExecuTorch's runtime
on the host differs from the integer reference in any byte. A crash would be an exception that is no message to users.

All cases are counted: also the 33 that ExecuTorch skips for all of its backends, of numbers that are not finite, which
are refused here, and of writes in place. Each module is compiled as users do by default, for a Cortex-M55, with one set
of data: {calibrated} samples calibrate, drawn from the distribution of the case's input, and the case's own input and
{evaluated} other samples are compared. [Coverage](coverage.md) has cases with several sets.

| operator | cases | modules | one call | in part | none | refused | beyond 1 step | differing | crashes |
|---|---|---|---|---|---|---|---|---|---|
"""

_OUTSIDE = """
## Not one call
Our reason, the number of modules, and the first message of the compiler about them.

"""

_FAR = """
## Beyond 1 step
The most steps of a case's modules, and the reason.

"""

_EVERY = """
## Every case
The columns are those of the first table.

| case | modules | one call | in part | none | refused | beyond 1 step | differing | crashes |
|---|---|---|---|---|---|---|---|---|
"""


def text(outcomes: Mapping[str, SuiteOutcome]) -> str:
    """Returns the report on all cases, by name: "OPERATOR/CASE"."""
    operators = sorted({_operator(name) for name in outcomes})
    rows = [_row(name, [o for case, o in outcomes.items() if _operator(case) == name]) for name in operators]
    rows.append(_row("**all**", list(outcomes.values())))
    reasons = Counter(
        (_operator(name), expected_outside(name), _general(part.reasons[0]))
        for name, o in outcomes.items()
        for part in o.parts
        if not part.whole
    )
    outside = [
        f"- {operator}, {count}: {reason or 'unexplained'}. {message}\n"
        for (operator, reason, message), count in reasons.items()
    ]
    far = [
        f"- `{name}`, {o.steps}: {SUITE_FAR[name].reason if name in SUITE_FAR else 'unexplained'}\n"
        for name, o in outcomes.items()
        if not o.is_near
    ]
    every = [f"| {name} | {' | '.join(map(str, cells([o])))} |\n" for name, o in outcomes.items()]
    head = _HEAD.format(calibrated=CALIBRATED, evaluated=EVALUATED - 1)
    return "".join([head, *rows, _OUTSIDE, *outside, *([_FAR, *far] if far else []), _EVERY, *every])


def expected_outside(name: str) -> str:
    """Returns why a case may have a module that is not one call, "" if it may not."""
    return next((reason for pattern, reason in SUITE_OUTSIDE.items() if fnmatch.fnmatchcase(name, pattern)), "")


def read(report: str) -> dict[str, list[int]]:
    """Returns the numbers in each case's row of a report."""
    rows = re.findall(r"^\| (\w+/\S+) \| (.*) \|$", report, re.MULTILINE)
    return {name: [int(cell) for cell in row.split(" | ")] for name, row in rows}


def cells(outcomes: Sequence[SuiteOutcome]) -> list[int]:
    """Returns the numbers in a row, from "modules" on."""
    parts = [part for outcome in outcomes for part in outcome.parts]
    crashes = sum(len(outcome.crashes) for outcome in outcomes)
    whole = [part for part in parts if part.whole]
    refused = sum(part.refused for part in parts)
    partly = sum(part.is_partly for part in parts)
    return [
        len(parts) + crashes,
        len(whole),
        partly,
        len(parts) - len(whole) - partly - refused,
        refused,
        sum(not part.is_near for part in whole),
        sum(bool(part.differing_bytes) for part in whole),
        crashes,
    ]


def line(name: str, outcome: SuiteOutcome) -> str:
    """Returns what became of one case."""
    parts = [
        f"one call, {part.steps} steps and {part.indices} indices from PyTorch, {part.differing_bytes} differing bytes"
        if part.whole
        else "; ".join(part.reasons)
        for part in outcome.parts
    ]
    return "\n  ".join([f"{name}:", *dict.fromkeys(parts), *(f"CRASH: {crash}" for crash in outcome.crashes)])


def summary(outcomes: Mapping[str, SuiteOutcome]) -> str:
    crashes = sum(len(o.crashes) for o in outcomes.values())
    return f"{sum(o.whole for o in outcomes.values())} of {len(outcomes)} cases are one call each; {crashes} crashes"


def _operator(name: str) -> str:
    return name.split("/")[0]


def _row(title: str, outcomes: Sequence[SuiteOutcome]) -> str:
    return f"| {title} | {len(outcomes)} | {' | '.join(map(str, cells(outcomes)))} |\n"


def _general(reason: str) -> str:
    """Returns a reason without sizes and positions, in which modules of a case differ."""
    return re.sub(r"\[[\d, ]+\]", "[...]", reason)
