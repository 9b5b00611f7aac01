"""Limits of `accuracy` and `accuracy-sum`: their arguments, and what fails for them."""

from __future__ import annotations

import argparse
import sys

from ..accuracy import report
from ..accuracy.report import Accuracy
from ..support.errors import UserError
from .printing import write


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Adds limits, as `report.shortfalls` takes them."""
    parser.add_argument(
        "--min-top1",
        type=float,
        metavar="SHARE",
        help="fail if fewer of the labels are right on the device, from 0 to 1",
    )
    parser.add_argument(
        "--min-sqnr", type=float, metavar="DB", help="fail if the device's outputs have less signal to noise"
    )
    parser.add_argument(
        "--max-steps",
        type=int,
        metavar="COUNT",
        help="fail if an output of the device differs by more steps from the quantized model in PyTorch",
    )


def judged(measured: Accuracy, arguments: argparse.Namespace) -> int:
    """Prints the accuracy; 1 if it does not keep the limits."""
    write(measured.to_json() if arguments.json else f"\n{report.render(measured)}")
    sys.stdout.flush()
    found = report.shortfalls(measured, arguments.min_top1, arguments.min_sqnr, arguments.max_steps)
    if found:
        raise UserError(f"{measured.model} is less accurate than its limits: {'; '.join(found)}", exit_code=1)
    return 0
