"""Arguments of `cmsisnn compile`."""

from __future__ import annotations

import argparse

from ..files.artifacts import EMITS
from .argument_types import byte_count
from .model_arguments import add_model_arguments, add_program_arguments, add_stream_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, target_required=False)
    add_program_arguments(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder for the files")
    parser.add_argument(
        "--board",
        metavar="NAME|FILE.json",
        help="the board, instead of a target: a simulated one, or NAME.board.json, which Bazel writes beside an image. "
        "Each --memory is then one of its memories, all of it if no size is given, by default RAM, and the payload has "
        "to fit its flash",
    )
    parser.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="NAME=SIZE[:KINDS]",
        help="RAM, such as dtcm=64K, for activations and scratch memory, or for other kinds of data: some of "
        "activations, scratch, state and weights, separated by commas. Give each memory of the device, the fastest "
        "first. What is touched most lies there, and the last one is the arena. init() copies weights to the memory "
        "that holds these, as many as it has room for. Default: one arena of any size",
    )
    add_stream_argument(parser)
    parser.add_argument("--etrecord", action="store_true", help="also write NAME.etrecord, for ExecuTorch's Inspector")
    parser.add_argument("--max-arena", type=byte_count, metavar="BYTES", help="fail if the arena takes more")
    parser.add_argument("--max-flash", type=byte_count, metavar="BYTES", help="fail if the payload takes more")
    parser.add_argument(
        "--max-instructions",
        type=int,
        metavar="COUNT",
        help="fail if the calls of an inference are predicted to take more",
    )
    parser.add_argument(
        "--emit",
        choices=EMITS,
        default="payload",
        help="cpp: also write the calls as C++, NAME.model.h and NAME.model.cc, for images without the payload's "
        "reader, and lists of the files to compile with them; default %(default)s",
    )
    parser.add_argument("--html", action="store_true", help="also write NAME.report.html, a page for a browser")
    parser.set_defaults(calibration_optional=False)
    _add_search(parser)


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Adds what has the compiler choose the formats of layers."""
    search = parser.add_argument_group(
        "formats by accuracy",
        "With one of these limits the compiler gives each layer the format with which the model takes the least, by "
        "--prefer: instructions, flash or RAM. --quantizer says where it begins; formats of parts that it gives stay.",
    )
    search.add_argument(
        "--min-sqnr", type=float, metavar="DB", help="the least signal to noise of the device's outputs"
    )
    search.add_argument(
        "--min-top1", type=float, metavar="SHARE", help="the least share of labels that are right, from 0 to 1"
    )
    search.add_argument(
        "--max-drop",
        type=float,
        metavar="SHARE",
        help="by how much the share of labels that are right may be below that of the float model, such as 0.01",
    )
    search.add_argument(
        "--data", metavar="FILE.npz", help="inputs on which the limits are kept, default those of --calibration"
    )
    search.add_argument(
        "--labels", nargs="?", const="labels", metavar="NAME", help="the array of --data with the class of each input"
    )
    search.add_argument(
        "--write-quantizer", metavar="FILE.yaml", help="write the formats to a file that --quantizer takes"
    )
    search.add_argument("--library", metavar="FILE", help="the delegate's shared library, which computes the outputs")
