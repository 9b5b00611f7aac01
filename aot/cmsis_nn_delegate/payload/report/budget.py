"""Limits for the memory of a compiled model: `Budget`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Optional

from ...errors import UserError
from .model_report import CallReport, Report

_CAUSES = 3


@dataclass(frozen=True)
class Budget:
    """The most bytes that a model may take; None is no limit. `arena` is for activations and scratch memory, `flash`
    for the payload."""

    arena: Optional[int] = None
    flash: Optional[int] = None

    def __post_init__(self) -> None:
        for name, limit in (("arena", self.arena), ("flash", self.flash)):
            if limit is not None and limit < 0:
                raise UserError(f"the limit of the {name} is {limit} bytes; give 0 or more")

    def require(self, report: Report) -> None:
        """UserError says by how much the model exceeds each limit, with the largest causes and what could help."""
        exceeded = list(self._exceeded(report))
        if exceeded:
            raise UserError(f"{report.name} exceeds its budget for {report.target}: {'; '.join(exceeded)}", exit_code=1)

    def _exceeded(self, report: Report) -> Iterator[str]:
        arena = report.arena
        if self.arena is not None and arena.nbytes > self.arena:
            causes = ((buffer.nbytes, buffer.name) for buffer in arena.peak_buffers)
            peak = report.calls[arena.peak_call]
            yield (
                f"{_over('the arena', arena.nbytes, self.arena)}. It is full in call {peak.index}, {_named(peak)}, "
                f"whose largest buffers are {_largest(causes)}{_arena_advice(report)}"
            )
        if self.flash is not None and report.flash_bytes > self.flash:
            causes = ((call.constant_bytes, f"call {call.index}, {_named(call)}") for call in report.calls)
            yield (
                f"{_over('the payload', report.flash_bytes, self.flash)}. Most constants are those of "
                f"{_largest(causes)}{_flash_advice(report)}"
            )


def _over(what: str, nbytes: int, limit: int) -> str:
    return f"{what} takes {nbytes:,} bytes, {nbytes - limit:,} more than its limit of {limit:,}"


def _named(call: CallReport) -> str:
    return f"{call.kernel} of {call.sources[-1]}" if call.sources else call.kernel


def _largest(causes: Iterable[tuple[int, str]]) -> str:
    largest = sorted(causes, key=lambda cause: -cause[0])[:_CAUSES]
    return ", ".join(f"{name} with {nbytes:,} bytes" for nbytes, name in largest)


def _arena_advice(report: Report) -> str:
    advice = [] if report.prefer == "ram" else ["--prefer ram"]
    advice += (
        []
        if report.arena.io_placement == "caller"
        else ["--io-placement caller, if the caller keeps the inputs and outputs"]
    )
    return f". Try {' or '.join(advice)}" if advice else ""


def _flash_advice(report: Report) -> str:
    return "" if report.prefer == "flash" else ". Try --prefer flash"
