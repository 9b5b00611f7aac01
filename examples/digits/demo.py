"""The complete workflow: trains a network on real images, compiles it, and classifies on a simulated Cortex-M55.

Usage:

    ./bazelw run //:demo
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import numpy as np
import torch

from cmsis_nn_delegate import Compiled, UserError, compile_model, reference
from cmsis_nn_delegate.files.outputs import check_writable, write_files
from cmsis_nn_delegate.runner import simulate
from examples.digits import digits

CORE = "cortex-m55"
CALIBRATION_IMAGES = 128

_IMAGE = Path(__file__).parent.parent.parent / "runtime" / "cortex_m55.elf"

# Names of the firmware's parts in the table, by the prefix of their folders.
_PARTS = {
    "runtime/kernels": "kernels of this project",
    "third_party/cmsis_nn": "kernels of CMSIS-NN",
    "runtime/payload": "delegate",
    "runtime/backend": "delegate",
    "runtime/standalone": "delegate",
    "runtime/runner": "runner of the simulation",
    "platforms": "start-up and board support",
    "toolchain": "C library and compiler support",
    "(padding)": "padding",
}


class Steps:
    """Prints each step with the time since the start."""

    def __init__(self, count: int) -> None:
        self._start = time.monotonic()
        self._count = count
        self._step = 0

    def begin(self, text: str) -> None:
        self._step += 1
        print(f"\n[{self._step}/{self._count}] {text}", flush=True)

    def say(self, line: str) -> None:
        print(f"  {time.monotonic() - self._start:6.1f} s  {line}", flush=True)


def flash_by_part(sizes: dict) -> dict[str, int]:
    """Returns the bytes of flash of each part of the image, from its size report. A part that `_PARTS` lacks keeps its
    name."""
    parts: dict[str, int] = {}
    for name, part in sizes["flash"]["parts"].items():
        title = next((t for start, t in _PARTS.items() if name.startswith(start)), name)
        parts[title] = parts.get(title, 0) + part["total"]
    return parts


def accuracy_on_device(compiled: Compiled, data: digits.Digits, steps: Steps):
    """Returns (accuracy, bytes that differ from the reference, bytes compared, the run)."""
    inputs = [[image[None]] for image in data.test_images]
    run = simulate.run(compiled.payload, inputs, _IMAGE, progress=steps.say)
    steps.say("running the integer reference")
    expected = np.stack([reference.run(compiled.graph, x)[0] for x in inputs])
    actual = np.stack([outputs[0] for outputs in run.outputs])
    different = int((actual.view(np.uint8) != expected.view(np.uint8)).sum())
    scores = actual.reshape(len(actual), -1)
    return digits.accuracy(scores, data.test_labels), different, expected.nbytes, run


def firmware_path() -> Path:
    """Returns the path by which a user finds the image: through Bazel's link in the workspace, if there is one."""
    built = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / "bazel-bin" / "runtime" / _IMAGE.name
    return built if built.exists() else _IMAGE.resolve()


def table(rows: list[tuple[str, str]]) -> None:
    for name, value in rows:
        print(f"  {name:38}  {value}")


def demo(output: Path) -> int:
    check_writable(output)  # before the training
    steps = Steps(4)
    steps.begin("Training a convolutional network on scikit-learn's handwritten digits")
    data = digits.load()
    steps.say(f"{len(data.train_images)} images to train, {len(data.test_images)} held out")
    model = digits.train(data, progress=steps.say)
    with torch.no_grad():
        scores = model(torch.from_numpy(data.test_images)).numpy()
    float_accuracy = digits.accuracy(scores, data.test_labels)

    steps.begin(f"Quantizing and compiling for {CORE}")
    images = torch.from_numpy(data.train_images[:CALIBRATION_IMAGES])
    compiled = compile_model(
        model,
        (images[:1],),
        CORE,
        [(image[None],) for image in images],
        strict=True,
        name="digits",
        progress=steps.say,
    )
    page = compiled.page(_IMAGE.with_suffix(".size.json")).encode()
    files = [*compiled.write(output), *write_files(output, {"digits.report.html": page})]

    steps.begin(f"Classifying {len(data.test_images)} held-out images on a simulated {CORE}")
    accuracy, different, compared, run = accuracy_on_device(compiled, data, steps)

    steps.begin("Results")
    sizes = json.loads(_IMAGE.with_suffix(".size.json").read_text())
    mean = sum(run.instructions) // len(run.instructions) if run.instructions else None
    table(
        [
            ("accuracy of the float network", f"{float_accuracy:.2%}"),
            (f"accuracy in int8 on {CORE}", f"{accuracy:.2%}"),
            ("bytes that differ from reference", f"{different:,} of {compared:,}"),
            ("arena (RAM)", f"{run.arena_bytes:,} bytes; lower bound {compiled.encoded.plan.bound:,}"),
            ("delegate's handle (RAM)", f"{run.runtime_bytes} bytes"),
            ("most stack in use", f"{run.stack_bytes:,} bytes"),
            ("model (flash)", f"{len(compiled.payload):,} bytes"),
            *((f"{part} (flash)", f"{size:,} bytes") for part, size in flash_by_part(sizes).items()),
            ("instructions of init, with CRC", f"{run.init_instructions:,}" if mean else "not counted"),
            ("instructions of an inference", f"{mean:,} on average" if mean else "not counted"),
            ("kernels", run.info.kernels),
            ("executor", run.info.executor),
            ("simulator", run.simulator),
        ]
    )
    print("\n  Files")
    for path in (*files, firmware_path()):
        print(f"  {path}")
    return 0 if different == 0 else 1


def main(argv: list[str]) -> int:
    # `bazel run` starts programs in another folder.
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=root / "out" / "demo", help="default: out/demo")
    try:
        return demo(parser.parse_args(argv).output)
    except UserError as error:
        print(f"demo: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
