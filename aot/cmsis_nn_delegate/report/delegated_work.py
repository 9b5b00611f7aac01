"""How much of a model's work is delegated, as data: `work.measure` finds it. Needs no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """How many of `total` are delegated."""

    delegated: int = 0
    total: int = 0

    def plus(self, count: int, delegated: bool) -> Share:
        return Share(self.delegated + (count if delegated else 0), self.total + count)

    @property
    def percent(self) -> str:
        """Returns "98.5 %"; rounded, it is 0 or 100 only if it is exactly that."""
        if self.delegated in (0, self.total):
            return "100 %" if self.delegated else "0 %"
        return f"{min(max(100 * self.delegated / self.total, 0.1), 99.9):.1f} %"


@dataclass(frozen=True)
class Work:
    """The work of one inference: multiplications of layers and of matrix products, operators that compute, and what
    it costs to split the model: calls of the delegate, and bytes of their inputs and outputs together."""

    multiplications: Share = Share()
    operators: Share = Share()
    calls: int = 0
    border_bytes: int = 0

    def __str__(self) -> str:
        """Returns one sentence."""
        operators = f"{self.operators.delegated} of {self.operators.total} operators that compute"
        if self.multiplications.total:
            m = self.multiplications
            operators = f"{m.percent} of {m.total:,} multiplications and {operators}"
        if not self.calls:
            return f"nothing is delegated: {operators}"
        calls = f"{self.calls} call{'s' * (self.calls != 1)}"
        return f"{operators} are delegated, in {calls} with {self.border_bytes:,} bytes of inputs and outputs"
