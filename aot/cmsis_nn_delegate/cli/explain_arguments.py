"""Arguments of `cmsisnn explain`."""

from __future__ import annotations

import argparse

from .model_arguments import add_model_arguments, add_program_arguments, add_stream_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_program_arguments(parser)
    add_stream_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on the standard error")
    parser.set_defaults(calibration_optional=True)
