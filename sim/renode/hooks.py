"""Exact instruction counts in Renode: hooks at the markers of platforms/bsp/mark.h, and at the end.

A hook runs before the instruction at its address, each time, and reads how many instructions the core
has executed. Hooks are put wherever the code has the two bytes of a marker. Where these are not an
instruction (the second half of a longer one, or data), the core never begins an instruction there, and
the hook never runs: what is recorded is exactly what is executed, as with QEMU's plugin.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

from sim.elf import Elf

MARK_BEGIN = 0x46C9  # mov r9, r9
MARK_END = 0x46D2  # mov r10, r10
END = 0xBEAB  # bkpt 0xab: the last thing that bsp_exit() does


def script(event: str, path: pathlib.Path) -> str:
    """IronPython that appends the line "<event> <executed instructions>" to the file `path`.

    No double quote and no backslash: it becomes a quoted argument of a Monitor command.
    """
    return (
        f"System.IO.File.AppendAllText('{path}', "
        f"'{event} ' + str(cpu.ExecutedInstructions) + System.Environment.NewLine)"
    )


def scripts(elf: Elf, path: pathlib.Path, markers: bool) -> Iterator[tuple[int, str]]:
    """(address, script) of each hook; with `markers`, also those of the regions."""
    codes = {"total": END}
    if markers:
        codes.update(begin=MARK_BEGIN, end=MARK_END)
    for event, code in codes.items():
        for address in elf.code_addresses(code):
            yield address, script(event, path)


def plugin_lines(events: str) -> str:
    """The events in the counts of QEMU's plugin, where markers are no instructions.

    The plugin also counts the instruction at the end, which the hook sees before it is executed.
    """
    lines = []
    marks = 0
    for line in events.splitlines():
        event, _, number = line.partition(" ")
        if not number.isdecimal():
            continue
        if event == "total":
            lines.append(f"total {int(number) - marks + 1}")
            break  # The core sleeps from here on, but for its timer.
        lines.append(f"{event} {int(number) - marks}")
        marks += 1
    return "\n".join(lines)
