"""`cmsisnn explore`: compiles a model in many ways, and shows what can be traded against what."""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
import sys
from pathlib import Path

from ..files.outputs import write_files
from ..report.page.explore import render_exploration
from ..search import exploration
from ..search.exploration import Exploration, Point
from ..support.errors import UserError
from .labels import labels_of
from .late_import import late_import
from .memories import board_of
from .model import prepared_model
from .printable import printable
from .printing import silenced, write

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
        labels = labels_of(arguments)
        prepared = prepared_model(arguments)
        with silenced(arguments.debug):
            found: Exploration = late_import("explore_model").explored(arguments, prepared, board, labels)
    folder, front = Path(arguments.output), found.front
    # Points of the same formats share a file.
    texts = list(dict.fromkeys(point.quantizer_file for point in front))
    names = {text: f"{found.model}.formats.{number}.yaml" for number, text in enumerate(texts, 1)}
    document = found.document([_command(arguments, point, folder / names[point.quantizer_file]) for point in front])
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
