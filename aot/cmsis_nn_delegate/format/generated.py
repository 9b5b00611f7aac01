"""The command line of programs that generate C++ from Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Optional


def write(argv: list[str], usage: Optional[str], *generators: Callable[[], str]) -> int:
    """Writes the result of each of `generators` to the file that `argv` names for it, and returns the exit code.

    Prints `usage` if there are not as many files as generators.
    """
    if len(argv) != 1 + len(generators):
        print(usage, file=sys.stderr)
        return 2
    for path, generate in zip(argv[1:], generators):
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            out.write(generate())
    return 0
