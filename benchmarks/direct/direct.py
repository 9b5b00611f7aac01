"""Counts the instructions of networks that call CMSIS-NN directly: `measure`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim import simulator
from sim.boards import cores

FOLDER = Path(__file__).parent

NETWORKS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder")
CORES = ("cortex-m4", "cortex-m55")

_LINE = re.compile(r"^##DIRECT status=(\d+) arena=(\d+) bytes=(\d+) data=([0-9a-f]*)$", re.MULTILINE)


class DirectError(RuntimeError):
    """The image is missing, failed, or was not counted; the text says which."""


@dataclass(frozen=True)
class Direct:
    """One inference. Instructions are executed ones, sizes bytes."""

    network: str
    core: str
    weights: str  # "random"
    multiplications: int
    inference: int
    arena: int
    differing: int  # bytes of the output that are not those of the integer reference


def image(network: str, core: str) -> Path:
    """Returns the image that Bazel has built."""
    return FOLDER / f"{network}_{core.replace('-', '_')}.elf"


def generated(network: str) -> dict[str, Any]:
    """Returns what generate.py says about a network: its weights, multiplications, and outputs as hexadecimal."""
    about: dict[str, Any] = json.loads((FOLDER / f"{network}.json").read_text())
    return about


def measure(network: str, core: str) -> Direct:
    """Runs one of NETWORKS on one of CORES. DirectError as described there."""
    elf = image(network, core)
    if not elf.is_file():
        raise DirectError(f"there is no {elf.name}: it needs the sources of CMSIS-NN")
    about = generated(network)
    result = simulator.run(str(elf))
    line = _LINE.search(result.uart)
    if result.status != "exit" or result.exit_code != 0 or line is None:
        raise DirectError(result.explain())
    if result.regions is None or len(result.regions) != 1:
        raise DirectError(f"{result.simulator} did not count: {result.counter_note}")
    isa = cores()[core].isa
    return Direct(
        network=network,
        core=core,
        weights=about["weights"],
        multiplications=about["multiplications"][isa],
        inference=result.regions[0].instructions,
        arena=int(line[2]),
        differing=_differing(bytes.fromhex(line[4]), bytes.fromhex(about["expected"][isa])),
    )


def _differing(found: bytes, expected: bytes) -> int:
    if len(found) != len(expected):
        raise DirectError(f"the image printed {len(found)} bytes, the reference has {len(expected)}")
    return sum(a != b for a, b in zip(found, expected))
