"""What a search has to keep: `Limits`, and what an assignment of formats keeps: `Figures`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional

from ..accuracy.report import Arithmetic
from ..support.checked import checked_fields
from ..support.errors import UserError


@dataclass(frozen=True)
class Figures:
    """How exact outputs are: the least signal to noise of an output in dB, None without noise; and with labels the
    number of them, and of those that are right."""

    sqnr: Optional[float]
    rows: int
    right: int

    @staticmethod
    def of(arithmetic: Arithmetic) -> Figures:
        return Figures(arithmetic.sqnr, arithmetic.rows, arithmetic.right)

    @property
    def top1(self) -> Optional[float]:
        return self.right / self.rows if self.rows else None

    def __str__(self) -> str:
        noise = "no noise" if self.sqnr is None else f"{self.sqnr:.2f} dB"
        return noise if self.top1 is None else f"{noise}, {100 * self.top1:.2f} % of {self.rows} labels right"


@checked_fields
@dataclass(frozen=True)
class Limits:
    """min_sqnr: dB of the output with the least. min_top1: the share of labels that are right. max_drop: by how much
    that share may be less than in float, so that 0.01 allows 89 % where the float model has 90 %."""

    min_sqnr: Optional[float] = None
    min_top1: Optional[float] = None
    max_drop: Optional[float] = None

    def __post_init__(self) -> None:
        if (self.min_sqnr, self.min_top1, self.max_drop) == (None, None, None):
            raise UserError("there is nothing to keep: give min_sqnr, min_top1 or max_drop")
        if self.min_sqnr is not None and not math.isfinite(self.min_sqnr):
            raise UserError(f"the least signal to noise is {self.min_sqnr:g}; it must be a finite number of dB")
        for name, share in (("least top-1", self.min_top1), ("largest drop", self.max_drop)):
            if share is not None and not 0 <= share <= 1:
                raise UserError(f"the {name} is {share:g}; it must be a share from 0 to 1")

    @property
    def of_labels(self) -> bool:
        return self.min_top1 is not None or self.max_drop is not None

    def least_right(self, exact: Figures) -> int:
        """Returns how many labels have to be right, next to a float model."""
        # A share of a count is a count again, but for how floats round.
        least = [] if self.min_top1 is None else [self.min_top1 * exact.rows]
        least += [] if self.max_drop is None else [exact.right - self.max_drop * exact.rows]
        return max(0, *(math.ceil(share - 1e-9 * exact.rows) for share in least)) if least else 0

    def kept(self, found: Figures, exact: Figures) -> bool:
        """Returns whether an assignment with the figures `found` keeps the limits, next to a float model."""
        noisy = self.min_sqnr is not None and found.sqnr is not None and found.sqnr < self.min_sqnr
        return not noisy and found.right >= self.least_right(exact)

    def closeness(self, found: Figures, exact: Figures) -> float:
        """Returns a number that is the greater the nearer `found` is to being kept; 0 or more if it is."""
        parts = []
        if self.min_sqnr is not None:
            parts.append(math.inf if found.sqnr is None else found.sqnr - self.min_sqnr)
        if self.of_labels:
            parts.append((found.right - self.least_right(exact)) / max(1, exact.rows))
        return min(parts)

    def __str__(self) -> str:
        parts = [] if self.min_sqnr is None else [f"at least {self.min_sqnr:g} dB"]
        parts += [] if self.min_top1 is None else [f"a top-1 of at least {self.min_top1:g}"]
        parts += [] if self.max_drop is None else [f"a top-1 at most {self.max_drop:g} below that in float"]
        return " and ".join(parts)
