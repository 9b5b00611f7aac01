"""Tests the probe for miscompiled MVE predicates on sources made for it and on the installed compiler."""

import shutil
import stat

import pytest

from third_party.cmsis_nn import mve_predicates
from third_party.cmsis_nn.mve_predicates import constant_predicates, forgets_constants, main

CONSTANT = "mve_pred16_t mask = 3855; // 0000111100001111\n"


@pytest.mark.parametrize(
    "line",
    [
        CONSTANT,
        "const mve_pred16_t p = 0x0F0F;",
        "mve_pred16_t p = (mve_pred16_t)0b1111;",
        "x = vshrq_m_n_s32(x, x, 24, 0x0F0F);",
        "x = vldrbq_z_s32(ptr, 0xFFu);",
        "mve_pred16_t p = 21845; x = vrshlq_m_n_s8(x, 4, p); y = vrshlq_m_n_s16(y, 4, p);",
    ],
)
def test_constants_are_found(line):
    assert constant_predicates("int a;\n/* two\nlines */\n" + line) == [4]


@pytest.mark.parametrize(
    "line",
    [
        "mve_pred16_t p = vctp8q(4);",
        "// mve_pred16_t p = 0x0F0F;",
        "x = vshrq_n_s32(x, 4);",
        "x = vldrbq_z_s8(ptr, p);",
        # Lanes of 8 bits keep them.
        "x = vldrbq_z_s8(ptr, 0xFFu);",
        "const mve_pred16_t p = 21845; int8x16_t x = vrshlq_m_n_s8(x, 4, p); x = vrshlq_m_n_s8(x, 4, (p & rest));",
        "x = vmvnq_m_s32(vdupq_n_s32(0), vdupq_n_s32(0), p);",
    ],
)
def test_everything_else_is_not(line):
    assert constant_predicates(line) == []


def compiler(tmp_path, assembly):
    """Returns a program that prints `assembly` for every compilation."""
    path = tmp_path / "gcc"
    path.write_text(f"#!/bin/sh\ncat >/dev/null\necho '{assembly}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def check(tmp_path, gcc, source):
    (tmp_path / "kernel.c").write_text(source)
    output = tmp_path / "found.h"
    code = main([f"--output={output}", *([f"--compiler={gcc}"] if gcc else []), str(tmp_path / "kernel.c")])
    return code, output.read_text() if output.exists() else None


def test_an_affected_compiler_may_not_see_constants(tmp_path, capsys):
    gcc = compiler(tmp_path, "mov r3, #-1")
    assert check(tmp_path, gcc, CONSTANT) == (1, None)
    message = capsys.readouterr().err
    assert "kernel.c:1" in message and "ARM_GNU_TOOLCHAIN" in message
    code, text = check(tmp_path, gcc, "mve_pred16_t p = vctp8q(4);")
    assert code == 0 and "no source has one" in text


def test_a_correct_compiler_may(tmp_path):
    code, text = check(tmp_path, compiler(tmp_path, "movw r3, #3855"), CONSTANT)
    assert code == 0 and "keeps" in text


def test_other_cores_have_nothing_to_check(tmp_path):
    code, text = check(tmp_path, None, CONSTANT)
    assert code == 0 and "no MVE" in text


def test_a_failing_compiler_is_named():
    with pytest.raises(RuntimeError, match="does not compile"):
        forgets_constants("false", [])


def test_the_installed_compiler_answers():
    gcc = shutil.which("arm-none-eabi-gcc")
    if gcc is None:
        pytest.skip("arm-none-eabi-gcc is not on PATH")
    version = mve_predicates.subprocess.run([gcc, "-dumpfullversion"], capture_output=True, text=True).stdout
    affected = forgets_constants(gcc, ["-mcpu=cortex-m55", "-mfloat-abi=hard"])
    print(f"GCC {version.strip()} loses constant predicates: {affected}")
    if version.startswith("12.2"):
        assert affected
