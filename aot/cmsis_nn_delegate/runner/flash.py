"""Writes an image to the flash of a board, with a tool of the user's: `flash`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Union

from ..support.errors import UserError

TIMEOUT_S = 300.0
_LINES = 10  # of a tool's output, in the message of an error


@dataclass(frozen=True)
class _Tool:
    """A program, and its commands for a chip and an image; what they name as chip, with an example."""

    program: str
    commands: Callable[[str, str], Sequence[Sequence[str]]]
    chip: str


def _openocd(configurations: str, image: str) -> list[list[str]]:
    files = [part for name in configurations.split(",") for part in ("-f", name)]
    return [[*files, "-c", f"program {{{image}}} verify reset exit"]]


def _jlink(chip: str, script: str) -> list[list[str]]:
    connect = ["-device", chip, "-if", "SWD", "-speed", "4000", "-autoconnect", "1"]
    return [[*connect, "-NoGui", "1", "-ExitOnError", "1", "-CommandFile", script]]


# Each says when it could not write, and resets the board at the end.
TOOLS = {
    "pyocd": _Tool("pyocd", lambda chip, image: [["flash", "--target", chip, image]], "a target: stm32l4r5zitx"),
    "openocd": _Tool("openocd", _openocd, "its files, with commas: interface/stlink.cfg,target/stm32l4x.cfg"),
    "probe-rs": _Tool(
        "probe-rs",
        lambda chip, image: [["download", "--chip", chip, "--verify", image], ["reset", "--chip", chip]],
        "a chip: STM32L4R5ZITx",
    ),
    "jlink": _Tool("JLinkExe", _jlink, "a device: STM32L4R5ZI"),
}


def parse(text: str) -> tuple[str, str]:
    """Returns the tool and the chip of "TOOL:CHIP". ValueError, which says what to write, if it is not that."""
    name, _, chip = text.partition(":")
    if name not in TOOLS:
        raise ValueError(f"{text!r}: write TOOL:CHIP, where TOOL is one of {', '.join(TOOLS)}")
    if not chip:
        raise ValueError(f"{text!r}: write {name}:CHIP, where CHIP is {TOOLS[name].chip}")
    return name, chip


def flash(image: Union[str, Path], tool_and_chip: str, progress: Callable[[str], None] = lambda line: None) -> None:
    """Writes `image` with the tool that `tool_and_chip` names, "pyocd:stm32l4r5zitx" for example, and resets the board.

    UserError if there is no such image or tool, or if the tool fails; the message has the end of what it said.
    """
    try:
        name, chip = parse(tool_and_chip)
    except ValueError as error:
        raise UserError(str(error)) from error
    path = Path(image).absolute()
    if not path.is_file():
        raise UserError(f"there is no image {image}")
    program = shutil.which(TOOLS[name].program)
    if program is None:
        there = [other for other, tool in TOOLS.items() if shutil.which(tool.program)]
        raise UserError(
            f"{TOOLS[name].program} is not on PATH: install it"
            + (f", or use {' or '.join(there)}, which is installed" if there else "")
        )
    progress(f"writing {path.name} to the board with {name}")
    with tempfile.TemporaryDirectory() as folder:
        given = str(path)
        if name == "jlink":
            script = Path(folder, "commands.jlink")
            script.write_text(f'loadfile "{given}"\nr\ng\nexit\n', encoding="utf-8")
            given = str(script)
        for arguments in TOOLS[name].commands(chip, given):
            _run([program, *arguments])


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{Path(command[0]).name} did not end within {TIMEOUT_S:.0f} s") from error
    if done.returncode != 0:
        said = "\n".join(f"  {line}" for line in done.stdout.splitlines()[-_LINES:])
        raise UserError(
            f"the board could not be written: {' '.join([Path(command[0]).name, *command[1:]])} ended with code "
            f"{done.returncode}" + (f" and said\n{said}" if said else "")
        )
