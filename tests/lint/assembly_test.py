"""clang assembles every assembly file of the repository, as GCC does in all builds.

Skipped, with the reason, where there is no clang for Arm: `apt install clang`, or CLANG=... and --test_env=CLANG.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLANG = os.environ.get("CLANG") or shutil.which("clang")
# One core for each instruction set of the names of files; without DSP two, because Armv6-M has fewer instructions.
CORES = {"scalar": ("cortex-m0plus", "cortex-m3"), "dsp": ("cortex-m4",), "mve": ("cortex-m55",)}
FILES = sorted((ROOT / "runtime").rglob("*.S"))


def assemble(source: Path, core: str, target: Path) -> subprocess.CompletedProcess[str]:
    floats = "hard" if core == "cortex-m55" else "soft"  # clang has no MVE without registers for floats
    command = [CLANG, "--target=arm-none-eabi", f"-mcpu={core}", f"-mfloat-abi={floats}", f"-I{ROOT}"]
    command += ["-c", source, "-o", target]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module", autouse=True)
def clang(tmp_path_factory):
    if not CLANG:
        pytest.skip("no clang on PATH, and CLANG names none")
    empty = tmp_path_factory.mktemp("clang") / "empty.S"
    empty.touch()
    if (found := assemble(empty, "cortex-m55", empty.with_suffix(".o"))).returncode != 0:
        pytest.skip(f"{CLANG} has no Cortex-M55: {found.stderr.strip()}")


@pytest.mark.parametrize("source", FILES, ids=lambda path: path.name)
def test_clang_assembles(source, tmp_path):
    (isa,) = re.findall(r"_([a-z]+)$", source.stem)
    code = []
    for core in (core for cores in CORES.values() for core in cores):
        found = assemble(source, core, tmp_path / "a.o")
        assert found.returncode == 0, found.stderr
        # Labels of functions stay in the object, so nothing is as small as one that is empty for this core.
        code += [core] if b".text.cmsis_nn_delegate" in (tmp_path / "a.o").read_bytes() else []
    assert code and set(code) <= set(CORES[isa]), f"{source.name} has code for {code}"


def test_there_are_files():
    assert {path.stem.rpartition("_")[2] for path in FILES} == set(CORES)
