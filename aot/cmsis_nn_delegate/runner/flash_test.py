"""Tools that write images are called as they have to be, and what they say is passed on."""

from __future__ import annotations

import json
import os
import sys

import pytest

from cmsis_nn_delegate.runner.flash import TOOLS, flash, parse
from cmsis_nn_delegate.support.errors import UserError


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Stand-ins for all tools, which write their arguments to a file; and that file's content, by call."""
    folder, calls = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def install(*names, code=0, says=""):
        for name in names:
            (folder / name).write_text(
                f"#!{sys.executable}\nimport json, sys\n"
                f"script = sys.argv[-1] if sys.argv[-1].endswith('.jlink') else None\n"
                f"call = [{name!r}, *sys.argv[1:], *([open(script).read()] if script else [])]\n"
                f"open({str(calls)!r}, 'a').write(json.dumps(call) + '\\n')\nprint({says!r})\nsys.exit({code})\n"
            )
            os.chmod(folder / name, 0o755)

    def called():
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    return install, called


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "a runner.elf"
    path.write_bytes(b"")
    return path


def test_commands(tools, image):
    install, called = tools
    install(*(tool.program for tool in TOOLS.values()))
    said = []
    for given in ("pyocd:stm32l4r5zitx", "openocd:interface/stlink.cfg,target/stm32l4x.cfg", "probe-rs:STM32L4R5ZITx"):
        flash(image, given, said.append)
    assert called() == [
        ["pyocd", "flash", "--target", "stm32l4r5zitx", str(image)],
        [
            *("openocd", "-f", "interface/stlink.cfg", "-f", "target/stm32l4x.cfg"),
            *("-c", f"program {{{image}}} verify reset exit"),
        ],
        ["probe-rs", "download", "--chip", "STM32L4R5ZITx", "--verify", str(image)],
        ["probe-rs", "reset", "--chip", "STM32L4R5ZITx"],
    ]
    assert said == [f"writing a runner.elf to the board with {name}" for name in ("pyocd", "openocd", "probe-rs")]
    flash(image, "jlink:STM32L4R5ZI")
    program, *arguments, script = called()[-1]
    assert program == "JLinkExe" and arguments[:2] == ["-device", "STM32L4R5ZI"] and arguments[-2] == "-CommandFile"
    assert script == f'loadfile "{image}"\nr\ng\nexit\n'


def test_a_tool_that_fails(tools, image):
    install, called = tools
    install("probe-rs", code=3, says="\n".join(f"line {n}" for n in range(20)))
    with pytest.raises(
        UserError, match=r"(?s)probe-rs download .* ended with code 3 and said\n  line 10\n.*  line 19$"
    ):
        flash(image, "probe-rs:STM32L4R5ZITx")
    assert len(called()) == 1  # and no reset


def test_what_is_not_there(tools, image, tmp_path):
    install, called = tools
    with pytest.raises(UserError, match="pyocd is not on PATH: install it$"):
        flash(image, "pyocd:x")
    install("openocd")
    with pytest.raises(UserError, match="JLinkExe is not on PATH: install it, or use openocd, which is installed"):
        flash(image, "jlink:x")
    with pytest.raises(UserError, match="there is no image"):
        flash(tmp_path / "none.elf", "openocd:x.cfg")
    assert called() == []


@pytest.mark.parametrize(
    "text, message",
    [
        ("pyocd", "write pyocd:CHIP, where CHIP is a target: stm32l4r5zitx"),
        ("st-flash:x", "TOOL is one of pyocd, openocd, probe-rs, jlink"),
        ("", "write TOOL:CHIP"),
    ],
)
def test_what_cannot_be_meant(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)
