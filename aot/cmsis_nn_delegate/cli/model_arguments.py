"""Arguments of the commands that compile a model.

Imports the operators and passes that help texts name, and so NumPy.
"""

from __future__ import annotations

import argparse
from typing import Optional

from ..partition.io_types import QUANTIZED, TYPES
from ..passes.run_passes import OPTIONAL_PASSES
from ..providers.registry import PROVIDERS
from ..quantization.configuration import OBSERVERS, WEIGHTS, preset_names
from ..selection.preference import PREFERENCES, Preference
from .argument_types import byte_count, core, io, named_state, stream


def add_model_arguments(
    parser: argparse.ArgumentParser, target: Optional[str] = None, target_required: bool = True
) -> None:
    """Adds what says how a model is quantized and compiled. `target` is a default."""
    parser.add_argument(
        "model", metavar="FILE.py:FUNCTION", help="a function that returns a module, or (module, example_inputs)"
    )
    default = f", default {target}" if target else ""
    parser.add_argument(
        "--target",
        type=core,
        required=target_required and not target,
        default=target,
        metavar="CORE",
        help=f"see `cmsisnn targets`{default}",
    )
    parser.add_argument(
        "--calibration", metavar="FILE.npz", help="representative inputs, unless the model is quantized already"
    )
    parser.add_argument(
        "--sequence",
        action="store_true",
        help="the arrays of .npz files are sequences, with each of which a state of the model starts anew: for an "
        "input of shape (1, ...) they have shape (sequences, steps, ...)",
    )
    parser.add_argument(
        "--state",
        action="append",
        type=named_state,
        default=[],
        metavar="INPUT=OUTPUT",
        help="make an input a state that the model keeps, such as h=1: the next inference reads output 1 as h, the "
        "first one the example input. Outputs have numbers, or names where forward returns a dict; may be given "
        "several times",
    )
    parser.add_argument(
        "--providers",
        default=",".join(PROVIDERS),
        metavar="NAMES",
        help="providers of the firmware's kernels, in order of preference, default %(default)s",
    )
    parser.add_argument(
        "--prefer",
        choices=PREFERENCES,
        default=Preference.SPEED.value,
        help="what kernels are chosen by where a call has several, default %(default)s",
    )
    parser.add_argument(
        "--max-slowdown",
        type=float,
        metavar="PERCENT",
        help="make the arena smaller by computing convolutions in bands of rows, in at most so many more instructions, "
        "as estimated; default 10 with --prefer ram, else 0: do not",
    )
    parser.add_argument(
        "--max-flash-growth",
        type=byte_count,
        default=0,
        metavar="BYTES",
        help="how much larger kernels that trade flash for speed may make the payload, default %(default)s",
    )
    parser.add_argument(
        "--quantizer",
        default="default",
        metavar="FILE.yaml|PRESET",
        help=f"how the model is quantized, by a file with overrides or a preset: {preset_names()}; default %(default)s",
    )
    parser.add_argument(
        "--linear-weights",
        choices=WEIGHTS,
        help="scales of linear layers; per-tensor is faster but less exact, default per-channel",
    )
    parser.add_argument(
        "--observer",
        choices=OBSERVERS,
        help="how ranges are found; minmax is faster and clips nothing, default histogram",
    )
    parser.add_argument(
        "--skip-pass",
        action="append",
        metavar="PASS",
        help=f"leave out a pass that saves work: {', '.join(OPTIONAL_PASSES)}; may be given several times",
    )
    parser.add_argument(
        "--print-after",
        action="append",
        metavar="STAGE",
        help="print the program or graph after a stage of the compiler, or `all`; may be given several times",
    )
    parser.add_argument("--name", help="name of the files, default is the function's")
    parser.set_defaults(labels=None)


def add_stream_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stream",
        type=stream,
        metavar="DIM[=HOP]",
        help="make a model that takes HOP new columns, by default 1, of dimension DIM of its inputs in each inference, "
        "remembers what it needs of those before, and returns what the model returns for the window that ends there",
    )


def add_type_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--io",
        type=io,
        default="float",
        metavar="TYPE|NAME=TYPE,...",
        help=f"type of inputs and outputs, one of {', '.join(TYPES)}, default float; `{QUANTIZED}` is what each is "
        "quantized to. NAME is that of an input, output0 and so on, or `inputs` and `outputs` for all others",
    )


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what says how the program looks from outside, and what is checked of it."""
    add_type_argument(parser)
    parser.add_argument(
        "--io-placement",
        choices=("arena", "caller"),
        default="arena",
        help="whether the arena has room for inputs and outputs, default arena",
    )
    parser.add_argument("--strict", action="store_true", help="fail if a node is not delegated")
    parser.add_argument(
        "--no-check", dest="check", action="store_false", help="do not compare the quantized model with the float one"
    )
