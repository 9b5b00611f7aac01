"""The boards that images are linked for, and the cores, from the tables in platforms/."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from typing import Any

from platforms.tools import board as descriptions
from platforms.tools.board import Board, BoardError

__all__ = ["Board", "BoardError", "Core", "board_of", "cores", "generated", "get_board", "simulators", "tested_cores"]

_ROOT = pathlib.Path(__file__).parent.parent


@dataclasses.dataclass(frozen=True)
class Core:
    """A core that firmware is built for, with all of its features or without some."""

    cpu: str  # "cortex-m55", "cortex-m33+nodsp"
    core: str  # the core itself: "cortex-m33"
    architecture: str  # "armv7e-m": see platforms/cores.bzl
    isa: str  # "scalar", "dsp" or "mve"
    board: Board  # for which its images are linked by default; it may have another core that runs them
    fully_tested: bool  # whether all tests run on it


def generated(path: pathlib.Path) -> pathlib.Path:
    """Returns the path of a file that Bazel generates: beside the sources if Bazel runs the program, else in the
    checkout's bazel-bin. The file may not exist."""
    return _ROOT / path if (_ROOT / path).exists() else _ROOT / "bazel-bin" / path


@functools.cache
def _tables() -> descriptions.Tables:
    return descriptions.load_tables()


@functools.cache
def cores() -> dict[str, Core]:
    """Returns all cores, by their name as in -mcpu ("cortex-m55", "cortex-m33+nodsp")."""
    return {
        entry["cpu"]: Core(
            entry["cpu"],
            entry["core"],
            entry["architecture"],
            entry["isa"],
            get_board(entry["board"]),
            entry["fully_tested"],
        )
        for entry in _tables().cores
    }


def tested_cores() -> list[str]:
    """Returns the cores on which all tests run."""
    return [cpu for cpu, core in cores().items() if core.fully_tested]


def simulators() -> dict[str, dict[str, Any]]:
    """Returns the table of simulators, by name."""
    return _tables().simulators


def get_board(name: str) -> Board:
    """Returns the board with this name ("mps3_an547" or "mps3-an547"), or the one that a JSON file describes;
    BoardError with the choices if there is none."""
    return descriptions.load(name, _tables(), own_driver=True)


def board_of(image: pathlib.Path, name: str) -> Board:
    """Returns the board that the ELF file `image` was linked for; the image calls it `name`.

    The build writes the description beside the image, as <image>.board.json. Without that file, the board must be in
    platforms/boards.bzl.
    """
    beside = image.with_suffix(".board.json")
    if not beside.exists():
        try:
            return get_board(name)
        except BoardError as error:
            raise BoardError(
                f"{image}: {error}; the build writes the description as {beside.name} beside the image"
            ) from error
    board = get_board(str(beside))
    if board.name != name.replace("-", "_"):
        raise BoardError(f"{beside} describes the board {board.name}, but {image.name} was linked for {name}")
    return board
