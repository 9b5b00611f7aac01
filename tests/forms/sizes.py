"""What a network costs in each of its forms, read from its images and counted in the simulator: `measure`.

    bazel run //tests/forms:sizes

prints the tables of docs/sizes.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from cmsis_nn_delegate.payload.decode import Payload, decode
from sim import simulator
from sim.boards import cores

FOLDER = Path(__file__).parent
CORES = ("cortex-m4", "cortex-m55")
FORMS = ("payload", "cpp")
NETWORKS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder")
# ds_cnn compiled with `--providers cmsis-nn,portable`, and with `--providers tuned,portable`; the last one again in
# images with `--//runtime/kernels:for_size`.
WITH_CMSIS_NN, WITHOUT_CMSIS_NN = "ds_cnn_cmsis_nn", "ds_cnn_tuned"
FOR_SIZE = f"{WITHOUT_CMSIS_NN}_small"
PATTERNS = 2


class SizeError(RuntimeError):
    """An image is missing or failed; the text says which."""


@dataclass(frozen=True)
class Form:
    """One network in one form. Sizes are in bytes; instructions are executed ones, None if not counted."""

    network: str
    core: str
    form: str
    flash: int  # of the whole image
    constants: int  # of the network: weights, biases, requantization
    parts: dict[str, int]  # of the flash, by folder of the sources or library
    arena: int
    statics: int  # .data and .bss, with the arena
    stack: int  # most in use
    outputs: tuple[bytes, ...]  # by pattern
    load: int | None
    inference: int | None

    @property
    def code(self) -> int:
        """Returns the flash without the network's constants."""
        return self.flash - self.constants

    @property
    def ram(self) -> int:
        """Returns all RAM that the image uses."""
        return self.statics + self.stack

    @property
    def linked(self) -> set[str]:
        """Returns the folders of runtime/ and third_party/ that the image has code of."""
        return {part for part in self.parts if part.startswith(("runtime/", "third_party/"))}


def patterns(nbytes: int) -> list[bytes]:
    """Returns the inputs of run_patterns(), in memory order."""
    return [bytes((37 + 2 * number) * i % 256 for i in range(nbytes)) for number in range(PATTERNS)]


def payload_of(network: str, core: str) -> Payload:
    folder = f"{network.removesuffix('_small')}_{cores()[core].isa}"
    return decode((FOLDER / folder / "net.payload").read_bytes())


def measure(network: str, core: str, form: str) -> Form:
    """Reads and runs the image. SizeError if it is missing or fails."""
    image = FOLDER / f"{network}_{form}_{core.replace('-', '_')}.elf"
    if not image.is_file():
        raise SizeError(f"there is no {image.name}: it needs the sources of CMSIS-NN")
    result = simulator.run(str(image))
    if (result.status, result.exit_code) != ("exit", 0):
        raise SizeError(result.explain())
    *outputs, stack = [bytes.fromhex(line) for line in result.uart.splitlines()[: PATTERNS + 1]]
    sizes = json.loads(image.with_suffix(".size.json").read_text())
    view = payload_of(network, core)
    counts = [region.instructions for region in result.regions or ()]
    return Form(
        network=network,
        core=core,
        form=form,
        flash=sizes["flash"]["total"],
        constants=view.constant_bytes,
        parts={name: part["total"] for name, part in sizes["flash"]["parts"].items()},
        arena=view.arena_bytes,
        statics=sum(sizes["ram"]["sections"][name] for name in (".data", ".bss")),
        stack=int.from_bytes(stack, "big"),
        outputs=tuple(outputs),
        load=None if not counts else counts[0] if form == "payload" else 0,
        inference=counts[-1] if counts else None,
    )


def row(found: Form) -> str:
    """Returns a row of the table in docs/sizes.md."""
    numbers = (found.code, found.constants, found.ram - found.arena, found.load, found.inference)
    cells = ("?" if number is None else f"{number:,}" for number in numbers)
    return f"| {found.network} | {found.core.removeprefix('cortex-').upper()} | {found.form} | {' | '.join(cells)} |"


def main() -> None:
    print("| network | core | form | flash without constants | constants | RAM beside the arena | load | inference |")
    print("|---|---|---|---|---|---|---|---|")
    for core in CORES:
        for network in (*NETWORKS, WITHOUT_CMSIS_NN, FOR_SIZE, WITH_CMSIS_NN):
            for form in FORMS:
                try:
                    print(row(measure(network, core, form)))
                except SizeError as error:
                    print(f"| {network} | {core} | {form} | {error} |")


if __name__ == "__main__":
    main()
