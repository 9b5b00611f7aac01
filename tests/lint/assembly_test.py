"""clang assembles every assembly file of the repository, as GCC does in all builds, to the same vector instructions.

GNU as 2.40 gives VQSHRN and VQSHRUN the encodings of VQRSHRN and VQRSHRUN, which round, without a warning. What it
encodes wrongly is written as `.inst.w 0x...  // mnemonic`.

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
KERNELS = sorted(path for path in (ROOT / "runtime/kernels").rglob("*") if path.suffix in (".S", ".h", ".cc"))
ROUNDED_BY_GNU = re.compile(r"\bvqshru?n[bt]")  # and intrinsics, of which GCC makes mnemonics

needs_gcc = pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not on PATH")


def assemble(source: Path, core: str, target: Path) -> subprocess.CompletedProcess[str]:
    floats = "hard" if core == "cortex-m55" else "soft"  # clang has no MVE without registers for floats
    command = [CLANG, "--target=arm-none-eabi", f"-mcpu={core}", f"-mfloat-abi={floats}", f"-I{ROOT}"]
    command += ["-c", source, "-o", target]
    return subprocess.run(command, capture_output=True, text=True)


def vector_words(compiler: list[str], source: Path, target: Path) -> list[str]:
    """Returns the MVE instructions of a source, and others of the space of coprocessors, in order."""
    command = [*compiler, "-march=armv8.1-m.main+mve.fp+fp.dp", "-mfloat-abi=hard", f"-I{ROOT}"]
    subprocess.run([*command, "-c", source, "-o", target], check=True)
    listing = subprocess.check_output(["arm-none-eabi-objdump", "-d", target], text=True)
    return re.findall(r"^ *[0-9a-f]+:\t([ef][c-f][0-9a-f]{2} [0-9a-f]{4}) ", listing, re.MULTILINE)


@pytest.fixture(scope="module")
def clang(tmp_path_factory):
    if not CLANG:
        pytest.skip("no clang on PATH, and CLANG names none")
    empty = tmp_path_factory.mktemp("clang") / "empty.S"
    empty.touch()
    if (found := assemble(empty, "cortex-m55", empty.with_suffix(".o"))).returncode != 0:
        pytest.skip(f"{CLANG} has no Cortex-M55: {found.stderr.strip()}")


@pytest.mark.parametrize("source", FILES, ids=lambda path: path.name)
def test_clang_assembles(clang, source, tmp_path):
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


@needs_gcc
@pytest.mark.parametrize("source", [path for path in FILES if path.stem.endswith("_mve")], ids=lambda path: path.name)
def test_vector_instructions_are_those_of_clang(clang, source, tmp_path):
    ours = vector_words(["arm-none-eabi-gcc"], source, tmp_path / "gcc.o")
    assert ours and ours == vector_words([CLANG, "--target=arm-none-eabi"], source, tmp_path / "clang.o")


def test_no_mnemonic_that_gnu_encodes_wrongly():
    """Also where there is no clang."""
    code = {
        f"{path.name}: {line}": line.partition("//")[0] for path in KERNELS for line in path.read_text().splitlines()
    }
    assert not [line for line, text in code.items() if ROUNDED_BY_GNU.search(text)], "write .inst.w in its place"


def test_numbers_of_instructions_are_those_of_their_comments(clang, tmp_path):
    lines = {line.strip() for path in KERNELS for line in path.read_text().splitlines() if ".inst" in line}
    assert lines
    source, flags = tmp_path / "a.S", ["-march=armv8.1-m.main+mve.fp+pacbti", "-mfloat-abi=hard"]
    for line in lines:
        assert re.fullmatch(r"\.inst\.w 0x[0-9a-f]{8}  // \S.*", line), f"not `.inst.w 0x...  // mnemonic`: {line}"
        objects = []
        for text in line.split("  // "):
            source.write_text(f"  .syntax unified\n  .thumb\n  {text}\n")
            subprocess.run([CLANG, "--target=arm-none-eabi", *flags, "-c", source, "-o", tmp_path / "a.o"], check=True)
            objects.append((tmp_path / "a.o").read_bytes())
        assert objects[0] == objects[1], line
