"""`cmsisnn explore`: compiles a model in many ways, and shows what can be traded against what."""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
import sys
from pathlib import Path
from typing import Optional

from ..files.outputs import write_files
from ..report.page.explore import render_exploration
from ..runner import simulate
from ..runner.profile import random_inputs
from ..search import exploration
from ..search.exploration import Exploration, Point
from ..support.errors import UserError
from .labels import labels_of
from .late_import import late_import
from .memories import board_of
from .model import prepared_model
from .printable import printable
from .printing import say, silenced, write

# What explore tries by itself, with the values of no option.
_TRIED = {"prefer": "speed", "max_slowdown": None, "max_flash_growth": 0}


def run(arguments: argparse.Namespace) -> int:
    for name, default in _TRIED.items():
        if getattr(arguments, name) != default:
            raise UserError(f"--{name.replace('_', '-')} is for compile: explore tries all of its values")
    if arguments.print_after:
        raise UserError("--print-after shows one compilation: give it to compile")
    if arguments.labels is not None and arguments.data is None:
        raise UserError("--labels names an array of --data: give --data")
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        board = board_of(arguments)
        if arguments.cycles:
            simulate.default_image(_modelled(board.core if board else arguments.target))
        labels = labels_of(arguments)
        prepared = prepared_model(arguments)
        with silenced(arguments.debug):
            found: Exploration = late_import("explore_model").explored(arguments, prepared, board, labels)
        between = _cycles(found) if arguments.cycles else []
    folder, front = Path(arguments.output), found.front
    # Points of the same formats share a file.
    texts = list(dict.fromkeys(point.quantizer_file for point in front))
    names = {text: f"{found.model}.formats.{number}.yaml" for number, text in enumerate(texts, 1)}
    commands = [_command(arguments, point, folder / names[point.quantizer_file]) for point in front]
    document = found.document(commands, between)
    files = {
        f"{found.model}.explore.html": render_exploration(document).encode(),
        f"{found.model}.explore.json": exploration.to_json(document).encode(),
        **{name: text.encode() for text, name in names.items()},
    }
    pattern = re.compile(re.escape(found.model) + r"\.formats\.\d+\.yaml")
    earlier = [path.name for path in folder.iterdir() if pattern.fullmatch(path.name)] if folder.is_dir() else []
    write_files(folder, files, [name for name in earlier if name not in files])
    if arguments.json:
        write(exploration.to_json(document))
        return 0
    print(printable(f"\n{exploration.render(document)}"))
    print("Written")
    for name, content in files.items():
        print(f"  {folder / name} ({len(content):,} bytes)")
    return 0


def _modelled(core: str) -> str:
    """Returns the target, of which there is a model; UserError if there is none."""
    if core.partition("+")[0] not in simulate.MODELLED_CORES:
        raise UserError(
            f"cycles are modelled for {', '.join(simulate.MODELLED_CORES)}, and this is for {core}: leave out --cycles"
        )
    return core


def _cycles(found: Exploration) -> list[Optional[simulate.Cycles]]:
    """Returns the modelled cycles of the points that are shown, with random inputs; None for one that is not a single
    delegate call, or does not fit the simulated board, which is said."""
    between: list[Optional[simulate.Cycles]] = []
    image = simulate.default_image(found.target)
    for number, point in enumerate(found.front, 1):
        between.append(None)
        if len(point.parts) != 1 or point.price.outside:
            say(f"point {number} has no modelled cycles: it is not one delegate call")
            continue
        say(f"modelling the cycles of point {number} of {len(found.front)}")
        (part,) = point.parts
        inputs = random_inputs(part.graph)
        try:
            (between[-1],) = simulate.run(part.payload, [inputs], image, verify_crc=False, cycles=True).cycles
        except UserError as error:
            say(f"point {number} has no modelled cycles: {error}")
    if between and not any(between):
        raise UserError("no point has modelled cycles, for the reasons above: leave out --cycles")
    return between


def _command(arguments: argparse.Namespace, point: Point, quantizer: Path) -> str:
    """Returns the command that compiles a point."""
    parts = ["cmsisnn", "compile", arguments.model]
    given = [
        *([("--board", arguments.board)] if arguments.board is not None else [("--target", arguments.target)]),
        ("--calibration", arguments.calibration),
        *(("--state", f"{name}={output}") for name, output in arguments.state),
        ("--stream", None if arguments.stream is None else f"{arguments.stream.dim}={arguments.stream.hop}"),
        ("--io", None if arguments.io == "float" else arguments.io),
        *(("--skip-pass", name) for name in arguments.skip_pass or ()),
        ("--name", arguments.name),
        ("--quantizer", str(quantizer)),
    ]
    for name, value in given:
        parts += [] if value is None else [name, str(value)]
    parts += ["--sequence"] if arguments.sequence else []
    parts += shlex.split(point.arguments)
    return shlex.join([*parts, "-o", arguments.output])
