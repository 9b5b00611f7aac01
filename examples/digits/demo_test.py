"""The demo's table of the image names what the image contains."""

from __future__ import annotations

import json
from pathlib import Path

from examples.digits import demo

RUNTIME = Path(__file__).parent.parent.parent / "runtime"


def test_every_part_of_the_image_has_a_title():
    sizes = json.loads((RUNTIME / "cortex_m55.size.json").read_text(encoding="utf-8"))
    parts = demo.flash_by_part(sizes)
    assert sum(parts.values()) == sizes["flash"]["total"]
    assert set(parts) <= set(demo._PARTS.values())
    assert parts["padding"] < 256 and parts["kernels of this project"] > 4096


def test_an_unknown_part_keeps_its_name():
    parts = {name: {"total": total} for name, total in (("runtime/payload", 1), ("runtime/backend", 2), ("new", 3))}
    assert demo.flash_by_part({"flash": {"parts": parts}}) == {"delegate": 3, "new": 3}
