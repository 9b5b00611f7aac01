"""Images for the boards that people own lie where the core looks for them, and the table says what is tried."""

import json
import pathlib
import struct

import pytest

from sim import boards
from sim.elf import Elf

FOLDER = pathlib.Path("platforms/boards")
IMAGES = pathlib.Path("platforms/bsp/selftest")
BOARDS = sorted(path.parent.name for path in FOLDER.glob("*/start.c"))
_LINES = 150


def span(memory):
    return memory.origin, memory.origin + memory.size


def flash(name):
    """Returns what is in flash, from its first byte on."""
    return (IMAGES / f"image_{name}.bin").read_bytes()


@pytest.mark.parametrize("name", BOARDS)
def test_where_an_image_lies(name):
    board = boards.get_board(name)
    elf = Elf(IMAGES / f"image_{name}.elf")
    image = flash(name)
    # Also an image for a Cortex-M23 would run on a Cortex-M33.
    assert elf.string("bsp_core") == board.core
    rom, ram = span(board.memories["FLASH"]), span(board.memories["RAM"])

    # The core reads these two after reset; an RP2040 starts something else first: boot2_test.py.
    vectors = 256 if name == "rpi_pico" else 0
    stack, reset = struct.unpack_from("<II", image, vectors)
    assert elf.address("__text_start") == rom[0] + vectors
    assert (stack, reset) == (ram[1], elf.address("bsp_reset") | 1)
    # The board's own start-up code, not the default.
    assert elf.address("bsp_reset") & ~1 != elf.address("Reset_Handler") & ~1
    assert rom[0] < reset < rom[0] + len(image) <= rom[1]

    places = [elf.address(at) for at in ("__data_start", "__bss_end", "__arena_start", "__arena_end", "__stack_top")]
    assert places == sorted(places)
    assert ram[0] == places[0] and places[-1] == ram[1]
    assert elf.address("__mailbox_start") == elf.address("__mailbox_end")


def test_a_kinetis_stays_open_to_debuggers():
    # Its flash configuration field: key, protection, FSEC with security off, FOPT, protection.
    assert flash("frdm_k64f")[0x400:0x410] == b"\xff" * 12 + b"\xfe" + b"\xff" * 3


def test_the_rom_of_an_rp2350_finds_an_image():
    # A block, by the data sheet: an item that says that this is a program for its Arm cores in Secure state, one that
    # ends the list and counts its words, and the distance to the next block, which is this one again.
    words = struct.unpack("<1024I", flash("rpi_pico2")[:4096])
    start = words.index(0xFFFFDED3)
    assert words[start + 1 : start + 5] == (0x1021 << 16 | 1 << 8 | 0x42, 1 << 8 | 0xFF, 0, 0xAB123579)


@pytest.mark.parametrize("name", BOARDS)
def test_what_its_own_start_up_is(name):
    start = (FOLDER / name / "start.c").read_text(encoding="utf-8")
    assert len(start.splitlines()) <= _LINES
    assert "reference manual" in start or "product specification" in start


def test_the_table_says_what_is_tried():
    rows = {}
    for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 3 and cells[0].strip("`") in BOARDS:
            rows[cells[0].strip("`")] = cells
    tables = json.loads(pathlib.Path("platforms/tables.json").read_text(encoding="utf-8"))
    titles = {entry["name"]: entry["title"] for entry in tables["simulators"]}
    assert sorted(rows) == BOARDS
    for name, cells in rows.items():
        simulators = boards.get_board(name).simulators
        assert cells[1] == f"`{boards.get_board(name).core}`"
        assert all(titles[simulator] in cells[-1] for simulator in simulators)
        # Registers that are memory say nothing about the clocks.
        models = [line for line in simulators.get("renode", {}).get("models", []) if " @ " in line]
        modelled = any(": Memory." not in line for line in models)
        assert ("untried" in cells[-1]) == (not modelled), name
