"""`cmsisnn compile`: quantizes a model, compiles it for a core and writes its files."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..files.outputs import check_writable, write_files
from ..report import parts_report, text
from ..report.budget import Budget
from ..report.page import library
from ..search.limits import Limits
from ..search.result import ChosenFormats
from ..support.errors import UserError
from ..targets.memory import copies_weights
from .labels import labels_of
from .late_import import late_import
from .memories import board_of, memories_of
from .model import compiled_model, prepared_model
from .printable import printable
from .printing import silenced


def run(arguments: argparse.Namespace) -> int:
    budget = Budget(arguments.max_arena, arguments.max_flash, arguments.max_instructions)
    board = board_of(arguments)
    memories = memories_of(arguments)
    if arguments.emit == "cpp" and (len(memories) > 1 or copies_weights(memories)):
        raise UserError(
            "--emit cpp: C++ calls have one arena, and no init() that copies weights: give one --memory that holds no "
            "weights, or none"
        )
    if arguments.html:
        library.check_installed()
    chosen = _chosen(arguments) if _searches(arguments) else None
    compiled = compiled_model(arguments) if chosen is None else chosen.compiled
    compiled.require(budget)
    if board is not None and compiled.parts:
        try:
            compiled.require(Budget(flash=board.flash_bytes))
        except UserError as error:
            raise UserError(f"{error}. That limit is the flash of board {board.name}", exit_code=1) from error
    files = compiled.files(arguments.emit, arguments.html)
    compiled.put(arguments.output, files)
    if chosen is not None:
        print(printable(f"\n{chosen.render()}"))
        if arguments.write_quantizer is not None:
            path = Path(arguments.write_quantizer)
            write_files(path.parent, {path.name: chosen.quantizer_file.encode()})
    if compiled.report is not None:
        print(printable(f"\n{text.render(compiled.report)}"))
    else:
        print("\nThe model is not delegated as a whole, so there is no separate payload\n")
        print(printable(parts_report.render(compiled.parts_document)))
    print("Written")
    for name, content in files.items():
        print(f"  {Path(arguments.output, name)} ({len(content):,} bytes)")
    if arguments.write_quantizer is not None:
        print(f"  {arguments.write_quantizer}")
    if compiled.calibration_doubt:
        print(f"Warning: {compiled.calibration_doubt}")
    return 0


_LIMITS = ("min_sqnr", "min_top1", "max_drop")
_OF_SEARCH = ("data", "labels", "write_quantizer", "library")


def _searches(arguments: argparse.Namespace) -> bool:
    """Returns whether the compiler is to choose formats. UserError for what is only for that."""
    if any(getattr(arguments, name) is not None for name in _LIMITS):
        return True
    for name in _OF_SEARCH:
        if getattr(arguments, name) is not None:
            raise UserError(f"--{name.replace('_', '-')} is for --min-sqnr, --min-top1 and --max-drop: give one")
    return False


def _chosen(arguments: argparse.Namespace) -> ChosenFormats:
    """Compiles the model with the formats that keep the limits."""
    limits = Limits(arguments.min_sqnr, arguments.min_top1, arguments.max_drop)
    if arguments.print_after:
        raise UserError("--print-after shows one compilation: compile with the file that --write-quantizer writes")
    if arguments.write_quantizer is not None:
        path = Path(arguments.write_quantizer)
        if path.suffix not in (".yaml", ".yml"):
            raise UserError(f"--write-quantizer {path}: give a name that ends in .yaml, as --quantizer takes it")
        check_writable(path.parent, [path.name])
    if arguments.labels is not None and arguments.data is None:
        raise UserError("--labels names an array of --data: give --data")
    if limits.of_labels and arguments.labels is None:
        raise UserError("a limit of top-1 needs labels: give --labels")
    labels = labels_of(arguments)
    prepared = prepared_model(arguments)
    with silenced(arguments.debug):
        found: ChosenFormats = late_import("compile_search").chosen(arguments, prepared, labels)
    return found
