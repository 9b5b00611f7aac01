"""`cmsisnn compile`: quantizes a model, compiles it for a core and writes its files."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..report import parts_report, text
from ..report.budget import Budget
from ..report.page import library
from ..support.errors import UserError
from ..targets.memory import copies_weights
from .memories import board_of, memories_of
from .model import compiled_model
from .printable import printable


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
    compiled = compiled_model(arguments)
    compiled.require(budget)
    if board is not None and compiled.parts:
        try:
            compiled.require(Budget(flash=board.flash_bytes))
        except UserError as error:
            raise UserError(f"{error}. That limit is the flash of board {board.name}", exit_code=1) from error
    files = compiled.files(arguments.emit, arguments.html)
    compiled.put(arguments.output, files)
    if compiled.report is not None:
        print(printable(f"\n{text.render(compiled.report)}"))
    else:
        print("\nThe model is not delegated as a whole, so there is no separate payload\n")
        print(printable(parts_report.render(compiled.parts_document)))
    print("Written")
    for name, content in files.items():
        print(f"  {Path(arguments.output, name)} ({len(content):,} bytes)")
    if compiled.calibration_doubt:
        print(f"Warning: {compiled.calibration_doubt}")
    return 0
