"""Parses the output of a runner of suites."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.suite import Case

_SUITE = re.compile(
    r"^##SUITE kernels=(\S+) core=(\S+) cases=(\d+) failed=(\d+) scratch=(\d+) narrow=(\d+)\s*$", re.MULTILINE
)
_CASE = re.compile(r"^##CASE index=(\d+) (.*?)\s*$", re.MULTILINE)
_SHOWN = 5


@dataclass(frozen=True)
class Outcome:
    """`scratch_checked`: calls whose scratch size was compared with the linked CMSIS-NN's. `narrow`: cases that ran
    again with a kernel for some calls alone."""

    kernels: str
    core: str
    cases: int
    failed: int
    scratch_checked: int
    narrow: int
    problems: tuple[tuple[int, str], ...]  # (case, what)

    def explain(self, cases: Sequence[Case]) -> str:
        lines = [f"{self.failed} of {self.cases} cases fail with {self.kernels} kernels on {self.core}"]
        lines += [f"{cases[index].text}: {what}" for index, what in self.problems[:_SHOWN]]
        return "\n".join(lines)


def parse(text: str) -> Outcome:
    """Parses the output `text`. Raises ValueError if the run did not reach its end."""
    match = _SUITE.search(text)
    if match is None:
        raise ValueError(f"the suite did not run to its end; the output ends with {text[-400:]!r}")
    kernels, core, *numbers = match.groups()
    problems = tuple((int(index), what) for index, what in _CASE.findall(text))
    return Outcome(kernels, core, *map(int, numbers), problems)
