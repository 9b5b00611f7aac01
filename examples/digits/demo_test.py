"""The demo's table of the image names what the image contains."""

from __future__ import annotations

import json
import re
from pathlib import Path

import figures
import pytest

from examples.digits import demo

RUNTIME = Path(__file__).parent.parent.parent / "runtime"


def test_every_part_of_the_image_has_a_title():
    sizes = json.loads((RUNTIME / "cortex_m55.size.json").read_text(encoding="utf-8"))
    parts = demo.flash_by_part(sizes)
    assert sum(parts.values()) == sizes["flash"]["total"]
    assert set(parts) <= set(demo._PARTS.values())
    assert parts["padding"] < 256 and parts["kernels of this project"] > 4096


def test_readme_shows_what_it_prints(tmp_path):
    """The weights, and with them accuracy and a few branches, are those of the machine that trains."""
    everything = figures.run_demo(tmp_path)
    shown = figures.demo_block().text
    printed = figures.refreshed(shown, everything)
    for before, after in zip(shown.splitlines(), printed.splitlines(), strict=True):
        if before.startswith("  instructions"):
            numbers = [figures.number(re.findall(r"[\d,]+", line)[0]) for line in (before, after)]
            # Other kernels take others.
            assert figures.KERNELS not in everything or numbers[1] == pytest.approx(numbers[0], rel=0.02), (
                "run `bazel run //docs:figures`"
            )
        elif not before.startswith("  accuracy"):
            assert before == after, "run `bazel run //docs:figures`"


def test_an_unknown_part_keeps_its_name():
    parts = {name: {"total": total} for name, total in (("runtime/payload", 1), ("runtime/backend", 2), ("new", 3))}
    assert demo.flash_by_part({"flash": {"parts": parts}}) == {"delegate": 3, "new": 3}
