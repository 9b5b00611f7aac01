"""The memories of a device that a model may use: `Memory`.

They are described in the order of their speed, the fastest first. Each holds certain kinds of data: by default
activations and scratch memory. The last one that holds these is the *arena*, which firmware gives for each execution,
as it does if no memory is described; the others are regions beside it, which the backend has for all of its models.
`planner.memories` says what lies where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from ..format.schema import MAX_IO, MAX_REF_OFFSET
from ..support.byte_counts import PATTERN, byte_count
from ..support.checked import checked, checked_fields

_RESERVED = ("arena", "persistent")  # reports name regions by these
_PLANNED = ("activations", "scratch")  # what the memory plan places
_KEPT = ("state", "weights")  # what the backend keeps from init() on


@checked_fields
@dataclass(frozen=True)
class Memory:
    """`nbytes` bytes of RAM for a model, for the kinds of data that it `holds`: some of "activations", "scratch",
    "state" and "weights", in this order. Its name is for reports and messages."""

    name: str
    nbytes: int
    holds: tuple[str, ...] = _PLANNED

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", self.name) or self.name in _RESERVED:
            raise ValueError(
                f"a memory is called {self.name!r}; take letters, digits and '_', beginning with a letter, and neither "
                f"{' nor '.join(_RESERVED)}"
            )
        if not 0 < self.nbytes <= MAX_REF_OFFSET:
            raise ValueError(f"memory {self.name} has {self.nbytes} bytes; give 1 to {MAX_REF_OFFSET:,}")
        unknown = [kind for kind in self.holds if kind not in _PLANNED + _KEPT]
        if unknown or not self.holds:
            named = f"{unknown[0]!r}, which is none" if unknown else "nothing, which is none"
            raise ValueError(f"memory {self.name} is for {named} of {', '.join(_PLANNED + _KEPT)}")
        # So that equal memories are equal, whatever the order that they were written in.
        object.__setattr__(self, "holds", tuple(kind for kind in _PLANNED + _KEPT if kind in self.holds))

    @staticmethod
    @checked()
    def of(text: str) -> Memory:
        """Returns the memory that "NAME=SIZE" or "NAME=SIZE:KIND,KIND" describes: SIZE is a number of bytes, or of KiB
        or MiB with K or M after it, KIND one of those in `holds`. ValueError says what is wrong."""
        found = re.fullmatch(rf"([^=]*)=({PATTERN})(?::([^:]*))?", text, re.ASCII)
        if found is None:
            raise ValueError(
                f"memory {text!r}: write NAME=SIZE or NAME=SIZE:KINDS, for example dtcm=64K or "
                "dtcm=64K:activations,weights; SIZE is bytes, or ends in K or M"
            )
        holds = _PLANNED if found[3] is None else tuple(kind for kind in found[3].split(",") if kind)
        return Memory(found[1], byte_count(found[2]), holds)

    @staticmethod
    @checked()
    def list_of(text: str) -> list[Memory]:
        """Returns the memories that "NAME=SIZE;NAME=SIZE:KINDS" describes; none for an empty text."""
        return [Memory.of(part) for part in text.split(";")] if text else []

    def __str__(self) -> str:
        kinds = "" if self.holds == _PLANNED else f":{','.join(self.holds)}"
        return f"{self.name}={self.nbytes}{kinds}"


def check_memories(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Returns `memories`. ValueError if there are more than a payload can refer to, if two have the same name, if the
    arena's holds only activations or only scratch memory, or if several hold states and weights."""
    most = MAX_IO - 1  # an input and an output have bases too, and the arena's is another one
    if len(memories) > most:
        raise ValueError(f"{len(memories)} memories are given; a payload can use at most {most}")
    names = [memory.name for memory in memories]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several memories are called {twice[0]}; give each another name")
    missing = [kind for arena in planned_in(memories)[-1:] for kind in _PLANNED if kind not in arena.holds]
    if missing:
        arena = planned_in(memories)[-1]
        raise ValueError(
            f"{arena.name} is the slowest memory for {arena.holds[0]} and so has to hold {missing[0]} too: add that to "
            "it, or give a slower memory for both"
        )
    keeping = [memory.name for memory in memories if set(memory.holds) & set(_KEPT)]
    if len(keeping) > 1:
        raise ValueError(
            f"{' and '.join(keeping)} hold states or weights; only one memory can, because the backend takes both from "
            "one allocator"
        )
    return tuple(memories)


def list_text(memories: Sequence[Memory]) -> str:
    """Returns the text that `Memory.list_of` reads."""
    return ";".join(map(str, memories))


def planned_in(memories: Sequence[Memory]) -> list[Memory]:
    """Returns those that hold activations or scratch memory; the last one is the arena."""
    return [memory for memory in memories if set(memory.holds) & set(_PLANNED)]


def copies_weights(memories: Sequence[Memory]) -> bool:
    """Returns whether one of them holds weights."""
    return any("weights" in memory.holds for memory in memories)


def kept_in(memories: Sequence[Memory]) -> Optional[Memory]:
    """Returns the one that holds states or weights; None if none does."""
    return next((memory for memory in memories if set(memory.holds) & set(_KEPT)), None)
