"""Includes in the runtime go only from a folder to earlier folders."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Tests and files that only tests use may include anything.
LAYERS = (
    "platforms/bsp",
    "runtime/payload",
    "runtime/kernels/portable",
    "runtime/kernels/cmsis_nn",
    "runtime/kernels/tuned",
    "runtime/kernels",  # chooses one of them
    "runtime/backend",
    "runtime/standalone",
    "runtime/runner",
    "runtime/runner/standalone",
    "runtime/runner/executorch",
)
FOR_TESTS = {"payload_builder.cc", "payload_builder.h", "test_tensor.h", "write_sample.cc"}


def includes() -> list[tuple[str, str]]:
    """Returns (file, folder of one of our headers that it includes) for the runtime and the board support."""
    found = []
    for folder in ("platforms/bsp", "runtime"):
        for path in sorted((ROOT / folder).rglob("*")):
            tests = path.stem.endswith("_test") or path.name in FOR_TESTS or "selftest" in path.parts
            if path.suffix in (".c", ".cc", ".h") and not tests:
                name = path.relative_to(ROOT).as_posix()
                text = path.read_text(encoding="utf-8")
                for folder_of_header in re.findall(r'^#include "((?:runtime|platforms)/.*)/.*"$', text, re.MULTILINE):
                    found.append((name, folder_of_header))
    return found


def test_includes_point_down():
    found = includes()
    assert len(found) > 100
    wrong = [
        f"{name} includes {folder}"
        for name, folder in found
        if LAYERS.index(folder) > LAYERS.index(name.rpartition("/")[0])
    ]
    assert not wrong
