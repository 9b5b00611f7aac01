"""firmware.robot passes in Renode's own runner of Robot suites, with an example and the probe as images."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim.renode.renode import find_renode
from sim.simulator import SimulatorError

SUITE = Path("sim/renode/robot/firmware.robot")
# It executes few instructions: a self-test takes Renode several seconds.
FIRMWARE = Path("examples/firmware")
SELFTEST = Path("platforms/bsp/selftest")
PROBE = Path("sim/renode/probe/cortex_m55.elf")
CORES = ("cortex_m4", "cortex_m7", "cortex_m33", "cortex_m55", "cortex_m85")


@pytest.fixture(scope="module")
def runner() -> Path:
    """The program `renode-test`, which packages of Renode have beside `renode`."""
    try:
        launcher = Path(shutil.which(find_renode()[0]) or "")
    except SimulatorError as error:
        pytest.skip(str(error))
    for folder in (launcher.parent, launcher.resolve().parent):
        if (folder / "renode-test").exists():
            return folder / "renode-test"
    pytest.skip(f"there is no renode-test beside {launcher}")


@pytest.fixture
def images(tmp_path) -> Path:
    for core in CORES:
        shutil.copy(FIRMWARE / f"{core}.elf", tmp_path)
        shutil.copy(f"sim/renode/{core}.repl", tmp_path)
    shutil.copy(PROBE, tmp_path / "probe.elf")
    return tmp_path


def run(runner: Path, images: Path, *options: str) -> subprocess.CompletedProcess:
    command = [runner, "-r", images / "results", "--variable", f"BOARDS:{images}", "--variable", f"IMAGES:{images}"]
    return subprocess.run(
        [*command, *options, SUITE.resolve()],
        cwd=images,
        env={**os.environ, "PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_every_image_ends_well(runner, images):
    result = run(runner, images)
    assert result.returncode == 0, result.stdout
    counts = re.findall(r"\b(\d+) instructions", result.stdout)
    assert len(counts) == len(CORES) + 1 and min(map(int, counts)) > 1000, result.stdout


def test_an_image_that_does_not_end_is_seen(runner, images):
    shutil.copy(SELFTEST / "cortex_m55.elf", images / "cortex_m4.elf")  # instructions that this core does not have
    result = run(runner, images, "--fixture", "Cortex-M4", "--variable", "LIMIT:1")
    assert result.returncode != 0 and "Cortex-M4" in result.stdout, result.stdout
