"""Arguments of `cmsisnn run`."""

from __future__ import annotations

import argparse

from .argument_types import core, flash_tool, place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `compile` wrote, or their common beginning")
    parser.add_argument(
        "--on",
        type=place,
        default="reference",
        metavar="{reference,host,simulator,gdb://HOST:PORT,serial://PORT}",
        help="the integer reference in numpy; ExecuTorch's runtime here; a simulated core; the board of a GDB "
        "server, or at a serial port",
    )
    parser.add_argument(
        "--inputs", required=True, metavar="FILE.npz", help="one array for each input, see docs/guides/compiling.md"
    )
    parser.add_argument("-o", "--output", metavar="FILE.npz", help="file for the outputs")
    parser.add_argument(
        "--load-state",
        metavar="FILE.npz",
        help="go on from the state that --save-state wrote, instead of beginning anew; with whatever --on",
    )
    parser.add_argument("--save-state", metavar="FILE.npz", help="file for the state after the last inputs")
    parser.add_argument("--compare", action="store_true", help="count bytes that differ from the reference")
    parser.add_argument(
        "--layers",
        action="store_true",
        default=None,
        help="simulator: with --compare, name the first call that writes other bytes than the reference",
    )
    parser.add_argument("--library", metavar="FILE", help="host: the delegate's shared library")
    parser.add_argument("--core", type=core, help="simulator, gdb: a target, default is the model's")
    parser.add_argument(
        "--executor", choices=("standalone", "executorch"), help="simulator: what runs the model, default standalone"
    )
    parser.add_argument(
        "--image", metavar="FILE.elf", help="simulator, gdb: runner firmware, default is Bazel's; serial: for --flash"
    )
    parser.add_argument(
        "--flash",
        type=flash_tool,
        metavar="TOOL:CHIP",
        help="serial: first write --image, a runner for the board with a serial line, with pyocd, openocd, probe-rs or "
        "jlink",
    )
    parser.add_argument("--board-name", metavar="TEXT", help="gdb, serial: what the board is called in the results")
    parser.add_argument(
        "--timeout",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="of the firmware, default 600; serial: of silence",
    )
