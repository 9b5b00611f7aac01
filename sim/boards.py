"""The simulated boards and the cores that run on them, as platforms/boards.bzl has them."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib

_ROOT = pathlib.Path(__file__).parent.parent
_DATA = pathlib.Path("platforms", "boards.json")


@dataclasses.dataclass(frozen=True)
class Board:
    """A board that a simulator provides."""

    name: str  # as in boards.bzl: "mps3_an547"
    machine: str  # as the simulator calls it: "mps3-an547"
    memories: dict[str, tuple[int, int]]  # FLASH, RAM, MAILBOX -> (origin, bytes)
    uart: int  # base address
    uart_type: str  # "cmsdk" or "nrf51"
    instructions_per_tick: float  # of SysTick
    qemu_options: tuple[str, ...]  # besides the machine's name


@dataclasses.dataclass(frozen=True)
class Core:
    """A core that firmware is built for."""

    cpu: str  # "cortex-m55"
    isa: str  # "scalar", "dsp" or "mve"
    board: Board
    note: str  # what it means that the board's core is another one; "" if it is the same


def generated(path: pathlib.Path) -> pathlib.Path:
    """Where a file that Bazel generates lies: beside the sources in a run through Bazel, else in the
    checkout's bazel-bin. The file may not exist."""
    return _ROOT / path if (_ROOT / path).exists() else _ROOT / "bazel-bin" / path


@functools.cache
def _load() -> tuple[dict[str, Board], dict[str, Core]]:
    path = generated(_DATA)
    if not path.exists():
        raise FileNotFoundError(f"{_DATA} is generated: run `bazel build //sim/...` first, or run through Bazel")
    data = json.loads(path.read_text(encoding="utf-8"))
    boards = {
        name: Board(
            name=name,
            machine=entry["machine"],
            memories={memory: tuple(span) for memory, span in entry["memories"].items()},
            uart=entry["uart"],
            uart_type=entry["uart_type"],
            instructions_per_tick=entry["instructions_per_tick"],
            qemu_options=tuple(entry["qemu_options"]),
        )
        for name, entry in data["boards"].items()
    }
    cores = {
        entry["cpu"]: Core(entry["cpu"], entry["isa"], boards[entry["board"]], entry["note"])
        for entry in data["cores"].values()
    }
    return boards, cores


def cores() -> dict[str, Core]:
    """All cores, by their name as in -mcpu ("cortex-m55")."""
    return _load()[1]


def get_board(name: str) -> Board:
    """The board with this name ("mps3_an547" or "mps3-an547"); ValueError with the choices if none."""
    boards = _load()[0]
    key = name.replace("-", "_")
    if key not in boards:
        raise ValueError(f"unknown board {name!r}; choose one of {', '.join(boards)}")
    return boards[key]
