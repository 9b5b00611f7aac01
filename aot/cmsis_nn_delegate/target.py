"""The cores a payload can be compiled for, and the instruction set of each."""

from __future__ import annotations

from dataclasses import dataclass

from .cores import CORES
from .format.schema import Isa


@dataclass(frozen=True)
class Target:
    """A core: its name as in -mcpu, and the kernels that CMSIS-NN compiles to on it."""

    name: str
    isa: Isa


TARGETS = {name: Target(name, Isa[isa.upper()]) for name, isa in CORES.items()}

# By instruction set ("scalar"), the first target with it: the payloads of the others are the same.
TARGET_OF_ISA = {isa.name.lower(): next(target for target in TARGETS.values() if target.isa is isa) for isa in Isa}


def get_target(name: str) -> Target:
    """The target called `name`; ValueError with the choices if there is none."""
    if name not in TARGETS:
        raise ValueError(f"unknown target {name!r}; choose one of {', '.join(TARGETS)}")
    return TARGETS[name]
