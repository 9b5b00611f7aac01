"""Limits for a compiled model: `Budget`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from ..support.checked import checked_fields
from ..support.errors import UserError
from .model_report import CallReport, Report

_CAUSES = 3


@checked_fields
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

    def require(self, *parts: Report, whole: bool = True) -> None:
        """UserError says by how much the model exceeds each limit, with the largest causes and what could help; or for
        which calls there is no prediction to compare with the limit of instructions.

        parts: the report of the model, or of each of its delegate calls. ExecuTorch's runtime gives each of them an
        arena while it runs, so that the largest one counts (unless the firmware sets Config::arena_at_init, which takes
        all of them); payloads and instructions add up.
        whole: there is one part, and nothing outside of it. Otherwise the message about instructions says that
        operators outside of the delegate are not counted.
        """
        name, target = parts[0].name, parts[0].target
        if self.instructions is not None and any(part.prediction.instructions is None for part in parts):
            raise UserError(
                f"{name}: it is not known whether {target} needs more than {self.instructions:,} "
                f"instructions, because some calls have no prediction: {_unpredicted(parts)}. Leave out the "
                "limit, or measure with `cmsisnn profile --max-instructions`",
                exit_code=1,
            )
        exceeded = list(self._exceeded(parts, whole))
        if exceeded:
            raise UserError(f"{name} exceeds its budget for {target}: {'; '.join(exceeded)}", exit_code=1)

    def _exceeded(self, parts: Sequence[Report], whole: bool) -> Iterator[str]:
        fullest = max(range(len(parts)), key=lambda index: parts[index].arena.nbytes)
        arena = parts[fullest].arena
        if self.arena is not None and arena.nbytes > self.arena:
            causes = ((buffer.nbytes, buffer.name) for buffer in arena.peak_buffers)
            peak = _call(parts, fullest, parts[fullest].calls[arena.peak_call])
            yield (
                f"{over('the arena', arena.nbytes, self.arena)}. It is full in {peak}, "
                f"whose largest buffers are {largest(causes)}{_arena_advice(parts[0])}"
            )
        calls = _calls(parts)
        flash = sum(part.flash_bytes for part in parts)
        if self.flash is not None and flash > self.flash:
            causes = ((call.constant_bytes, name) for name, call in calls)
            payloads = "the payload" if len(parts) == 1 else f"the flash of {len(parts)} payloads"
            yield (
                f"{over(payloads, flash, self.flash)}. Most constants are those of "
                f"{largest(causes)}{_flash_advice(parts[0])}"
            )
        predicted = sum(part.prediction.instructions or 0 for part in parts)
        if self.instructions is not None and predicted > self.instructions:
            causes = ((call.predicted_instructions or 0, name) for name, call in calls)
            inference = "an inference" if whole else "an inference, without operators outside of the delegate,"
            yield (
                f"{over(inference, predicted, self.instructions, 'predicted instructions')}. Most are those of "
                f"{largest(causes, 'instructions')}"
            )


def over(what: str, count: int, limit: int, unit: str = "bytes") -> str:
    """Returns how much more than its limit something takes."""
    return f"{what} takes {count:,} {unit}, {count - limit:,} more than its limit of {limit:,}"


def _calls(parts: Sequence[Report]) -> list[tuple[str, CallReport]]:
    """Returns the calls of all parts with what to name each."""
    return [(_call(parts, index, call), call) for index, part in enumerate(parts) for call in part.calls]


def _call(parts: Sequence[Report], index: int, call: CallReport) -> str:
    part = f"part {index + 1}, " if len(parts) > 1 else ""
    return f"{part}call {call.index}, {_named(call)}"


def _named(call: CallReport) -> str:
    computed = call.modules or call.lines
    return f"{call.kernel} of {computed[0]}" if computed else call.kernel


def _unpredicted(parts: Sequence[Report]) -> str:
    names = [name for name, call in _calls(parts) if call.predicted_instructions is None]
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
