"""Writes docs/boards.md, the cycles that people have measured on boards, from docs/boards/*.json.

    bazel run //docs:boards

Each file is what `cmsisnn profile --on ... --board-name ... --json` printed. A file that is none, or has no cycles of a
board, is an error that names the first field that does not fit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from cmsis_nn_delegate.runner.measured import Measured
from cmsis_nn_delegate.runner.profile import Profile, load
from cmsis_nn_delegate.support.errors import UserError

ROOT = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", Path(__file__).resolve().parents[1]))
_ABOUT = """<!-- Written by `bazel run //docs:boards` from docs/boards/*.json. Do not edit. -->
# Boards
Cycles of one inference that people have measured on boards, beside the instructions that the simulators count.

"""
_NONE = """**Nobody has measured a board yet.** All figures of this repository come from simulators, and from models
that were compared with boards of others ([benchmarks](benchmarks.md)).

"""
_HOW = """## Add yours
With a runner on the board ([over a serial line](guides/serial.md), or [through a debugger](guides/debugger.md)):
```
mkdir -p docs/boards
cmsisnn profile out/ds_cnn --cycles --on serial:///dev/ttyACM0 --board-name "NUCLEO-L4R5ZI at 120 MHz" \\
  --json > docs/boards/ds_cnn_nucleo_l4r5zi.json
bazel run //docs:boards
```
and open a pull request with both files. `bazel test //docs:boards_test` checks the JSON and that the page is of it.
"""


def read(path: Path) -> tuple[Profile, Measured]:
    """Returns the profile and the cycles of a board in a file; UserError if it has not both."""
    _, profile, measured = load(path)
    if measured is None:
        raise UserError(f"{path} has no cycles of a board: measure them with `cmsisnn profile --on`")
    return profile, measured


def page(paths: Iterable[Path]) -> str:
    """Returns docs/boards.md."""
    found = sorted(map(read, paths), key=lambda pair: (pair[1].board, pair[0].name))
    if not found:
        return _ABOUT + _NONE + _HOW
    titles = (
        "board",
        "core",
        "model",
        "kernels",
        "instructions",
        "cycles",
        "a multiplication",
        "modelled cycles",
        "through",
    )
    rows = [f"| {' | '.join((*titles, 'date'))} |", "|---" * (len(titles) + 1) + "|"]
    for profile, measured in found:
        modelled = "{:,} to {:,}".format(*profile.cycles) if profile.cycles else ""
        each = f"{measured.inference / profile.multiplications:.2f}" if profile.multiplications else ""
        cells = [measured.board, measured.core, profile.name, measured.kernels, f"{profile.inference:,}"]
        cells += [f"{measured.inference:,}", each, modelled, measured.through, measured.date]
        rows.append(f"| {' | '.join(cells)} |")
    return _ABOUT + "\n".join(rows) + "\n\n" + _HOW


def main() -> int:
    folder = ROOT / "docs" / "boards"
    try:
        text = page(sorted(folder.glob("*.json")))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    (ROOT / "docs" / "boards.md").write_text(text, encoding="utf-8")
    print("wrote docs/boards.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
