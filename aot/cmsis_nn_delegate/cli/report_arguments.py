"""Arguments of `cmsisnn report`."""

from __future__ import annotations

import argparse

from .argument_types import byte_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `compile` wrote, or their common beginning")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print JSON")
    shown.add_argument(
        "--html",
        nargs="?",
        const="",
        metavar="FILE.html",
        help="write a page to look at in a browser, by default NAME.report.html; needs only NAME.report.json, or "
        "NAME.parts.json of a model in several parts",
    )
    parser.add_argument(
        "--profile",
        metavar="FILE.json",
        help="page: what `profile --json` printed; default NAME.profile.json if it exists",
    )
    parser.add_argument("--against", metavar="FILE.report.json", help="page: an earlier report to compare with")
    parser.add_argument("--accuracy", metavar="FILE.json", help="page: what `accuracy --json` printed for the model")
    parser.add_argument(
        "--image", metavar="IMAGE.size.json", help="page: sizes of a firmware, as built beside its .elf"
    )
    parser.add_argument(
        "--outputs", metavar="FILE.npz", help="page: what `run -o` wrote, whose outputs are drawn over time"
    )
    parser.add_argument("--max-arena", type=byte_count, metavar="BYTES", help="page: show how much of this is taken")
    parser.add_argument(
        "--max-flash", type=byte_count, metavar="BYTES", help="page: show how much of this the payload takes"
    )
