"""What becomes of a case of ExecuTorch's operator suite: `outcome_of`."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from tests.coverage.outcome import LIBRARY, Outcome, measure
from tests.coverage.suite_cases import cases


@dataclass(frozen=True)
class SuiteOutcome:
    """Of a case: what becomes of each module that it lowers, and what ended with an exception that is no message to
    users, which is a defect."""

    parts: tuple[Outcome, ...]
    crashes: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether each module is one delegate call."""
        return not self.crashes and all(part.whole for part in self.parts)


def outcome_of(name: str) -> SuiteOutcome:
    """Returns what becomes of the case called `name`."""
    parts, crashes = [], []
    for module, inputs in cases()[name]():
        try:
            parts.append(measure(module, inputs, LIBRARY))
        except Exception:  # the survey goes on
            crashes.append(traceback.format_exc())
    return SuiteOutcome(tuple(parts), tuple(crashes))
