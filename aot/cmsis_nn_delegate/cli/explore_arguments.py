"""Arguments of `cmsisnn explore`."""

from __future__ import annotations

import argparse

from .model_arguments import add_model_arguments, add_stream_argument, add_type_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, target_required=False)
    add_type_argument(parser)
    parser.add_argument(
        "--board",
        metavar="NAME|FILE.json",
        help="the board, instead of a target: a simulated one, or NAME.board.json; the table says what fits its flash "
        "and RAM",
    )
    parser.add_argument(
        "--data", metavar="FILE.npz", help="inputs on which the accuracy is measured, default those of --calibration"
    )
    parser.add_argument(
        "--labels", nargs="?", const="labels", metavar="NAME", help="the array of --data with the class of each input"
    )
    parser.add_argument(
        "--assignments",
        type=int,
        default=6,
        metavar="COUNT",
        help="how many assignments of formats to layers are compiled, each in all other ways, default %(default)s",
    )
    parser.add_argument(
        "--cycles",
        action="store_true",
        help="also model the cycles of all points that are shown, as `profile --cycles` does, which takes a while",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on the standard error")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FOLDER",
        help="folder for NAME.explore.html, NAME.explore.json, and a file for --quantizer for each point",
    )
    add_stream_argument(parser)
    parser.set_defaults(calibration_optional=False, io_placement="arena", strict=False, check=False, memory=[])
