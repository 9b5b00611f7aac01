"""Compares committed files with newly generated ones, or writes them: see committed_files.bzl.

Usage:

    committed_files.py [--write] [--command COMMAND] GENERATED=COMMITTED...
"""

from __future__ import annotations

import argparse
import difflib
import os
import pathlib
import sys

_DIFF_LINES = 60


def difference(generated: pathlib.Path, committed: pathlib.Path) -> list[str]:
    """Returns the first lines of a diff from the committed file to the generated one; none if their bytes are equal."""
    new, old = generated.read_bytes(), committed.read_bytes()
    if new == old:
        return []
    lines = list(
        difflib.unified_diff(
            old.decode(errors="replace").splitlines(),
            new.decode(errors="replace").splitlines(),
            f"{committed} (committed)",
            f"{committed} (generated)",
            lineterm="",
        )
    )
    return lines[:_DIFF_LINES] or [f"{committed}: different line endings"]


def write(generated: pathlib.Path, committed: pathlib.Path) -> bool:
    """Writes the generated contents to the committed file. Returns whether this changed it."""
    if committed.exists() and not difference(generated, committed):
        return False
    committed.parent.mkdir(parents=True, exist_ok=True)
    committed.write_bytes(generated.read_bytes())
    return True


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write to the workspace in which `bazel run` was called")
    parser.add_argument("--command", default="", help="the command that updates the files")
    parser.add_argument("files", nargs="+", metavar="GENERATED=COMMITTED")
    options = parser.parse_args(arguments)
    pairs = [tuple(map(pathlib.Path, pair.split("=", 1))) for pair in options.files]
    if options.write:
        workspace = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
        for generated, committed in pairs:
            changed = write(generated, workspace / committed)
            print(f"{committed}: {'written' if changed else 'up to date'}")
        return 0
    differences = [line for pair in pairs for line in difference(*pair)]
    if differences:
        print("\n".join(differences))
        print(f"\nThis file is generated, and the committed one is out of date. Update it: {options.command}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
