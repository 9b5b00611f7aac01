"""The table of README.md: what the network takes on three cores."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.files.artifacts import Artifacts
from cmsis_nn_delegate.runner import simulate

FOLDER = Path(__file__).parent
RUNTIME = FOLDER.parent.parent / "runtime"
# By the heads of the table's columns: the core, and the instruction set that the model is compiled for.
CORES = {"M0+": ("cortex_m0plus", "scalar"), "M4": ("cortex_m4", "dsp"), "M55": ("cortex_m55", "mve")}
GCC = "12.2"


def stated() -> dict[str, dict[str, int]]:
    """Returns the numbers of the table, by the beginning of the row and the column."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    start = lines.index(f"| | {' | '.join(CORES)} |")
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        numbers = [int(cell.replace(",", "")) for cell in cells]
        rows[re.split(r", | of ", name)[0]] = dict(zip(CORES, numbers, strict=True))
    return rows


@pytest.fixture(params=CORES)
def column(request):
    return request.param


def test_memory(column):
    _, isa = CORES[column]
    report = json.loads((FOLDER / isa / "quantized.report.json").read_text(encoding="utf-8"))
    found = {
        "arena": report["arena"]["nbytes"],
        "its lower bound": report["arena"]["bound"],
        "payload": report["flash_bytes"],
    }
    assert {name: stated()[name][column] for name in found} == found


def test_flash(column):
    core, _ = CORES[column]
    compilers = {version.decode() for version in re.findall(rb"GCC: \([^)]*\) (\d+\.\d+)", read(core, ".elf"))}
    sizes = json.loads(read(core, ".size.json"))
    if compilers != {GCC} or not any("third_party/cmsis_nn" in part for part in sizes["flash"]["parts"]):
        pytest.skip(f"the figure is for GCC {GCC} with CMSIS-NN's kernels")
    assert sizes["flash"]["total"] == stated()["flash"][column]


def read(core: str, suffix: str) -> bytes:
    return (FOLDER / f"{core}{suffix}").read_bytes()


def test_instructions(column):
    core, isa = CORES[column]
    files = Artifacts(FOLDER / isa, "quantized")
    with np.load(FOLDER / "images.npz") as data:
        image = data["image"][:1]
    quant = files.graph()[0].inputs[0]
    sample = np.clip(np.rint(image / quant.scale) + quant.zero_point, -128, 127).astype(np.int8)
    run = simulate.run(files.payload().data, [[sample]], RUNTIME / f"{core}.elf")
    if not run.instructions:
        pytest.skip("this simulator does not count instructions exactly")
    if run.info.kernels != "tuned+cmsis-nn":
        pytest.skip(f"the figure is for CMSIS-NN's kernels beside the tuned ones, these are {run.info.kernels}")
    (counted,) = run.instructions
    print(f"{core}: {counted:,} instructions of an inference, kernels {run.info.kernels}")
    # The weights, and with them a few branches, are those of the machine that trains.
    assert counted == pytest.approx(stated()["executed instructions"][column], rel=0.01)
