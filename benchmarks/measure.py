"""What a network takes on a simulated core with the kernels of some providers: `measure`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np

from benchmarks.networks import Network
from cmsis_nn_delegate import reference
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.payload.encode import Encoded
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import get_providers
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.profile import Profile
from cmsis_nn_delegate.runner.profile import measure as profile
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target

_ROOT = Path(__file__).parent.parent

# What stands behind the name of a row: the providers that the compiler may choose from, in order of preference.
PROVIDERS = {
    "tuned": ("tuned", "cmsis-nn", "portable"),
    "cmsis-nn": ("cmsis-nn", "portable"),
    "portable": ("portable",),
}


# Options of `compile_model` that trade instructions, RAM and flash for each other, by what the command line calls them.
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "--prefer flash": {"prefer": "flash"},
    "--prefer ram": {"prefer": "ram"},
    "--max-flash-growth 40000": {"max_flash_growth": 40_000},
    "--max-flash-growth 200000": {"max_flash_growth": 200_000},
}


@dataclass(frozen=True)
class Call:
    """One call of a network; fields are those of `runner.profile.CallProfile`."""

    kernel: str
    provider: str
    module: str
    multiplications: int
    instructions: int


@dataclass(frozen=True)
class Measurement:
    """A network on a core. Instructions are executed ones; sizes are bytes."""

    network: str
    weights: str
    core: str
    providers: str  # a key of PROVIDERS
    multiplications: int
    init: int  # without the CRC
    crc: int
    inference: int
    executor: int
    arena: int
    bound: int
    payload: int  # flash of the model
    stack: int
    differing: int  # bytes of the outputs that are not those of the integer reference
    calls: tuple[Call, ...]
    cycles: Optional[simulate.Cycles] = None  # of the inference, modelled: at least, at most; only for cortex-m4
    flash_waits: Optional[simulate.Cycles] = None  # what flash adds to them, likewise
    code_waits: Optional[simulate.Cycles] = None  # the same if the payload lies in RAM
    choice: str = ""  # a key of CHOICES; "" for what the compiler does by default


@dataclass(frozen=True)
class Environment:
    """What the figures were measured with."""

    simulator: str
    compilers: tuple[str, ...]  # of the firmware: "GCC 12.2.1"
    kernels: str  # of the firmware for the providers tuned and cmsis-nn
    cmsis_nn: str  # the commit of its kernels, or why there are none


class Images:
    """The firmware that Bazel has built for this program."""

    def __init__(self, root: Path = _ROOT) -> None:
        self._root = root
        selected = json.loads((root / "runtime" / "kernels" / "selected.json").read_text())
        self.kernels: str = selected["kernels"]
        self.with_cmsis_nn: bool = selected["with_cmsis_nn"]
        self.reason: str = selected["reason"]
        self.library = root / "runtime" / "libcmsis_nn_delegate.so"  # the kernels on the host

    def environment(self, simulator: str, core: str) -> Environment:
        """Returns what was used; `core` is one of those that were measured."""
        return Environment(
            simulator=simulator,
            compilers=compilers(self.profile(core, "tuned")),
            kernels=self.kernels,
            cmsis_nn=schema.CMSIS_NN_COMMIT if self.with_cmsis_nn else f"none: {self.reason}",
        )

    def obstacle(self, providers: str) -> str:
        """Returns why these providers cannot be measured, "" if they can."""
        if providers == "cmsis-nn" and not self.with_cmsis_nn:
            return f"the firmware has no kernels of CMSIS-NN: {self.reason}"
        if providers == "tuned" and "tuned" not in self.kernels:
            return f"the firmware has the kernels {self.kernels}: leave out --define kernels=..."
        return ""

    def profile(self, core: str, providers: str) -> Path:
        """Returns the image that marks calls; the one without marks lies beside it."""
        name = core.replace("-", "_")
        if providers == "portable":
            return self._root / "benchmarks" / f"portable_{name}_profile.elf"
        return self._root / "runtime" / f"{name}_profile.elf"


def compilers(image: Path) -> tuple[str, ...]:
    """Returns the compilers of an image, from its section .comment."""
    found = re.findall(rb"GCC: [^\0]*\) (\d+\.\d+\.\d+)", image.read_bytes())
    return tuple(sorted({f"GCC {version.decode()}" for version in found}))


def encoded_with(network: Network, core: str, providers: str, images: Images, choice: str = "") -> Encoded:
    """Returns the payload of `network` for `core`; the others are as for `measure`."""
    available = [p for p in PROVIDERS[providers] if p != "cmsis-nn" or images.with_cmsis_nn]
    if network.encoded is not None:  # a core and its providers may take another of the graphs that compute the same
        return network.encoded(core, providers=available, **(CHOICES[choice] if choice else {}))
    assert not choice, f"{network.name} cannot be compiled with other options"
    return encode(network.graph, get_target(core), PayloadOptions(providers=get_providers(available)))


def measure(
    network: Network, core: str, providers: str, images: Images, choice: str = ""
) -> tuple[Measurement, Profile]:
    """Runs `network` on simulated `core`. Every call has the kernel of the first of `PROVIDERS[providers]` that has
    one; `choice` is a key of `CHOICES`, or "". UserError if there is no simulator that counts, or the network does not
    fit the board."""
    encoded = encoded_with(network, core, providers, images, choice)
    report = build_report(network.name, encoded)
    image = images.profile(core, providers)
    found = profile(
        report,
        encoded.payload,
        network.inputs,
        image,
        modules=network.modules,
        cycles=core == simulate.MODELLED_BY_MANUAL,
    )
    modelled = core == simulate.MODELLED_BY_MANUAL
    plain = image.with_name(image.name.replace("_profile", ""))
    run = simulate.run(encoded.payload, [network.inputs], plain, cycles=modelled, payload_in_ram=True)
    expected = reference.run(network.graph, list(network.inputs))
    measurement = Measurement(
        network=network.name,
        weights=network.weights,
        core=core,
        providers=providers,
        multiplications=report.macs,
        init=found.init,
        crc=found.crc,
        inference=found.inference,
        executor=found.executor,
        arena=report.arena.nbytes,
        bound=report.arena.bound,
        payload=len(encoded.payload),
        stack=run.stack_bytes,
        differing=sum(_differing(a, b) for a, b in zip(run.outputs[0], expected, strict=True)),
        calls=tuple(
            Call(
                kernel=call.kernel,
                provider=call.provider,
                module=" ".join(module.partition(" ")[0] for module in call.modules),
                multiplications=call.multiplications,
                instructions=call.instructions,
            )
            for call in found.calls
        ),
        cycles=found.cycles,
        flash_waits=found.flash_waits,
        code_waits=run.flash_waits[0] if modelled else None,
        choice=choice,
    )
    return measurement, found


def _differing(found: np.ndarray, expected: np.ndarray) -> int:
    """Returns how many bytes of two arrays with one shape and type differ."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        raise ValueError(f"an output is {found.dtype}{list(found.shape)}, not {expected.dtype}{list(expected.shape)}")
    pair = (np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (found, expected))
    return int(np.count_nonzero(np.not_equal(*pair)))
