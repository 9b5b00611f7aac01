"""The text of docs/coverage.md, and what can be read back from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.coverage.expected import MCU_FAR, MCU_OUTSIDE
from tests.coverage.mcu_cases import LEFT_OUT
from tests.coverage.mcu_outcome import SETS
from tests.coverage.outcome import CALIBRATED, EVALUATED, Outcome, Sets

_HEAD = """\
<!-- Written by `bazel run //tests/coverage:survey -- --write`. Do not edit. -->
# Coverage
ExecuTorch tests its own operator library for Cortex-M with tables of modules: of operators, of models, and of what its
quantizer decides. These are {number} of {everything}; left out are {left_out}.

Each is compiled as users do by default, for a Cortex-M55, with {sets} sets of data. Set 0 is the example input of the
case, which both calibrates and is compared, as in ExecuTorch's tests. Sets 1 to {last} are drawn from the distribution
of the example's numbers: {calibrated} samples calibrate, and {evaluated} others are compared. Weights are always the
same.

A case counts as "one call" if it is a single delegate call with nothing outside of it in every set. It counts as
"within 1 step" if besides all numbers of all sets are within one step of the output's quantization from the quantized
module in PyTorch, and all indices the same. It counts as "differing" if the delegate under ExecuTorch's runtime on the
host differs from the integer reference in any byte in any set.

| cases | number | one call | within 1 step | differing |
|---|---|---|---|---|
"""

_FAR = """
## Further than one step
The most steps of all sets.

"""

_OUTSIDE = """
## Not one call
Our reason, and the message of the compiler with the first set in which it is so.

"""

_EVERY = """
## Every case
The calls, which are records of the payload, and for each set how many steps the outputs are at most from PyTorch's; "-"
where it is not one call, "i" where an index is another one.

"""


def text(outcomes: Mapping[str, Sets]) -> str:
    """Returns the report on all cases, by name: "FILE/CASE"."""
    files = sorted({_file(name) for name in outcomes})
    rows = [_row(file, [o for name, o in outcomes.items() if _file(name) == file]) for file in files]
    rows.append(_row("**all**", list(outcomes.values())))
    head = _HEAD.format(
        number=len(outcomes),
        everything=len(outcomes) + len(LEFT_OUT),
        left_out=_and([f"`{name.removeprefix('test_')}`, which {reason}" for name, reason in LEFT_OUT.items()]),
        sets=SETS,
        last=SETS - 1,
        calibrated=CALIBRATED,
        evaluated=EVALUATED,
    )
    far = [
        f"- `{name}`, {_worst(o)}: {MCU_FAR[name].reason if name in MCU_FAR else 'unexplained'}\n"
        for name, o in outcomes.items()
        if o.whole and not o.is_near
    ]
    outside = [
        f"- `{name}`: {MCU_OUTSIDE.get(name, 'unexplained')}. {_short(o.worst.reasons[0])}\n"
        for name, o in outcomes.items()
        if not o.whole
    ]
    every = ["| case | calls |" + "".join(f" {number} |" for number in range(SETS)) + "\n", "|---" * (SETS + 2) + "|\n"]
    every += [f"| {name} | {' | '.join(cells(o))} |\n" for name, o in outcomes.items()]
    return "".join([head, *rows, *([_FAR, *far] if far else []), _OUTSIDE, *outside, _EVERY, *every])


def cells(outcome: Sets) -> list[str]:
    """Returns the cells of a case's row: its calls, and those of its sets."""
    calls = max(o.calls for o in outcome.of)
    sets = [_set(o) for o in outcome.of]
    return [str(calls) if calls else "-", *sets, *["-"] * (SETS - len(sets))]


def read(report: str) -> dict[str, list[str]]:
    """Returns the cells of each case's row in a report."""
    rows = re.findall(r"^\| (\w+/\S+) \| (.*) \|$", report, re.MULTILINE)
    return {name: row.split(" | ") for name, row in rows}


def line(name: str, outcome: Sets) -> str:
    """Returns what became of one case."""
    if outcome.whole:
        return f"{name}: one call, {_worst(outcome)} from PyTorch, {outcome.differing_bytes} differing bytes"
    return f"{name}: {'; '.join(outcome.worst.reasons)}"


def summary(outcomes: Mapping[str, Sets]) -> str:
    """Returns the sentence that README.md has about all cases."""
    whole = sum(o.whole for o in outcomes.values())
    near = sum(o.is_near for o in outcomes.values())
    return (
        f"Of {len(outcomes)} cases with which ExecuTorch tests its own Cortex-M library, {whole} become a single "
        f"delegate call, {near} of these within one step of the quantized module in PyTorch"
    )


def _file(name: str) -> str:
    return name.split("/")[0]


def _set(outcome: Outcome) -> str:
    if not outcome.whole:
        return "-"
    return f"{outcome.steps}{'i' if outcome.indices else ''}"


def _worst(outcome: Sets) -> str:
    indices = max(o.indices for o in outcome.of)
    return f"{outcome.steps} step{'s' * (outcome.steps != 1)}" + (f" and {indices} other indices" if indices else "")


def _row(title: str, outcomes: Sequence[Sets]) -> str:
    whole = [o for o in outcomes if o.whole]
    differing = sum(bool(o.differing_bytes) for o in outcomes)
    return f"| {title} | {len(outcomes)} | {len(whole)} | {sum(o.is_near for o in whole)} | {differing} |\n"


def _and(parts: Sequence[str]) -> str:
    return f"{'; '.join(parts[:-1])}; and {parts[-1]}"


def _short(reason: str) -> str:
    return reason if len(reason) <= 160 else reason[:159] + "…"
