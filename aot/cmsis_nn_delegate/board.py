"""A board as its description has it: the core, and the sizes and speeds of its memories.

Descriptions are those that firmware is linked with (platforms/README.md). They say which memories a model can be given
(`Board.memories_of`), which core it is compiled for, and how much flash there is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Optional

from .checked import checked, checked_fields
from .cores import ALSO_RUNS_ON
from .errors import UserError
from .format.schema import MAX_REF_OFFSET
from .payload.planner.memories import Memory
from .simulated_boards import BOARDS
from .target import TARGETS, Target, get_target

# Memories of a description that hold no activations: linker scripts place code there, and simulators their jobs.
_FLASH = "FLASH"
_NO_RAM = (_FLASH, "MAILBOX")


@checked_fields
@dataclass(frozen=True)
class BoardMemory:
    """`wait_states` are those of a 32-bit read, in clock cycles of the core; None if they are not known."""

    nbytes: int
    wait_states: Optional[int]


@checked_fields
@dataclass(frozen=True)
class Board:
    """`core` is the board's, as in -mcpu. `memories` has at least FLASH and RAM."""

    name: str
    core: str
    memories: Mapping[str, BoardMemory]

    @staticmethod
    @checked()
    def of(text: str) -> Board:
        """Returns the board that a JSON file describes, if `text` ends in .json, or a simulated one by its name.
        UserError if there is none."""
        if text.endswith(".json"):
            return _read(text)
        name = text.replace("-", "_")
        if name not in BOARDS:
            raise UserError(
                f"unknown board {text!r}: choose one of {', '.join(BOARDS)}, or give the .json that describes yours, "
                "which Bazel writes beside an image as NAME.board.json"
            )
        core, memories = BOARDS[name]
        return Board(name, core, {memory: BoardMemory(*figures) for memory, figures in memories.items()})

    @property
    def flash_bytes(self) -> int:
        return self.memories[_FLASH].nbytes

    @checked()
    def target(self, name: Optional[str] = None) -> Target:
        """Returns the core called `name`, by default the board's own. UserError if there is no such core, or the board
        does not run what is compiled for it."""
        running = [cpu for cpu in TARGETS if self.core == cpu or self.core in ALSO_RUNS_ON.get(cpu, ())]
        if not running:
            raise UserError(f"board {self.name} has a {self.core}; nothing can be compiled for that")
        if name is None:
            return TARGETS[self.core if self.core in running else running[0]]
        try:
            found = get_target(name)
        except ValueError as error:
            raise UserError(str(error)) from error
        if name not in running:
            raise UserError(
                f"board {self.name} has a {self.core}, which does not run models for {name}: leave out --target, or "
                "give another board"
            )
        return found

    @checked()
    def memories_of(self, texts: Sequence[str]) -> list[Memory]:
        """Returns the memories that `texts` describe as `Memory.of` says, but for the size, which may be left out to
        take all of the memory: "DTCM", "DTCM:activations,weights", "RAM=64K". UserError if the board has no such
        memory, if it is smaller, or if a slower one comes first."""
        try:
            found = [self._memory(text) for text in texts]
        except ValueError as error:
            raise UserError(str(error)) from error
        for first, second in pairwise(found):
            before, after = (self.memories[memory.name].wait_states for memory in (first, second))
            if before is not None and after is not None and before > after:
                raise UserError(
                    f"{first.name} comes before {second.name}, but is slower: board {self.name} waits {before} cycles "
                    f"for it, and {after} for {second.name}. Give the fastest memory first"
                )
        return found

    def _memory(self, text: str) -> Memory:
        beginning, colon, kinds = text.partition(":")
        name, equals, _ = beginning.partition("=")
        usable = [memory for memory in self.memories if memory not in _NO_RAM]
        if name not in usable:
            raise ValueError(f"board {self.name} has no RAM called {name!r}: it has {', '.join(usable)}")
        size = self.memories[name].nbytes
        if not equals:
            return Memory.of(f"{name}={min(size, MAX_REF_OFFSET)}{colon}{kinds}")
        memory = Memory.of(text)
        if memory.nbytes > size:
            raise ValueError(f"memory {text!r}: {name} of board {self.name} has {size:,} bytes")
        return memory


def _read(path: str) -> Board:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        memories = {
            name: BoardMemory(
                _number(memory["size"]),
                None if memory.get("wait_states") is None else _number(memory["wait_states"]),
            )
            for name, memory in found["memories"].items()
        }
        board = Board(str(found["name"]), str(found["core"]), memories)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UserError(
            f"{path} does not describe a board: {what}. Give the NAME.board.json that Bazel writes beside an image, or "
            "one with name, core and memories, each with its size"
        ) from error
    missing = [name for name in (_FLASH, "RAM") if name not in memories]
    if missing:
        raise UserError(f"{path} does not describe a board: it has no memory {missing[0]}")
    return board


def _number(value: Any) -> int:
    """Returns a number that is given as such, or as text in any base."""
    return int(value, 0) if isinstance(value, str) else int(value)
