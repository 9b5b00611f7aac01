"""Arguments of `cmsisnn accuracy`."""

from __future__ import annotations

import argparse

from ..accuracy.report import Part
from .accuracy_limits import add_limits
from .argument_types import accuracy_place, stream
from .model_arguments import add_model_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, target="cortex-m55")
    parser.add_argument("--data", required=True, metavar="FILE.npz", help="inputs to compare on")
    parser.add_argument(
        "--labels", nargs="?", const="labels", metavar="NAME", help="the array of --data with the class of each input"
    )
    parser.add_argument("--library", metavar="FILE", help="the delegate's shared library, for models in several parts")
    parser.add_argument(
        "--on",
        type=accuracy_place,
        default="host",
        metavar="{host,simulator,gdb://HOST:PORT,serial://PORT}",
        help="what computes the device's outputs: its kernels on this machine, firmware on a simulated core, or the "
        "board of a GDB server or at a serial port",
    )
    parser.add_argument("--image", metavar="NAME.elf", help="simulator, gdb: runner firmware; default is Bazel's")
    parser.add_argument("--board-name", metavar="TEXT", help="gdb, serial: what the board is called in the results")
    parser.add_argument(
        "--part",
        type=_part,
        metavar="I/N",
        help="measure every Nth sample from the Ith on, and no layers; `accuracy-sum` adds up all parts",
    )
    parser.add_argument(
        "--stream",
        type=stream,
        metavar="DIM[=HOP]",
        help="as of `compile`: the model of the whole window is measured, whose outputs are those of the stream",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on the standard error")
    add_limits(parser)
    parser.set_defaults(calibration_optional=False, io="float", io_placement="arena", strict=False, check=True)


def _part(text: str) -> Part:
    try:
        return Part.of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
