"""The generated files in the repository are what the operators declare."""

from __future__ import annotations

import enum
from pathlib import Path

import pytest

from cmsis_nn_delegate.format.opcodes import Opcode
from codegen import opcodes
from codegen.generate import GENERATED, OPCODES, generate

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("path", GENERATED)
def test_is_fresh(path):
    assert (ROOT / path).read_text(encoding="utf-8") == generate(path, ROOT), "run `bazel run //:generate`"


def test_every_kernel_has_a_number():
    assert (ROOT / OPCODES).read_text(encoding="utf-8") == opcodes.generate(Opcode), "run `bazel run //:generate`"


def test_numbers_stay_and_new_ones_come_after_them():
    # ADD has another number, most have none, and one is of a kernel that is gone.
    known = enum.IntEnum("Opcode", {"ADD": 7, "GONE": 30})
    text = opcodes.generate(known)
    assert "    ADD = 7\n    GONE = 30\n" in text
    numbers = [int(line.split("=")[1]) for line in text.splitlines() if " = " in line]
    assert sorted(numbers) == [7, *range(30, 30 + len(numbers) - 1)]
