"""Raw sound in, dialled keys out: runs the firmware on a simulated nRF52840, and says what it takes.

Usage:

    ./bazelw run //examples/dial_tones:listen
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import wave
from dataclasses import dataclass
from pathlib import Path

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import numpy as np
import torch

from cmsis_nn_delegate import UserError, reference
from cmsis_nn_delegate.files.artifacts import Artifacts
from cmsis_nn_delegate.files.outputs import check_writable, write_files
from cmsis_nn_delegate.report.image_sizes import read_image
from cmsis_nn_delegate.report.page.outputs import read as read_outputs
from cmsis_nn_delegate.report.page.render import render
from examples.dial_tones import detector, keys, model
from examples.dial_tones.detector import HOP, NOTHING, SAMPLES
from examples.dial_tones.keys import Detection
from examples.dial_tones.tones import KEYS, RATE, Press
from examples.digits.demo import Steps, table
from examples.score import Score
from sim import boards, cycles, scratch, simulator
from sim.elf import Elf

FOLDER = Path(__file__).parent
BOARD = "nrf52840dk"
IMAGE = FOLDER / f"image_{BOARD}.elf"
# The same for the board of QEMU's that has the same core.
OTHER_IMAGE = FOLDER / "cortex_m4.elf"
_TIMEOUT_S = 600


@dataclass(frozen=True)
class Heard:
    """What the firmware wrote: `results`, int8 (inferences, 17), and the keys that it reported."""

    results: np.ndarray
    detections: list[Detection]
    simulator: str
    instructions: list[int]  # of each inference, with debouncing; empty if not counted
    cycles: list[tuple[int, int]]  # likewise, modelled: at least and at most


@dataclass(frozen=True)
class Result:
    """What became of the tape."""

    tape: np.ndarray  # int16 (inferences, 320)
    presses: tuple[Press, ...]
    in_float: Score
    on_device: Score
    heard: Heard  # by QEMU's board
    heard_on_board: Heard | None  # by the board, if its simulator is there
    no_board: str  # why it is not
    expected: np.ndarray  # by the integer reference
    report: dict  # of the compiled model
    sizes: dict  # of the board's image

    @property
    def differing(self) -> int:
        """Returns the bytes that differ from the reference, on either board."""
        heard = [self.heard] + [self.heard_on_board] * (self.heard_on_board is not None)
        return sum(int((found.results != self.expected).sum()) for found in heard)

    @property
    def budget(self) -> int:
        """Returns the cycles that the board's core has from one inference to the next."""
        return boards.board_of(IMAGE, BOARD).clock_hz * HOP // RATE

    def rows(self) -> list[tuple[str, str]]:
        heard, sections = self.heard, self.sizes["ram"]["sections"]
        counted = heard.instructions
        most = max(most for _, most in heard.cycles)
        board = self.heard_on_board
        return [
            ("keys detected by the float network", str(self.in_float)),
            ("keys detected in int8 on the device", str(self.on_device)),
            ("bytes that differ from reference", f"{self.differing:,} of {self.expected.size:,}"),
            ("arena (RAM)", f"{self.report['arena']['nbytes']:,} bytes"),
            ("state (RAM)", f"{self.report['persistent_bytes']:,} bytes"),
            ("all of the image but stack (RAM)", f"{sections['.data'] + sections['.bss']:,} bytes"),
            ("model (flash)", f"{self.report['flash_bytes']:,} bytes"),
            ("all of the image but tape (flash)", f"{self.sizes['flash']['total'] - self.tape.nbytes:,} bytes"),
            ("instructions in 20 ms", f"{sum(counted) // len(counted):,} on average, {max(counted):,} at most"),
            ("cycles in 20 ms", f"{most:,} at most, modelled, without waits for flash"),
            ("share of 20 ms at 64 MHz", f"{most / self.budget:.1%} at most, modelled"),
            ("simulator", f"{board.simulator} and {heard.simulator}" if board else f"{heard.simulator} alone"),
        ]


def heard(found: simulator.Result) -> Heard:
    """Reads what the firmware wrote. UserError if it failed."""
    if (found.status, found.exit_code) != ("exit", 0):
        raise UserError(found.explain(), exit_code=1)
    results, detections = [], []
    for inference, line in enumerate(line for line in found.uart.splitlines() if line and not line.startswith("##")):
        digits, _, key = line.partition(" ")
        results.append(np.frombuffer(bytes.fromhex(digits), np.int8))
        if key:
            detections.append(Detection((inference + 1) * HOP, KEYS.index(key)))
    regions = found.regions or []
    modelled = [region.cycles for region in regions if region.cycles is not None]
    return Heard(np.stack(results), detections, found.simulator, [region.instructions for region in regions], modelled)


def on_board(steps: Steps) -> tuple[Heard | None, str]:
    """Runs the board's image; (None, why) if there is no simulator for it."""
    board = boards.board_of(IMAGE, BOARD)
    (name,) = board.simulators
    try:
        driver = simulator.create(name)
    except simulator.SimulatorError as error:
        return None, str(error)
    steps.say(f"on the {BOARD} in {boards.simulators()[name]['title']}")
    with scratch.ended_in_order():
        return heard(driver.run(Elf(IMAGE), board, None, _TIMEOUT_S, True)), ""


def float_detections(samples: np.ndarray) -> list[Detection]:
    """Returns what is reported if the network in float hears int16 samples (count,)."""
    warm_up = SAMPLES // HOP
    with torch.no_grad():
        sound = detector.as_float(samples[(warm_up + 1) * HOP - SAMPLES :])
        probabilities = model.model()[0].probabilities(sound)[0].numpy()
    return keys.detections(keys.as_int8(probabilities), warm_up)


def listen(steps: Steps) -> Result:
    """Runs the firmware, and compares it with the network in float and the integer reference."""
    with np.load(FOLDER / "tape.npz") as data:
        samples, presses = data["samples"], tuple(Press(*map(int, row)) for row in data["presses"])
    tape = samples.reshape(-1, HOP)
    steps.begin(f"Listening to {len(presses)} keys, {len(samples) / RATE:.0f} s of sound, {HOP} samples at a time")
    try:
        steps.say("on a Cortex-M4 in QEMU")
        device = heard(cycles.run_with_cycles(OTHER_IMAGE, timeout_s=_TIMEOUT_S))
        board, no_board = on_board(steps)
    except (simulator.SimulatorError, ValueError, OSError) as error:  # ElfError is a ValueError
        raise UserError(str(error), exit_code=1) from error
    if board is None:
        steps.say(f"not on the {BOARD}: {no_board}")
    steps.say("running the integer reference, and the network in float")
    artifacts = Artifacts(FOLDER / "dsp", "dial_tones")
    graph = artifacts.graph()[0]
    states = reference.initial_states(graph)
    expected = np.concatenate([reference.run(graph, [hop[None]], states=states)[0] for hop in tape])
    return Result(
        tape,
        presses,
        keys.score(float_detections(samples), presses),
        keys.score((board or device).detections, presses),
        device,
        board,
        no_board,
        expected,
        json.loads(artifacts.read(".report.json")),
        json.loads(IMAGE.with_suffix(".size.json").read_text(encoding="utf-8")),
    )


def write(result: Result, output: Path) -> list[Path]:
    """Writes the sound, what the network says over time, and the page that draws that."""
    sound, inputs, outputs = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(result.tape.astype("<i2").tobytes())
    np.savez(inputs, samples=result.tape)
    np.savez(outputs, output0=result.heard.results)
    files = {"tape.wav": sound.getvalue(), "tape.npz": inputs.getvalue(), "outputs.npz": outputs.getvalue()}
    written = write_files(output, files)
    page = render(
        result.report,
        firmware=read_image(IMAGE.with_suffix(".size.json")),
        outputs=read_outputs(output / "outputs.npz", result.report),
    )
    return [*written, *write_files(output, {"dial_tones.report.html": page.encode()})]


def spoken(detections: list[Detection]) -> str:
    """Returns the keys as people read them."""
    return "".join(KEYS[found.key] for found in detections if found.key != NOTHING)


def main(argv: list[str]) -> int:
    # `bazel run` starts programs in another folder.
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", "--output", type=Path, default=root / "out" / "dial_tones", help="default: out/dial_tones"
    )
    output = parser.parse_args(argv).output
    try:
        check_writable(output)
        steps = Steps(2)
        result = listen(steps)
        steps.begin("Results")
        table(result.rows())
        print(f"\n  dialled   {''.join(KEYS[press.key] for press in result.presses)}")
        print(f"  reported  {spoken((result.heard_on_board or result.heard).detections)}")
        print("\n  Files")
        for path in write(result, output):
            print(f"  {path}")
    except UserError as error:
        print(f"listen: error: {error}", file=sys.stderr)
        return 1
    return 0 if result.differing == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
