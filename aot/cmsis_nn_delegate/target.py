"""The cores that a payload can be compiled for, and the instruction set of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from .checked import checked, checked_fields
from .cores import CORES
from .format.schema import Isa


@checked_fields
@dataclass(frozen=True)
class Target:
    """A core: its name as in -mcpu, and the instruction set, which selects CMSIS-NN's kernels."""

    name: str
    isa: Isa


TARGETS = {name: Target(name, Isa[isa.upper()]) for name, isa in CORES.items()}

# The first target of each instruction set ("scalar"); other targets of the same set have the same payloads.
TARGET_OF_ISA = {isa.name.lower(): next(target for target in TARGETS.values() if target.isa is isa) for isa in Isa}


@checked()
def check_target(target: Union[str, Target]) -> None:
    """UserError if `target` is neither a name nor a target. It may be unknown."""


@checked()
def get_target(name: str) -> Target:
    """Returns the target called `name`. ValueError lists the choices, or names the likely one, if there is none."""
    if name not in TARGETS:
        full = f"cortex-{name}".lower()
        hint = f"did you mean {full}?" if full in TARGETS else f"choose one of {', '.join(TARGETS)}"
        raise ValueError(f"unknown target {name!r}; {hint}")
    return TARGETS[name]
