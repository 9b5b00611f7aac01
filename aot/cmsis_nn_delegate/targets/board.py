"""A board as its description has it: the core, and the sizes and speeds of its memories.

Descriptions are those that firmware is linked with (platforms/README.md). They say which memories a model can be given
(`Board.memories_of`), which core it is compiled for, and how much flash there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Optional

from ..format.schema import MAX_REF_OFFSET
from ..support.checked import checked, checked_fields
from ..support.errors import UserError
from ..support.structured import AnyBase, read_json, structured
from .cores import ALSO_RUNS_ON, CORES
from .memory import Memory
from .simulated_boards import BOARDS
from .target import Target, get_target

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
        """Returns the target called `name`, by default the board's own core. UserError if there is no such target, or
        the board does not run what is compiled for it."""
        running = _running(self.core)
        if not running:
            raise UserError(f"board {self.name} has a {self.core}; nothing can be compiled for that")
        if name is None:
            return get_target(self.core if self.core in running else running[0])
        try:
            found = get_target(name)
        except ValueError as error:
            raise UserError(str(error)) from error
        if found.name not in running:
            raise UserError(
                f"board {self.name} has a {self.core}, which does not run models for {found.name}: leave out --target, "
                "or give another board"
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


def _running(core: str) -> list[str]:
    """Returns the targets whose code runs on `core`."""
    return [cpu for cpu in CORES if core == cpu or core in ALSO_RUNS_ON.get(cpu, ())]


@dataclass(frozen=True)
class _MemoryDescription:
    size: AnyBase
    wait_states: Optional[AnyBase] = None

    def __post_init__(self) -> None:
        if self.size <= 0 or (self.wait_states or 0) < 0:
            raise ValueError("size is not positive, or wait_states are negative")


@dataclass(frozen=True)
class _Description:
    """What is read of NAME.board.json."""

    name: str
    core: str
    memories: dict[str, _MemoryDescription]

    def __post_init__(self) -> None:
        missing = [name for name in (_FLASH, "RAM") if name not in self.memories]
        if missing:
            raise ValueError(f"memories has no {missing[0]}")
        if not _running(self.core):
            raise ValueError(f"nothing can be compiled for the core {self.core!r}")


def _read(path: str) -> Board:
    advice = (
        "give the NAME.board.json that Bazel writes beside an image, or one with name, core and memories, each with "
        "its size"
    )
    found = structured(read_json(path, advice), _Description, f"{path} does not describe a board", advice)
    memories = {name: BoardMemory(memory.size, memory.wait_states) for name, memory in found.memories.items()}
    return Board(found.name, found.core, memories)
