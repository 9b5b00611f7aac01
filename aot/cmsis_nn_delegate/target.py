"""The cores a payload can be compiled for, and the instruction set of each."""

from __future__ import annotations

from dataclasses import dataclass

from .format.schema import Isa


@dataclass(frozen=True)
class Target:
    """A core: its name as in -mcpu, and the kernels that CMSIS-NN compiles to on it."""

    name: str
    isa: Isa


TARGETS = {
    target.name: target
    for target in (
        Target("cortex-m0plus", Isa.SCALAR),
        Target("cortex-m3", Isa.SCALAR),
        Target("cortex-m4", Isa.DSP),
        Target("cortex-m7", Isa.DSP),
        Target("cortex-m33", Isa.DSP),
        Target("cortex-m55", Isa.MVE),
        Target("cortex-m85", Isa.MVE),
    )
}


def get_target(name: str) -> Target:
    """The target called `name`; ValueError with the choices if there is none."""
    if name not in TARGETS:
        raise ValueError(f"unknown target {name!r}; choose one of {', '.join(TARGETS)}")
    return TARGETS[name]
