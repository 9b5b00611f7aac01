"""Runs a firmware image in the simulator, with its UART on the terminal.

    bazel run //sim:qemu -- ELF [--job FILE] [--gdb PORT] [--board NAME]
    bazel run //sim:renode -- ELF [--job FILE] [--gdb PORT] [--board NAME]

The exit code is the firmware's. With --gdb the core waits for a debugger before the first instruction.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from sim import simulator
from sim.boards import get_board
from sim.elf import Elf, ElfError


def _user_path(path: str) -> str:
    """Returns a path relative to the user's directory, which `bazel run` changes."""
    return os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), path)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("elf", help="the firmware image")
    parser.add_argument("--job", help="file to load at the mailbox")
    parser.add_argument("--gdb", type=int, metavar="PORT", help="wait for a debugger on this TCP port")
    parser.add_argument("--board", help="name or JSON file of a board; default: the one that the image was linked for")
    parser.add_argument(
        "--simulator",
        choices=simulator.DRIVERS,
        help="default: CND_SIMULATOR, else the choice of --define simulator=..., else auto",
    )
    args = parser.parse_args(argv)
    try:
        elf = Elf(_user_path(args.elf))
        board = get_board(args.board) if args.board else simulator.board_of(elf)
        job = _user_path(args.job) if args.job else None
        command = simulator.create(args.simulator).interactive_command(elf, board, job, args.gdb)
    except (ElfError, OSError, ValueError, simulator.SimulatorError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if args.gdb:
        print(f"waiting: arm-none-eabi-gdb {args.elf} -ex 'target remote localhost:{args.gdb}'", file=sys.stderr)
    try:
        return subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
