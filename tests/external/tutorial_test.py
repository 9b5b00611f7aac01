"""The last step of docs/tutorial.md, as a reader does it: two files in a folder of a checkout, and Bazel's command."""

from __future__ import annotations

import re
import runpy
import shutil

import figures
import pytest
from code_blocks import ROOT, blocks, tutorial_file

from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.cmake.building import list_kernels
from tests.external.inner_bazel import InnerBazel, absent, toolchain_for_one_model

TUTORIAL = ROOT / "docs" / "tutorial.md"
# The tutorial builds for other cores too; one shows that the files belong together.
TEST = "//my_digits:cortex_m4_test"


def checkout(folder):
    """Copies the source tree, without what Bazel and git keep there."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("bazel-*", ".git", "__pycache__"))
    return folder


def write_files(folder):
    """Writes the files of the tutorial, and what train.py writes, into `folder`."""
    folder.mkdir()
    of_step_7 = {"starlark": "BUILD", "cpp": "main.cc"}
    for block in blocks(TUTORIAL):
        name = tutorial_file(block) or of_step_7.get(block.language)
        if name:
            assert not (folder / name).exists()
            (folder / name).write_text(block.text)


@pytest.mark.skipif(bool(absent()), reason=absent() or "present")
def test_the_firmware_of_the_tutorial_runs(tmp_path, monkeypatch):
    workspace = checkout(tmp_path / "checkout")
    folder = workspace / "my_digits"
    write_files(folder)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    make_torch_faster()
    runpy.run_path("train.py")
    assert {path.name for path in folder.iterdir() if path.suffix != ".py"} >= {
        "BUILD",
        "main.cc",
        "net.pt",
        "sample.h",
    }
    with InnerBazel(workspace, tmp_path, toolchain_for_one_model(tmp_path)) as bazel:
        code, output = bazel.run("build", "//my_digits:digits_dsp")
        assert code == 0, output
        list_kernels((workspace / "bazel-bin/my_digits/dsp/digits.payload.bin").read_bytes(), tmp_path)
        code, output = bazel.run("test", "--test_output=all", TEST)
        built, log = bazel.run("build", "//my_digits:cortex_m4")
    assert code == 0, output
    assert re.search(r"^it is \d\nPASS$", output, re.MULTILINE), output
    assert re.search(rf"{TEST} +(\(cached\) )?PASSED", output)  # people may share a cache
    assert built == 0, log
    image = workspace / "bazel-bin/my_digits/cortex_m4.elf"
    if re.search(rb"GCC: \([^)]*\) 12\.2", image.read_bytes()):
        shown = figures.size_block().text.splitlines()
        lines = image.with_suffix(".size").read_text(encoding="utf-8").splitlines()
        first = lines.index(shown[0])  # below the image's name
        assert lines[first : first + len(shown)] == shown, (
            "run `bazel run //docs:figures`, which knows the payload; put other sizes in by hand"
        )
