"""Where the memories of the image lie, by its size report."""

import json
import re
from pathlib import Path

FOLDER = Path("examples/several_memories")


def size_report(core):
    return json.loads((FOLDER / f"{core}.size.json").read_text())


def arena_bytes():
    header = (FOLDER / "mve" / "spread.h").read_text()
    found = re.search(r"#define SPREAD_ARENA_BYTES (\d+)", header)
    assert found
    return int(found[1])


def test_the_arena_lies_in_the_memory_that_the_board_has_beside_its_ram():
    report = size_report("cortex_m55")
    assert report["memories"] == {"SRAM": {"total": arena_bytes(), "capacity": 4 << 20}}
    assert f"SRAM, of {4 << 20:,} bytes" in (FOLDER / "cortex_m55.size").read_text()


def test_nothing_is_loaded_there():
    image = (FOLDER / "cortex_m55.bin").stat().st_size
    report = size_report("cortex_m55")
    assert report["flash"]["total"] <= image < report["flash"]["total"] + 64


def test_a_board_without_other_memories():
    assert size_report("cortex_m4")["memories"] == {}
