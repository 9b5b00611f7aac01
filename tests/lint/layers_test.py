"""Includes in the runtime go only from a folder to earlier folders."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Tests may include anything.
LAYERS = (
    "platforms/bsp",
    "runtime/payload",
    # Of a folder of kernels: what all providers share, and the files of each. OF_PROVIDER tells them apart.
    "runtime/kernels/portable",
    "runtime/kernels/cmsis_nn",
    "runtime/kernels/tuned",
    "runtime/kernels",  # chooses one of them
    "runtime/backend",
    "runtime/standalone",
    "runtime/runner",
    "runtime/runner/serial",
    "runtime/runner/standalone",
    "runtime/runner/executorch",
)


# The layer of a file in the folder of an operator, or in common/, by the end of its name; of all others the first one.
OF_PROVIDER = {"_cmsis_nn": "cmsis_nn", **dict.fromkeys(("_tuned", "_dsp", "_members", "_mve", "_scalar"), "tuned")}


def operator_folder(name: str) -> str:
    """Returns the folder of an operator, or common/, in which the file is; "" if it is in none."""
    folder = re.match(r"runtime/kernels/(?!(?:portable|cmsis_nn|tuned)/)(\w+)/", name)
    return folder[1] if folder else ""


def layer(name: str) -> str:
    """Returns the layer of the file."""
    if not operator_folder(name):
        return name.rpartition("/")[0]
    ends = (provider for end, provider in OF_PROVIDER.items() if Path(name).stem.endswith(end))
    return f"runtime/kernels/{next(ends, 'portable')}"


def includes() -> list[tuple[str, str]]:
    """Returns (file, header of ours that it includes) for the runtime and the board support."""
    found = []
    for folder in ("platforms/bsp", "runtime"):
        for path in sorted((ROOT / folder).rglob("*")):
            tests = path.stem.endswith("_test") or "selftest" in path.parts
            if path.suffix in (".c", ".cc", ".h", ".S") and not tests:
                name = path.relative_to(ROOT).as_posix()
                text = path.read_text(encoding="utf-8")
                for header in re.findall(r'^#include "((?:runtime|platforms|tests)/.*)"$', text, re.MULTILINE):
                    found.append((name, header))
    return found


def test_includes_point_down():
    found = includes()
    assert len(found) > 100
    wrong = [
        f"{name} includes {header}" for name, header in found if LAYERS.index(layer(header)) > LAYERS.index(layer(name))
    ]
    assert not wrong


def test_operators_share_only_what_is_in_common():
    """A folder has all of an operator: what another one needs too is in common/, which needs no operator's."""
    of_operators = [(name, header) for name, header in includes() if operator_folder(header) not in ("", "common")]
    assert len(of_operators) > 50
    wrong = [pair for pair in of_operators if operator_folder(pair[0]) != operator_folder(pair[1])]
    assert not wrong
