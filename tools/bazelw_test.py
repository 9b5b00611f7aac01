"""Which parts `bazelw` gives to Bazel: a copy of it in a folder of its own starts a Bazel that prints its variables."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PARTS = {
    "CMSIS_NN_DIR": "cmsis-nn",
    "EXECUTORCH_DIR": "executorch",
    "FLATBUFFERS_DIR": "flatbuffers",
    "RENODE": "renode/renode",
}
BAZEL = "for name in " + " ".join(PARTS) + '; do echo "$name=${!name-}"; done; echo "arguments=$*"'
# What bazelw looks for, so that it installs nothing. The compiler reads a program and prints where a library is.
PROGRAMS = {
    "bazel": BAZEL,
    "g++": "",
    "gcc": "",
    "arm-none-eabi-g++": "[[ $* != *-E* ]] || cat; echo /libraries/a",
    "qemu-system-arm": "",
    "apt-get": "exit 1",
}


def make_parts(folder: Path, without: str = "") -> Path:
    for part in set(PARTS.values()) - {without}:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).touch()
    return folder


@pytest.fixture
def workspace(tmp_path):
    """A checkout that has only bazelw."""
    folder = tmp_path / "checkouts" / "project"
    folder.mkdir(parents=True)
    shutil.copy("bazelw", folder / "bazelw")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in PROGRAMS.items():
        (programs / name).write_text(f"#!/usr/bin/env bash\n{script}\n")
        (programs / name).chmod(0o755)
    return folder


def run(workspace, **variables):
    """Returns what Bazel got, by variable, and what bazelw said."""
    programs = workspace.parents[1] / "programs"
    environment = {name: value for name, value in os.environ.items() if name not in (*PARTS, "CND_PARTS")}
    environment.update(
        PATH=f"{programs}:{environment['PATH']}", CND_PYTHON_ENV="/environment", GOOGLETEST_DIR="/googletest"
    )
    environment.update({name: str(value) for name, value in variables.items()})
    done = subprocess.run(
        ["bash", str(workspace / "bazelw"), "test", "//..."],
        env=environment,
        cwd=workspace,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return None, done.stderr
    got = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert got.pop("arguments") == "test //..."
    return got, done.stderr


def all_of(folder):
    return {variable: f"{folder}/{part}" for variable, part in PARTS.items()}


NOTHING = dict.fromkeys(PARTS, "")


def test_the_parts_beside_the_checkout_are_used_and_named_once(workspace):
    parts = make_parts(workspace.parent / "shared" / "parts")
    got, said = run(workspace)
    assert got == all_of(parts)
    assert said == f"bazelw: using the parts in {parts} (CND_PARTS=none: without them)\n"


def test_without_that_folder_nothing_is_set_or_said(workspace):
    assert run(workspace) == (NOTHING, "")


@pytest.mark.parametrize("off", ["", "none"])
def test_it_can_be_turned_off(workspace, off):
    make_parts(workspace.parent / "shared" / "parts")
    assert run(workspace, CND_PARTS=off) == (NOTHING, "")


@pytest.mark.parametrize("variable", PARTS)
@pytest.mark.parametrize("value", ["/mine", ""])
def test_who_sets_one_of_the_variables_chooses_all(workspace, variable, value):
    make_parts(workspace.parent / "shared" / "parts")
    assert run(workspace, **{variable: value}) == ({**NOTHING, variable: value}, "")


def test_a_named_folder_comes_first(workspace, tmp_path):
    make_parts(workspace.parent / "shared" / "parts")
    mine = make_parts(tmp_path / "mine")
    assert run(workspace, CND_PARTS=mine) == (all_of(mine), "")


def test_what_a_folder_lacks_is_named(workspace):
    parts = make_parts(workspace.parent / "shared" / "parts", without="renode/renode")
    got, said = run(workspace)
    assert got == {**all_of(parts), "RENODE": ""}
    assert f"there is no {parts}/renode/renode: what needs it is left out." in said


def test_a_named_folder_that_is_not_there_is_an_error(workspace, tmp_path):
    got, said = run(workspace, CND_PARTS=tmp_path / "nowhere")
    assert got is None
    assert f"CND_PARTS={tmp_path}/nowhere is no folder" in said
