"""Arguments of `cmsisnn profile`."""

from __future__ import annotations

import argparse

from .argument_types import board_place, core


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `compile` wrote, or their common beginning")
    parser.add_argument("--core", type=core, help="a target, default is the model's")
    parser.add_argument("--inputs", metavar="FILE.npz", help="its first sample is run; default: random inputs")
    parser.add_argument(
        "--image",
        metavar="NAME_profile.elf",
        help="runner firmware that marks calls, with NAME.elf beside it; default is Bazel's",
    )
    parser.add_argument(
        "--on",
        type=board_place,
        metavar="{gdb://HOST:PORT,serial://PORT}",
        help="also measure cycles on the board of a GDB server, or at a serial port",
    )
    parser.add_argument("--board-name", metavar="TEXT", help="what the board of --on is called, with its clock")
    parser.add_argument(
        "--board-image", metavar="FILE.elf", help="gdb: runner firmware that marks calls, linked for the board"
    )
    parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="of each run, default 600")
    parser.add_argument(
        "--cycles",
        action="store_true",
        help="also model cycles, for cortex-m4 (with waits for flash), and with LLVM's tools for m7, m33, m55 and m85",
    )
    parser.add_argument("--trace", metavar="FILE.json", help="also write a trace for Perfetto (ui.perfetto.dev)")
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on the standard error")
    parser.add_argument(
        "--max-instructions", type=int, metavar="COUNT", help="fail if the inference executes more, with its executor"
    )
