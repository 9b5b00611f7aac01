"""The text of docs/operator_suite.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tests.coverage.outcome import Outcome
from tests.coverage.suite_outcome import SuiteOutcome

_HEAD = """\
<!-- Written by `bazel run //tests/coverage:suite_survey -- --write`. Do not edit. -->
# ExecuTorch's operator suite
ExecuTorch runs these tests with each of its backends. They cover operators and types of numbers that no delegate for
Cortex-M takes, such as indices and images of three dimensions. A case lowers one module or several: the table counts
those that are one delegate call; those delegated in part or not at all, with a reason for each operator outside; those
refused as a whole, with a message; those whose outputs are more than one step from the quantized module in PyTorch; and
those in which the delegate under ExecuTorch's runtime differs from the integer reference in any byte. A crash would be
an exception that is no message to users.

The cases include 33 that ExecuTorch skips for all of its backends: of numbers that are not finite, which are refused
here, and of writes in place.

| operator | cases | modules | one call | in part | refused | beyond 1 step | differing | crashes |
|---|---|---|---|---|---|---|---|---|
"""

_OUTSIDE = """
## Not one call
The first reason, and the number of modules with it.

"""

_BEYOND = """
## Beyond 1 step
Recurrent layers read what they have written: a step of difference in one of their sums grows with the length of the
sequence.

"""


def text(outcomes: Mapping[str, SuiteOutcome]) -> str:
    """Returns the report on all cases, by name: "OPERATOR/CASE"."""
    operators = sorted({_operator(name) for name in outcomes})
    rows = [_row(name, [o for case, o in outcomes.items() if _operator(case) == name]) for name in operators]
    rows.append(_row("**all**", list(outcomes.values())))
    reasons = Counter(
        (_operator(name), _general(part.reasons[0]))
        for name, o in outcomes.items()
        for part in o.parts
        if not part.whole
    )
    outside = [f"- {operator}, {count}: {reason}\n" for (operator, reason), count in reasons.items()]
    far = {name: max(_steps(part) for part in o.parts) for name, o in outcomes.items() if o.parts}
    beyond = [f"- `{name}`: {steps}\n" for name, steps in far.items() if steps > 1]
    return _HEAD + "".join(rows) + _OUTSIDE + "".join(outside) + (_BEYOND + "".join(beyond) if beyond else "")


def line(name: str, outcome: SuiteOutcome) -> str:
    """Returns what became of one case."""
    parts = [
        f"one call, {part.steps} steps from PyTorch, {part.differing_bytes} differing bytes"
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
    parts = [part for outcome in outcomes for part in outcome.parts]
    crashes = sum(len(outcome.crashes) for outcome in outcomes)
    refused = sum(part.refused for part in parts)
    whole = sum(part.whole for part in parts)
    cells = (
        title,
        len(outcomes),
        len(parts) + crashes,
        whole,
        len(parts) - whole - refused,
        refused,
        sum(_steps(part) > 1 for part in parts),
        sum(bool(part.differing_bytes) for part in parts),
        crashes,
    )
    return f"| {' | '.join(str(cell) for cell in cells)} |\n"


def _steps(part: Outcome) -> int:
    return part.steps or 0


def _general(reason: str) -> str:
    """Returns a reason without sizes and positions, in which modules of a case differ."""
    return re.sub(r"\[[\d, ]+\]", "[...]", reason)
