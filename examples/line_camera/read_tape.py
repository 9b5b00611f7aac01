"""A network that remembers, from training to a simulated Cortex-M55: it reads handwritten digits under a line camera.

Usage:

    ./bazelw run //examples/line_camera:read_tape
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import numpy as np
import torch

from cmsis_nn_delegate import Compiled, Stream, UserError, compile_model, reference
from cmsis_nn_delegate.files.outputs import check_writable, write_files
from cmsis_nn_delegate.runner import simulate
from examples.digits import digits
from examples.digits.demo import Steps, table
from examples.line_camera import line_camera
from examples.score import Score

CORE = "cortex-m55"
DIGITS = 80  # held-out ones, on the tape
_PIECES, _PIECE = 16, 96  # of training tapes, and their columns, for calibration

_IMAGE = Path(__file__).parent.parent.parent / "runtime" / "cortex_m55.elf"


@dataclass(frozen=True)
class Read:
    """What became of the tape on the simulated core."""

    compiled: Compiled
    tape: line_camera.Tape
    in_float: Score
    on_device: Score
    probabilities: np.ndarray  # (columns, 11), by the device
    differing: int  # bytes, from the integer reference
    run: simulate.Run

    def rows(self) -> list[tuple[str, str]]:
        report = self.compiled.report
        counted = self.run.instructions
        return [
            ("digits read by the float network", str(self.in_float)),
            (f"digits read in int8 on {CORE}", str(self.on_device)),
            ("bytes that differ from reference", f"{self.differing:,} of {self.probabilities.nbytes:,}"),
            ("arena (RAM)", f"{report.arena.nbytes:,} bytes"),
            ("state (RAM)", f"{report.persistent_bytes:,} bytes"),
            ("model (flash)", f"{len(self.compiled.payload):,} bytes"),
            ("instructions of a column", f"{sum(counted) // len(counted):,} on average" if counted else "not counted"),
        ]


def read(steps: Steps) -> Read:
    """Trains, compiles and reads a tape of held-out digits."""
    steps.begin("Training a network that remembers on scikit-learn's handwritten digits")
    data = digits.load()
    steps.say(f"{len(data.train_images)} images to train, {len(data.test_images)} held out")
    model = line_camera.train(data, steps.say)

    steps.begin(f"Compiling it for {CORE}, to take one column at a time")
    random = np.random.default_rng(1)
    pieces = [line_camera.piece(data, random, _PIECE)[0] for _ in range(_PIECES)]
    calibration = [(torch.from_numpy(columns[None].copy()),) for columns in pieces]
    compiled = compile_model(
        model,
        calibration[0],
        CORE,
        calibration,
        stream=Stream(dim=2, hop=1),
        strict=True,
        name="line_camera",
        progress=steps.say,
    )

    tape = line_camera.tape(data.test_images, data.test_labels, np.random.default_rng(2), DIGITS)
    count = tape.columns.shape[1]
    steps.begin(f"Reading a tape of {DIGITS} held-out digits, {count:,} columns, on a simulated {CORE}")
    inputs = [[np.ascontiguousarray(tape.columns[None, :, column : column + 1])] for column in range(count)]
    run = simulate.run(compiled.payload, inputs, _IMAGE, progress=steps.say)
    steps.say("running the integer reference")
    states = reference.initial_states(compiled.graph)
    expected = np.concatenate([reference.run(compiled.graph, x, states=states)[0] for x in inputs])
    found = np.concatenate([outputs[0] for outputs in run.outputs])
    with torch.no_grad():
        exact = torch.softmax(model.logits(torch.from_numpy(tape.columns[None]))[0], -1).numpy()
    return Read(
        compiled,
        tape,
        line_camera.score(line_camera.readings(exact), tape.ends),
        line_camera.score(line_camera.readings(found), tape.ends),
        found,
        int((found.view(np.uint8) != expected.view(np.uint8)).sum()),
        run,
    )


def write(result: Read, output: Path) -> list[Path]:
    """Writes the compiled model, what it takes and returns over time, and the page that draws that."""
    inputs, outputs = io.BytesIO(), io.BytesIO()
    np.savez(inputs, x=result.tape.columns.T[:, :, None])
    np.savez(outputs, output0=result.probabilities)
    files = {"tape.npz": inputs.getvalue(), "outputs.npz": outputs.getvalue()}
    written = [*result.compiled.write(output), *write_files(output, files)]
    page = result.compiled.page(_IMAGE.with_suffix(".size.json"), output / "outputs.npz")
    return [*written, *write_files(output, {"line_camera.report.html": page.encode()})]


def main(argv: list[str]) -> int:
    # `bazel run` starts programs in another folder.
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", "--output", type=Path, default=root / "out" / "line_camera", help="default: out/line_camera"
    )
    output = parser.parse_args(argv).output
    try:
        check_writable(output)  # before the training
        steps = Steps(4)
        result = read(steps)
        steps.begin("Results")
        table(result.rows())
        print("\n  Files")
        for path in write(result, output):
            print(f"  {path}")
    except UserError as error:
        print(f"read_tape: error: {error}", file=sys.stderr)
        return 1
    return 0 if result.differing == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
