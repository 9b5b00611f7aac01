"""`cmsisnn accuracy`: compares the outputs and layers of a quantized model with the float model."""

from __future__ import annotations

import argparse
import contextlib
import sys

from ..accuracy.report import Accuracy
from ..passes.run_passes import OPTIONAL_PASSES
from ..quantization import samples
from ..runner import simulate
from ..support.errors import UserError
from .accuracy_limits import judged
from .labels import labels_of
from .late_import import late_import
from .model import prepared_model
from .printing import say, silenced


def run(arguments: argparse.Namespace) -> int:
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        measured = _measured(arguments)
    return judged(measured, arguments)


def _measured(arguments: argparse.Namespace) -> Accuracy:
    """Compiles and measures the model."""
    with samples.opened(arguments.data, "data"):
        labels = labels_of(arguments)
    image = arguments.image
    on = arguments.on.partition("://")[0]
    if on in ("simulator", "gdb") and image is None:
        image = simulate.default_image(arguments.target)
    elif on not in ("simulator", "gdb") and image is not None:
        raise UserError("--image is for --on simulator or gdb://HOST:PORT")
    if arguments.board_name is not None and on not in ("gdb", "serial"):
        raise UserError("--board-name is for --on gdb://HOST:PORT or serial://PORT")
    if arguments.part is None:
        arguments.skip_pass = list(OPTIONAL_PASSES)  # the device then has every layer's tensor, with the same elements
    if arguments.stream is not None:
        say("measuring the model of the whole window, whose outputs a streaming model returns byte for byte")
        arguments.stream = None
    prepared = prepared_model(arguments)
    with silenced(arguments.debug):
        measured: Accuracy = late_import("accuracy_measurement").measured(arguments, prepared, labels, image)
    return measured
