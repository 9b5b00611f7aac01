"""The tutorial, from its first to its last command, except the builds of Bazel.

Output below a command must be what the command prints, but for numbers: weights, and what follows from them, depend on
the machine that trains.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from code_blocks import ROOT, blocks, compile_cpp, tried, tutorial_file

from cmsis_nn_delegate import cli
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

TUTORIAL = ROOT / "docs" / "tutorial.md"
# Beginnings of lines that name the kernels and the simulator of a build.
OF_THE_BUILD = ("core ", "device ")
# What the build makes, in the place where a user has it.
IMAGES = Path(__file__).parents[1] / "runtime"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder my_digits after step 1."""
    folder = tmp_path_factory.mktemp("work") / "my_digits"
    folder.mkdir()
    for block in tried(TUTORIAL, "python"):
        (folder / tutorial_file(block)).write_text(block.text)
    before = os.getcwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    make_torch_faster()
    try:
        runpy.run_path("train.py")
        yield folder
    finally:
        sys.path.remove(str(folder))
        os.chdir(before)


def steps() -> list[tuple[list[str], str]]:
    """Returns the commands of cmsisnn, without its name, each with the output that the tutorial shows."""
    found: list[tuple[list[str], str]] = []
    after_commands = False
    for block in blocks(TUTORIAL):
        commands = re.findall(r"^cmsisnn (.*)$", block.text, re.MULTILINE)
        if commands:
            found += [(shlex.split(command), "") for command in commands]
        elif after_commands and block.language == "":
            found[-1] = (found[-1][0], block.text)
        after_commands = bool(commands)
    return found


def without_numbers(line: str) -> str:
    """Keeps the numbers of lines in files, which follow from the tutorial."""
    line = re.sub(r"(\.py:\d+)|[-+]?\d[\d,.]*", lambda number: number[1] or "0", re.sub(r"\s+", " ", line.strip()))
    return re.sub(r"#+", "#", line)


def test_commands_print_what_the_tutorial_shows(folder, capsys):
    assert len(steps()) == 7
    for words, shown in steps():
        if ">" in words:
            words, (target,) = words[: words.index(">")], words[words.index(">") + 1 :]
        else:
            target = ""
        image = "cortex_m55_profile.elf" if words[0] == "profile" else "cortex_m55.elf"
        image_options = ["--image", str(IMAGES / image)] if words[0] == "profile" or "simulator" in words else []
        capsys.readouterr()
        assert cli.main([*words, *image_options]) == 0, (words, capsys.readouterr().err)
        printed = capsys.readouterr().out
        if target:
            Path(target).write_text(printed)
        lines = {without_numbers(line) for line in printed.splitlines()}
        missing = [line for line in shown.splitlines() if without_numbers(line) not in lines]
        missing = [line for line in missing if not line.startswith(OF_THE_BUILD)]
        assert not missing, (words, printed)
    assert (folder / "out" / "digits.report.html").stat().st_size > 100_000


def test_the_firmware_compiles(folder):
    (main,) = tried(TUTORIAL, "cpp")
    shutil.copytree(folder / "out", folder, dirs_exist_ok=True)
    assert not compile_cpp(main.text, folder.parent)
