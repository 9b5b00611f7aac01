"""What became of a sequence of events that a network had to notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """How many events were noticed, taken for others or not at all, and how many reports were of nothing."""

    right: int
    wrong: int
    missed: int
    invented: int

    def __str__(self) -> str:
        count = self.right + self.wrong + self.missed
        return f"{self.right} of {count} ({self.wrong} wrong, {self.missed} missed, {self.invented} invented)"
