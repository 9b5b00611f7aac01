"""The text of docs/coverage.md."""

from __future__ import annotations

from collections.abc import Mapping

from tests.coverage.outcome import Outcome

_HEAD = """\
<!-- Written by `bazel run //tests/coverage:survey -- --write`. Do not edit. -->
# Coverage
ExecuTorch tests its own operator library for Cortex-M with tables of modules. This is what becomes of them here:
how many are a single delegate call with nothing outside of it; how many of these are within one step of the
quantized module in PyTorch; and in how many the delegate under ExecuTorch's runtime on the host differs from the
integer reference in any byte.

| cases | number | one call | within 1 step | differing |
|---|---|---|---|---|
"""

_FURTHER = """
## Further than one step
Every operator alone is within one step. Where several follow each other, a step of one becomes more in the next.

| case | calls | steps |
|---|---|---|
"""

_OUTSIDE = """
## Not one call
The first reason of each.

"""


def text(outcomes: Mapping[str, Outcome]) -> str:
    """Returns the report on all cases, by name: "FILE/CASE"."""
    files = sorted({name.split("/")[0] for name in outcomes})
    rows = [_row(file, [o for name, o in outcomes.items() if name.startswith(file + "/")]) for file in files]
    rows.append(_row("**all**", list(outcomes.values())))
    outside = [f"- `{name}`: {_short(o.reasons[0])}\n" for name, o in outcomes.items() if not o.whole]
    further = [f"| {name} | {o.calls} | {o.steps} |\n" for name, o in outcomes.items() if o.whole and not _is_near(o)]
    parts = [_HEAD, *rows, *([_FURTHER, *further] if further else []), _OUTSIDE, *outside]
    return "".join(parts)


def line(name: str, outcome: Outcome) -> str:
    """Returns what became of one case."""
    if outcome.whole:
        return f"{name}: one call, {outcome.steps} steps from PyTorch, {outcome.differing_bytes} differing bytes"
    return f"{name}: {'; '.join(outcome.reasons)}"


def _row(title: str, outcomes: list[Outcome]) -> str:
    whole = [o for o in outcomes if o.whole]
    near = sum(map(_is_near, whole))
    differing = sum(bool(o.differing_bytes) for o in whole)
    return f"| {title} | {len(outcomes)} | {len(whole)} | {near} | {differing} |\n"


def _is_near(outcome: Outcome) -> bool:
    return outcome.steps is not None and outcome.steps <= 1


def _short(reason: str) -> str:
    return reason if len(reason) <= 160 else reason[:159] + "…"
