"""Arguments of `cmsisnn accuracy-sum`."""

from __future__ import annotations

import argparse

from .accuracy_limits import add_limits


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parts", nargs="+", metavar="PART.json", help="or a .zip of such files, as Bazel keeps a test's outputs"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_limits(parser)
