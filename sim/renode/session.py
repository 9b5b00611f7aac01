"""Runs an image in Renode with its UART on the terminal; sim/main.py starts this.

The exit code is the firmware's; 2 if it did not end by bsp_exit().
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from sim.boards import BoardError, get_board
from sim.elf import Elf
from sim.renode import renode
from sim.simulator import SimulatorError


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("elf")
    parser.add_argument("--board", required=True)
    parser.add_argument("--job")
    parser.add_argument("--gdb", type=int)
    args = parser.parse_args(argv)
    job = pathlib.Path(args.job).read_bytes() if args.job else None
    try:
        result = renode.create().interact(Elf(args.elf), get_board(args.board), job, args.gdb, _show)
    except (BoardError, SimulatorError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if result.exit_code is None:
        print(f"\nerror: {result.explain()}", file=sys.stderr)
        return 2
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
