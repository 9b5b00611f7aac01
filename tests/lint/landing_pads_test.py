"""Jumps land on BTI in assembly that is compiled with -mbranch-protection=bti: see runtime/kernels/tuned/assembly.h.

A core with PACBTI (M52, M85) faults elsewhere if firmware sets CONTROL.BTI_EN. No simulator of ours checks that. Rows
of code that a jump is computed for have one landing pad an element, or else CODE_BYTES stops the assembler.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "runtime").rglob("*.S"))
# Armv8.1-M without what the core may lack has each of the instruction sets.
FLAGS = {"scalar": "", "dsp": "+dsp", "mve": "+mve"}
BTI = 0xF3AF800F
PADS = "-D__ARM_FEATURE_BTI_DEFAULT=1"  # GCC before 13 has no -mbranch-protection for these cores

pytestmark = pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not on PATH")


def functions(source: Path, folder: Path, *flags: str) -> list[tuple[str, dict[int, int]]]:
    """Returns name and instructions, by address, of each function of a source."""
    isa = source.stem.rpartition("_")[2]
    floats = "-mfloat-abi=" + ("hard" if isa == "mve" else "soft")
    compile_it = ["arm-none-eabi-gcc", f"-march=armv8.1-m.main{FLAGS[isa]}", floats, f"-I{ROOT}", *flags]
    subprocess.run([*compile_it, "-c", source, "-o", folder / "a.o"], check=True)
    listing = subprocess.check_output(["arm-none-eabi-objdump", "-d", folder / "a.o"], text=True)
    found: list[tuple[str, dict[int, int]]] = []
    for line in listing.splitlines():
        if match := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            found.append((match[1], {}))
        elif match := re.match(r" *([0-9a-f]+):\t([0-9a-f]{4})(?: ([0-9a-f]{4}))? ", line):
            found[-1][1][int(match[1], 16)] = int(match[2] + (match[3] or ""), 16)
    return found


def targets(code: dict[int, int]) -> list[int]:
    """Returns where indirect jumps of a function, and those into it, can land. TBB is none of them."""
    found = [min(code)]
    for address, word in code.items():
        if word & 0xFBFF8000 == 0xF20F0000:  # ADR of what follows, with 12 bits in three parts
            offset = (word >> 15 & 0x800) | (word >> 4 & 0x700) | (word & 0xFF)
            found.append((address + 4 & ~3) + offset)
        elif word & 0xF800D000 == 0xF000D000:  # BL, from which a function may return by LDR
            found.append(address + 4)
    return found


@pytest.mark.parametrize("source", FILES, ids=lambda path: path.name)
def test_jumps_land_on_pads(source, tmp_path):
    found = functions(source, tmp_path, PADS)
    assert found
    for name, code in found:
        for address in targets(code):
            assert code[address] == BTI, f"{name} has no LANDING_PAD at {address:#x}"
    plain = functions(source, tmp_path)
    assert not any(word == BTI for _, code in plain for word in code.values()), "other builds need none"
    assert [len(targets(code)) for _, code in plain] == [len(targets(code)) for _, code in found]


def test_jumps_are_found(tmp_path):
    """The test above sees what a file jumps to."""
    source = tmp_path / "some_mve.S"
    text = """
#include "runtime/kernels/tuned/assembly.h"
  .syntax unified
  .thumb
  .global some
  .type some, %function
  .thumb_func
some:
  LANDING_PAD
  adr.w r0, 1f
  orr r0, r0, #1
  bl 2f
  LANDING_PAD
  bx r0
  .space 0x90c
1:
  LANDING_PAD
  mov r0, #1
2:
  bx lr
"""
    lines = text.splitlines(keepends=True)
    pads = [i for i, line in enumerate(lines) if "LANDING_PAD" in line]
    assert len(pads) == 3
    for missing in [None, *pads]:
        source.write_text("".join(line for i, line in enumerate(lines) if i != missing))
        ((_, code),) = functions(source, tmp_path, PADS)
        found = [code[address] == BTI for address in targets(code)]
        assert len(found) == 3 and all(found) is (missing is None)
