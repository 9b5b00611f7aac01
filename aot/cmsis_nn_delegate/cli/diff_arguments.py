"""Arguments of `cmsisnn diff`."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name in ("before", "after"):
        parser.add_argument(
            name, help="a compiled model, IMAGE.size.json of a firmware, or what `profile --json` printed"
        )
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="default text")
