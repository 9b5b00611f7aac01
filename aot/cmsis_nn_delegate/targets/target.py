"""The targets that a payload can be compiled for, and the instruction set of each."""

from __future__ import annotations

from dataclasses import dataclass

from ..format.schema import Isa
from ..support.checked import checked, checked_fields
from ..support.errors import UserError
from .cores import CORES


@checked_fields
@dataclass(frozen=True)
class Target:
    """A core, with all of its features or without some: its name as in GCC's -mcpu ("cortex-m33",
    "cortex-m33+nodsp"), and the instruction set that it then has, which selects CMSIS-NN's kernels. UserError if it has
    another."""

    name: str
    isa: Isa

    def __post_init__(self) -> None:
        if self.name not in CORES:
            raise UserError(f"{self.name!r} is no target that `cmsisnn targets` lists: use get_target({self.name!r})")
        isa, asked = CORES[self.name][0], self.isa.name.lower()
        if isa != asked:
            core = self.name.split("+")[0]
            others = [name for name in CORES if name.split("+")[0] == core and CORES[name][0] == asked]
            advice = f"name {others[0]}" if others else f"no target with a {core} has {asked}"
            raise UserError(f"the instruction set of {self.name} is {isa}, not {asked}: {advice}")


_ALL = {name: Target(name, Isa[isa.upper()]) for name, (isa, _, _) in CORES.items()}

# The cores with all of their features; `get_target` also knows them without some.
TARGETS = {name: target for name, target in _ALL.items() if "+" not in name}

# The first target of each instruction set ("scalar"); other targets of the same set have the same payloads.
TARGET_OF_ISA = {isa.name.lower(): next(target for target in TARGETS.values() if target.isa is isa) for isa in Isa}


def has_fpu(name: str) -> bool:
    """Returns whether a target of `CORES` computes floats with instructions of its own: its core can be without them,
    and it is not."""
    return f"{name.split('+')[0]}+nofp" in CORES and "fp" not in CORES[name][2]


@checked()
def get_target(name: str) -> Target:
    """Returns the target called `name`: a core of `TARGETS`, "cortex-m33", or such a core without features, as GCC
    spells it and in any order: "cortex-m33+nodsp", "cortex-m55+nomve+nofp". ValueError lists the choices, or names the
    likely one, if there is none."""
    if name in _ALL:
        return _ALL[name]
    core, *options = name.split("+")
    if core not in TARGETS:
        similar = [known for known in (core.lower(), f"cortex-{core}".lower()) if known in TARGETS]
        hint = f"choose one of {', '.join(TARGETS)}"
        if similar:
            hint = f"did you mean {'+'.join([*similar[:1], *options]).lower()}?"
        raise ValueError(f"unknown target {name!r}; {hint}")
    # What each option switches off, with what depends on it.
    known = {single: CORES[f"{core}+{single}"][2] for single in _options_of(core)}
    for option in options:
        if option not in known:
            raise ValueError(f"unknown target {name!r}: {_impossible(core, option)}")
    without = {feature for option in options for feature in known[option]}
    return next(_ALL[other] for other in _ALL if other.split("+")[0] == core and set(CORES[other][2]) == without)


def _options_of(core: str) -> list[str]:
    """Returns what can be switched off of `core`, each alone: "nodsp", "nofp"."""
    others = [other.split("+") for other in CORES]
    return [options[0] for name, *options in others if name == core and len(options) == 1]


def _impossible(core: str, option: str) -> str:
    possible = [f"{core}+{one}" for one in _options_of(core)]
    choices = f"leave out +{option}"
    if possible:
        *first, last = possible
        choices = f"possible are {', '.join(first)} and {last}, and several together"
        choices = choices if first else f"only {last} is possible"
    feature = option.removeprefix("no")
    if feature == option:
        return f"+{option} switches nothing off, and {core} has all of its features; {choices}"
    if not possible:
        return f"{core} has no features that can be switched off; {choices}"
    return f"{core} has no feature {feature!r} that can be switched off; {choices}"
