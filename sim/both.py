"""The choice "both": runs an image in Renode and in QEMU, and compares the results."""

from __future__ import annotations

import dataclasses
import re

from sim import simulator
from sim.regions import Region
from sim.simulator import Result, Simulator, SimulatorError

_TICKS = re.compile(r"\bticks=\d+")
# Before June 2026, Renode took faults to their own handlers that the architecture makes HardFaults.
_EXCEPTION = re.compile(r"^##FAULT exception=\d+", re.MULTILINE)


def _comparable(uart: str) -> str:
    return _EXCEPTION.sub("##FAULT exception=?", _TICKS.sub("ticks=?", uart))


class Disagreement(SimulatorError):
    """The simulators gave different results for one image and job."""


def _counts(regions: list[Region]) -> list:
    return [[region.instructions, _counts(region.children)] for region in regions]


def _first_difference(one: str, other: str) -> str:
    lines, others = one.splitlines(), other.splitlines()
    for number, (line, its) in enumerate(zip(lines, others), 1):
        if line != its:
            return f"line {number}: {line[:200]!r} and {its[:200]!r}"
    return f"{len(lines)} and {len(others)} lines"


def result_differences(one: Result, other: Result) -> list[str]:
    """Returns the differences in how the run ended and in what the firmware wrote, except times and exception
    numbers."""
    if one.status != other.status:
        return [f"status: {one.status!r} and {other.status!r}"]
    if one.status != "exit" and None in (one.exit_code, other.exit_code):
        return []  # Neither output is complete: both runs were stopped, or a core that was lost wrote nothing.
    differences = []
    if one.exit_code != other.exit_code:
        differences.append(f"exit code: {one.exit_code} and {other.exit_code}")
    texts = _comparable(one.uart), _comparable(other.uart)
    if texts[0] != texts[1]:
        differences.append(f"UART: {_first_difference(*texts)}")
    return differences


def count_differences(one: Result, other: Result) -> list[str]:
    """Returns the differences in executed instructions; none if one of the simulators did not count."""
    if one.regions is None or other.regions is None:
        return []
    differences = []
    counts = _counts(one.regions), _counts(other.regions)
    if counts[0] != counts[1]:
        differences.append(f"instructions of regions: {counts[0]} and {counts[1]}")
    # Reading the time waits a few instructions while the counter is 0. Right after start-up this happens only
    # in QEMU. Regions do not read the time then.
    timeless = not _TICKS.search(one.uart)
    if timeless and one.total_instructions != other.total_instructions:
        differences.append(f"instructions of the run: {one.total_instructions} and {other.total_instructions}")
    return differences


class Both(Simulator):
    """Needs both simulators."""

    def __init__(self, renode: Simulator, qemu: Simulator):
        self._renode = renode
        self._qemu = qemu

    def require(self, elf):
        self._renode.require(elf)
        self._qemu.require(elf)

    def run(self, elf, board, job, timeout_s, count):
        """Returns Renode's result; its note says what was compared. Disagreement if QEMU's differs."""
        one = self._renode.run(elf, board, job, timeout_s, count)
        other = self._qemu.run(elf, board, job, timeout_s, count)
        names = f"{one.simulator} and {other.simulator}"
        differences = result_differences(one, other) + count_differences(one, other)
        if differences:
            raise Disagreement("\n".join([f"{names} disagree on {elf.path.name}", *differences]))
        if one.regions is None or other.regions is None:
            compared = "instructions were not compared: " + (one.counter_note or other.counter_note)
        else:
            compared = "equal instruction counts"
        core = one.core if one.core == other.core else f"{one.core} and a {other.core}"
        return dataclasses.replace(one, simulator=names, core=core, simulator_note=f"equal results; {compared}")

    def interactive_command(self, elf, board, job_path, gdb_port):
        raise SimulatorError("a session on the terminal runs in one simulator: use //sim:renode or //sim:qemu")


def create() -> Both:
    """Raises SimulatorError if one of them is missing."""
    return Both(simulator.create("renode"), simulator.create("qemu"))
