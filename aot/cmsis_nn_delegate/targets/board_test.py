"""Boards as descriptions have them: which memories, cores and flash they give to a model, and what is refused."""

import json
from pathlib import Path

import pytest

from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.board import Board, BoardMemory
from cmsis_nn_delegate.targets.memory import Memory

MINE = {
    "name": "mine",
    "core": "cortex-m7",
    "memories": {
        "FLASH": {"origin": "0x08000000", "size": "0x100000", "wait_states": 7},
        "RAM": {"origin": 0x24000000, "size": 512 << 10, "wait_states": 3},
        "DTCM": {"origin": 0x20000000, "size": 128 << 10, "wait_states": 0},
        "BACKUP": {"origin": 0x38800000, "size": 4096},
    },
}


@pytest.fixture
def mine(tmp_path):
    return Board.of(str(written(tmp_path, MINE)))


def written(folder, description):
    path = folder / "mine.board.json"
    path.write_text(description if isinstance(description, str) else json.dumps(description))
    return path


def test_a_description_is_read(mine):
    assert (mine.name, mine.core, mine.flash_bytes, mine.target().name) == ("mine", "cortex-m7", 1 << 20, "cortex-m7")
    assert mine.memories["DTCM"] == BoardMemory(128 << 10, 0)
    assert mine.memories["BACKUP"].wait_states is None


def test_memories_have_the_sizes_of_the_board_unless_less_is_asked_for(mine):
    assert mine.memories_of(["DTCM", "RAM=64K"]) == [Memory("DTCM", 128 << 10), Memory("RAM", 64 << 10)]
    weights = ("activations", "weights")
    assert mine.memories_of(["DTCM:activations,weights"]) == [Memory("DTCM", 128 << 10, weights)]
    assert mine.memories_of(["DTCM=1K:activations,weights"]) == [Memory("DTCM", 1 << 10, weights)]
    assert mine.memories_of(["RAM=512K"]) == [Memory("RAM", 512 << 10)]


def test_the_order_of_memories_of_unknown_speed_is_that_of_the_user(mine):
    for order in (["BACKUP", "DTCM"], ["DTCM", "BACKUP"]):
        assert [memory.name for memory in mine.memories_of(order)] == order


@pytest.mark.parametrize(
    "texts, message",
    [
        (["DTCM=129K"], "memory 'DTCM=129K': DTCM of board mine has 131,072 bytes"),
        (["dtcm"], "board mine has no RAM called 'dtcm': it has RAM, DTCM, BACKUP"),
        (["FLASH"], "board mine has no RAM called 'FLASH'"),
        (["DTCM:code"], "DTCM is for 'code', which is none of activations"),
        (["DTCM=a"], "memory 'DTCM=a': write NAME=SIZE"),
        (["RAM", "DTCM"], "RAM comes before DTCM, but is slower: board mine waits 3 cycles for it, and 0 for DTCM"),
    ],
)
def test_what_the_board_does_not_have_is_refused(mine, texts, message):
    with pytest.raises(UserError, match=message):
        mine.memories_of(texts)


@pytest.mark.parametrize(
    "description, message",
    [
        ("{", "is no JSON: "),
        ("[]", "contains no object; give the NAME.board.json"),
        ({"core": "cortex-m7", "memories": {}}, "name is missing"),
        ({**MINE, "memories": {"FLASH": {"size": 1}}}, "memories has no RAM"),
        ({**MINE, "memories": {"RAM": {"origin": 1}}}, r"memories\['RAM'\]\.size is missing"),
        ({**MINE, "memories": {"RAM": {"size": "much"}}}, "does not describe a board: .*much"),
        ({**MINE, "memories": 3}, "does not describe a board: "),
    ],
)
def test_what_is_no_description(tmp_path, description, message):
    path = written(tmp_path, description)
    with pytest.raises(UserError, match=f"{path} .*{message}"):
        Board.of(str(path))


def test_boards_that_do_not_exist(tmp_path):
    with pytest.raises(UserError, match="none.json does not exist; give the NAME.board.json"):
        Board.of(str(tmp_path / "none.json"))
    with pytest.raises(UserError, match="unknown board 'mps9': choose one of microbit, .*, or give the .json"):
        Board.of("mps9")


def test_models_are_compiled_for_cores_that_the_board_runs(mine):
    assert Board.of("microbit").target().name == "cortex-m0"
    assert Board.of("microbit").target("cortex-m0plus").name == "cortex-m0plus"
    assert Board.of("mps2-an505").target("cortex-m33+nofp+nodsp").name == "cortex-m33+nodsp+nofp"
    assert Board.of("mps3-an547").target("cortex-m85").name == "cortex-m85"
    with pytest.raises(
        UserError, match="has a cortex-m7, which does not run models for cortex-m55: leave out --target"
    ):
        mine.target("cortex-m55")
    with pytest.raises(UserError, match="unknown target 'cortex-m9'; choose one of"):
        mine.target("cortex-m9")
    # A chip without DSP instructions runs nothing that is compiled for them.
    less = Board("less", "cortex-m33+nodsp", mine.memories)
    assert less.target().name == "cortex-m33+nodsp"
    with pytest.raises(UserError, match=r"has a cortex-m33\+nodsp, which does not run models for cortex-m33:"):
        less.target("cortex-m33")
    with pytest.raises(UserError, match="board z has a cortex-a5; nothing can be compiled for that"):
        Board("z", "cortex-a5", {}).target()


def test_simulated_boards_are_those_of_the_tables():
    tables = json.loads(Path("platforms/tables.json").read_text())
    for entry in tables["boards"]:
        board = Board.of(entry["name"])
        assert board.core == entry["core"]
        assert {name: (m.nbytes, m.wait_states) for name, m in board.memories.items()} == {
            name: (m["size"], m["wait_states"]) for name, m in entry["memories"].items()
        }
        (whole,) = board.memories_of(["RAM"])
        assert whole.nbytes == board.memories["RAM"].nbytes
