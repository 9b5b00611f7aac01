"""The figures of other systems, in anchors.json: `load`.

Two kinds, which are never mixed. `counted` are executed instructions and bytes that this project measured once, in the
same simulator, with GCC 12.2. `published` are cycles on real boards, measured by others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

FILE = Path(__file__).with_name("anchors.json")
STREAMING = "streaming_wakeword"  # of which others publish each window, computed anew


@dataclass(frozen=True)
class Counted:
    """A system on one core with one network: executed instructions, and bytes of RAM without the stack."""

    system: str
    core: str
    network: str
    init: Optional[int]  # None if that was not measured
    inference: int
    ram: int


@dataclass(frozen=True)
class Published:
    """Millions of cycles of an inference on a board with this core."""

    system: str
    core: str
    network: str
    megacycles: float


@dataclass(frozen=True)
class Anchors:
    """All figures. `about_*` say what the systems are and where the figures come from, a sentence or two each."""

    networks: tuple[str, ...]
    counted: tuple[Counted, ...]
    about_counted: dict[str, str]  # by system, with the date
    published: tuple[Published, ...]  # of these networks, and of `STREAMING` where a system has it
    about_published: str


def load() -> Anchors:
    """Reads anchors.json."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    networks = tuple(document["networks"])
    published = document["published"]
    return Anchors(
        networks=networks,
        counted=tuple(entry for system in document["counted"] for entry in _counted(system, networks)),
        about_counted={s["system"]: f"{s['about']} Measured in {s['date']}." for s in document["counted"]},
        published=tuple(
            Published(entry["system"], entry["core"], network, cycles)
            for entry in published["systems"]
            for network, cycles in _by_network(entry, networks)
        ),
        about_published=f"{published['about']} {published['date'].capitalize()}.",
    )


def _by_network(entry: dict[str, Any], networks: tuple[str, ...]) -> list[tuple[str, float]]:
    found = list(zip(networks, entry["megacycles"], strict=True)) if "megacycles" in entry else []
    return found + ([(STREAMING, entry[STREAMING])] if STREAMING in entry else [])


def _counted(system: dict[str, Any], networks: tuple[str, ...]) -> list[Counted]:
    found = []
    for core, inferences in system["inference"].items():
        inits = system.get("init", {}).get(core, [None] * len(networks))
        for network, init, inference, ram in zip(networks, inits, inferences, system["ram"][core], strict=True):
            found.append(Counted(system["system"], core, network, init, inference, ram))
    return found
