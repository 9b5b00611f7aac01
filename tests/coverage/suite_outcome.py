"""What becomes of a case of ExecuTorch's operator suite: `outcome_of`."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from tests.coverage.outcome import Outcome, measure_with_other_data
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

    @property
    def is_near(self) -> bool:
        """Whether each module that is one delegate call is within one step of PyTorch."""
        return all(part.is_near for part in self.parts if part.whole)

    @property
    def steps(self) -> int:
        """The most steps of the modules that are one delegate call."""
        return max((part.steps or 0 for part in self.parts), default=0)


def outcome_of(name: str) -> SuiteOutcome:
    """Returns what becomes of the case called `name`."""
    parts, crashes = [], []
    for index, (module, inputs) in enumerate(cases()[name]()):
        try:
            parts.append(measure_with_other_data(f"{name} {index}", module, inputs))
        except Exception:  # the survey goes on
            crashes.append(traceback.format_exc())
    return SuiteOutcome(tuple(parts), tuple(crashes))
