"""Limits for a compiled model: `Budget`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Optional

from ...errors import UserError
from .model_report import CallReport, Report

_CAUSES = 3


@dataclass(frozen=True)
class Budget:
    """The most that a model may take; None is no limit. `arena` is for activations and scratch memory, `flash` for the
    payload, in bytes; `instructions` for the predicted ones of all calls of an inference."""

    arena: Optional[int] = None
    flash: Optional[int] = None
    instructions: Optional[int] = None

    def __post_init__(self) -> None:
        for name, limit, unit in (
            ("the arena", self.arena, "bytes"),
            ("the flash", self.flash, "bytes"),
            ("an inference", self.instructions, "instructions"),
        ):
            if limit is not None and limit < 0:
                raise UserError(f"the limit of {name} is {limit} {unit}; give 0 or more")

    def require(self, report: Report) -> None:
        """UserError says by how much the model exceeds each limit, with the largest causes and what could help; or for
        which calls there is no prediction to compare with the limit of instructions."""
        if self.instructions is not None and report.prediction.instructions is None:
            raise UserError(
                f"{report.name}: it is not known whether {report.target} needs more than {self.instructions:,} "
                f"instructions, because some calls have no prediction: {_unpredicted(report)}. Leave out the limit, or "
                "measure with `cmsisnn profile --max-instructions`",
                exit_code=1,
            )
        exceeded = list(self._exceeded(report))
        if exceeded:
            raise UserError(f"{report.name} exceeds its budget for {report.target}: {'; '.join(exceeded)}", exit_code=1)

    def _exceeded(self, report: Report) -> Iterator[str]:
        arena = report.arena
        if self.arena is not None and arena.nbytes > self.arena:
            causes = ((buffer.nbytes, buffer.name) for buffer in arena.peak_buffers)
            peak = report.calls[arena.peak_call]
            yield (
                f"{over('the arena', arena.nbytes, self.arena)}. It is full in call {peak.index}, {_named(peak)}, "
                f"whose largest buffers are {largest(causes)}{_arena_advice(report)}"
            )
        if self.flash is not None and report.flash_bytes > self.flash:
            causes = ((call.constant_bytes, f"call {call.index}, {_named(call)}") for call in report.calls)
            yield (
                f"{over('the payload', report.flash_bytes, self.flash)}. Most constants are those of "
                f"{largest(causes)}{_flash_advice(report)}"
            )
        predicted = report.prediction.instructions
        if self.instructions is not None and predicted is not None and predicted > self.instructions:
            causes = ((call.predicted_instructions or 0, f"call {call.index}, {_named(call)}") for call in report.calls)
            yield (
                f"{over('an inference', predicted, self.instructions, 'predicted instructions')}. Most are those of "
                f"{largest(causes, 'instructions')}"
            )


def over(what: str, count: int, limit: int, unit: str = "bytes") -> str:
    """Returns how much more than its limit something takes."""
    return f"{what} takes {count:,} {unit}, {count - limit:,} more than its limit of {limit:,}"


def _named(call: CallReport) -> str:
    return f"{call.kernel} of {call.sources[-1]}" if call.sources else call.kernel


def _unpredicted(report: Report) -> str:
    names = [f"call {call.index}, {_named(call)}" for call in report.calls if call.predicted_instructions is None]
    return ", ".join(names[:_CAUSES]) + (f" and {len(names) - _CAUSES} more" if len(names) > _CAUSES else "")


def largest(causes: Iterable[tuple[int, str]], unit: str = "bytes") -> str:
    """Returns the names of the largest causes, with what each takes."""
    first = sorted(causes, key=lambda cause: -cause[0])[:_CAUSES]
    return ", ".join(f"{name} with {count:,} {unit}" for count, name in first)


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
