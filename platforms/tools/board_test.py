"""Descriptions of boards: which are refused, and what they give to a link."""

import copy
import json

import pytest

from platforms.tools import board as boards
from platforms.tools.board import BoardError

TABLES = boards.load_tables()
GOOD = {
    "name": "mine",
    "core": "cortex-m4",
    "clock_hz": 64_000_000,
    "memories": {
        "RAM": {"origin": "0x20000000", "size": 131072},
        "FLASH": {"origin": "0x08000000", "size": 524288, "wait_states": 3},
    },
    "uart": {"type": "cmsdk", "address": "0x40004000"},
    "simulators": {},
}
REMOVED = object()


def changed(path, value):
    """Returns GOOD with another value in one place."""
    data = copy.deepcopy(GOOD)
    *parents, last = path.split("/")
    inner = data
    for name in parents:
        inner = inner[name]
    if value is REMOVED:
        del inner[last]
    else:
        inner[last] = value
    return data


def test_a_board():
    board = boards.parse(GOOD, TABLES)
    assert (board.name, board.core, board.uart, board.uart_type) == ("mine", "cortex-m4", 0x40004000, "cmsdk")
    assert board.memories["FLASH"] == boards.Memory(0x08000000, 524288, 3)
    assert board.memories["RAM"].wait_states is None
    assert board.instructions_per_tick == 15.625
    assert boards.parse(json.loads(boards.as_json(board)), TABLES) == board


def test_every_board_of_the_table_is_right():
    names = [data["name"] for data in TABLES.boards]
    assert len(names) >= 6
    for name in names:
        boards.load(name, TABLES)


def test_images_run_on_the_board_of_their_core():
    for core in TABLES.cores:
        board = boards.load(core["board"], TABLES)
        boards.check_core(board, core["cpu"], TABLES)


@pytest.mark.parametrize(
    "path, value, message",
    [
        ("memories/RAM", REMOVED, "RAM is missing; an image needs FLASH and RAM"),
        ("memories", [], "memories: give an object"),
        ("memories/RAM/size", REMOVED, "memory RAM: give origin and size"),
        ("memories/RAM/size", 0, "memory RAM: origin and size must be numbers"),
        ("memories/RAM/origin", "0xfffffff0", "within 4 GiB"),
        ("memories/RAM/origin", "here", "memory RAM: origin and size must be numbers"),
        ("memories/RAM/size", 100_001, "memory RAM: its origin and size must be multiples of 16"),
        ("memories/FLASH/origin", 64, "memory FLASH: its origin must be multiples of 128"),
        ("memories/FLASH/wait_states", -1, "memory FLASH: wait_states"),
        ("memories/FLASH/origin", "0x20010000", "RAM and FLASH overlap from 0x20010000 on; change an origin or a size"),
        ("memories/ext ram", {"origin": 0, "size": 1}, "'ext ram' cannot be a name in a linker script"),
        ("core", "cortex-m5", "core: 'cortex-m5' is unknown; choose one of cortex-m0plus, .*cortex-m0.*cores.bzl"),
        ("core", REMOVED, "core is missing"),
        ("clock_hz", "fast", "clock_hz must be a positive number"),
        ("name", "My-Board", "name: 'My-Board' must be lower case"),
        (
            "uart/type",
            "mine",
            "there is no driver for 'mine'; choose one of cmsdk, .*, or give header",
        ),
        ("uart/address", None, "uart: address"),
        ("simulators/gem5", {}, "'gem5' is unknown; choose from .*qemu.*, or leave it out"),
        ("simulators/qemu", {}, "QEMU needs 'machine' of the board, a string"),
        ("simulators/qemu", {"machine": "a", "options": "-x"}, "QEMU needs 'options' of the board, a list of strings"),
        ("simulators/renode", {"repl": "x"}, "Renode takes no 'repl'"),
        ("simulators/renode", {"models": "rcc"}, "Renode needs 'models' of the board, a list of strings"),
        ("start", 1, "start must be the path of a C source"),
        ("memory", {}, "'memory' is not a field of a board; the fields are name, core"),
    ],
)
def test_what_is_refused(path, value, message):
    with pytest.raises(BoardError, match=f"^board [^\n]*:\n  [^\n]*{message}"):
        boards.parse(changed(path, value), TABLES)


def test_all_problems_are_said_at_once():
    data = changed("core", "cortex-m5")
    del data["memories"]["FLASH"]
    with pytest.raises(BoardError) as error:
        boards.parse(data, TABLES)
    assert len(str(error.value).splitlines()) == 3


def test_an_image_for_another_core():
    board = boards.parse(GOOD, TABLES)
    boards.check_core(board, "cortex-m4", TABLES)
    with pytest.raises(BoardError, match="board mine has a cortex-m4, which does not run images for cortex-m55"):
        boards.check_core(board, "cortex-m55", TABLES)
    # One that has the same instructions.
    boards.check_core(boards.parse(changed("core", "cortex-m0"), TABLES), "cortex-m0plus", TABLES)


def test_a_chip_without_a_feature():
    less = boards.parse(changed("core", "cortex-m33+nodsp"), TABLES)
    for cpu in ("cortex-m33+nodsp", "cortex-m33+nodsp+nofp"):
        boards.check_core(less, cpu, TABLES)
    for cpu in ("cortex-m33", "cortex-m33+nofp"):
        with pytest.raises(BoardError, match=r"has a cortex-m33\+nodsp, which does not run images for cortex-m33"):
            boards.check_core(less, cpu, TABLES)
    boards.check_core(boards.parse(changed("core", "cortex-m33"), TABLES), "cortex-m35p+nodsp+nofp", TABLES)


def test_the_program_writes_what_a_link_needs(tmp_path):
    given, script, cmake = (tmp_path / name for name in ("mine.json", "mine.ld", "mine.cmake"))
    given.write_text(json.dumps(changed("uart", {"type": "mine", "address": 16, "header": "uart_mine.h"})))
    (tmp_path / "image.ld.in").write_text("MEMORY {\n@MEMORIES@\n}\n@SECTIONS@\n")
    options = [f"--script={script}", f"--template={tmp_path}/image.ld.in", f"--cmake={cmake}"]
    assert boards.main([str(given), "--core=cortex-m4", *options]) == 0
    assert script.read_text() == (
        "MEMORY {\n"
        "  FLASH : ORIGIN = 134217728, LENGTH = 524288\n"
        "  RAM : ORIGIN = 536870912, LENGTH = 131072\n"
        "  MAILBOX : ORIGIN = 0, LENGTH = 0\n"
        "}\n"
        "\n"
    )
    assert f'set(BOARD_UART_HEADER "{tmp_path}/uart_mine.h")\n' in cmake.read_text()


def test_start_up_code_of_a_board(tmp_path):
    for board, start in [
        (boards.parse(changed("start", "own/start.c"), TABLES, tmp_path / "mine.json"), tmp_path / "own/start.c"),
        (boards.load("stm32f4_discovery", TABLES), boards.TABLES.parent / "boards/stm32f4_discovery/start.c"),
    ]:
        assert f'set(BOARD_START "{start.resolve()}")\n' in boards.as_cmake(board)
    assert 'set(BOARD_START "")\n' in boards.as_cmake(boards.parse(GOOD, TABLES))


@pytest.mark.parametrize(
    "text, message", [("{", "does not describe a board"), (None, "does not describe a board"), ("[]", "a JSON object")]
)
def test_a_file_that_is_no_description(tmp_path, capsys, text, message):
    path = tmp_path / "mine.json"
    if text is not None:
        path.write_text(text)
    assert boards.main([str(path)]) == 1
    assert message in capsys.readouterr().err


def test_an_unknown_name(capsys):
    assert boards.main(["mps9"]) == 1
    assert "unknown board 'mps9'; choose one of microbit, " in capsys.readouterr().err
