"""Exact instruction counts in Renode: hooks at the markers of platforms/bsp/mark.h, and at the end.

A hook runs each time before the instruction at its address, and reads how many instructions the core has
executed. There is a hook wherever the code contains the two bytes of a marker. If these are not an
instruction (but the second half of a longer one, or data), the core never starts an instruction there, and
the hook never runs: exactly the executed markers are recorded, as with QEMU's plugin.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

from sim.elf import Elf

MARK_BEGIN = 0x46C9  # mov r9, r9
MARK_END = 0x46D2  # mov r10, r10
END = 0xBEAB  # bkpt 0xab: the last instruction of bsp_exit()


def script(event: str, path: pathlib.Path) -> str:
    """Returns IronPython code that appends the line "<event> <executed instructions>" to the file `path`.

    It contains no double quote and no backslash, because it becomes a quoted argument of a Monitor command.
    """
    return (
        f"System.IO.File.AppendAllText('{path}', "
        f"'{event} ' + str(cpu.ExecutedInstructions) + System.Environment.NewLine)"
    )


def scripts(elf: Elf, path: pathlib.Path, markers: bool) -> Iterator[tuple[int, str]]:
    """Returns (address, script) of each hook; with `markers`, including those of the regions."""
    codes = {"total": END}
    if markers:
        codes.update(begin=MARK_BEGIN, end=MARK_END)
    for event, code in codes.items():
        for address in elf.code_addresses(code):
            yield address, script(event, path)


def plugin_lines(events: str) -> str:
    """Converts the events to the counts of QEMU's plugin, which does not count markers.

    The plugin also counts the last instruction, which the hook sees before it is executed.
    """
    lines = []
    marks = 0
    for line in events.splitlines():
        event, _, number = line.partition(" ")
        if not number.isdecimal():
            continue
        if event == "total":
            lines.append(f"total {int(number) - marks + 1}")
            break  # From here on the core sleeps, except for its timer.
        lines.append(f"{event} {int(number) - marks}")
        marks += 1
    return "\n".join(lines)
