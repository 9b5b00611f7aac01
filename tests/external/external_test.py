"""Builds and runs examples/bazel_firmware: a workspace that has this repository as an external one."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
_EXAMPLE = ROOT / "examples/bazel_firmware"


def _bazel() -> str | None:
    return shutil.which("bazel") or shutil.which("bazelisk")


def _absent() -> str:
    """Why the inner build cannot be run, or ""."""
    if _bazel() is None:
        return "no bazel on PATH"
    return (
        "" if shutil.which("arm-none-eabi-gcc") or "ARM_GNU_TOOLCHAIN" in os.environ else "no arm-none-eabi-gcc on PATH"
    )


@pytest.fixture
def workspace(tmp_path):
    """The example as its users have it: somewhere else, with the path to this repository."""
    copy = tmp_path / "firmware"
    copy.mkdir()
    for source in _EXAMPLE.iterdir():
        if not source.is_symlink() and source.is_file():  # not Bazel's links
            text = source.read_text(encoding="utf-8")
            (copy / source.name).write_text(text.replace('path = "../.."', f'path = "{ROOT}"'))
    return copy


@pytest.mark.skipif(bool(_absent()), reason=_absent() or "present")
def test_a_firmware_with_this_repository_as_an_external_one_runs(workspace, tmp_path):
    tests = [f"//:{core}_test" for core in ("cortex_m4", "cortex_m55")]
    bazel = [_bazel(), f"--output_user_root={tmp_path}/out", "--max_idle_secs=5"]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("TEST_", "RUNFILES", "PYTHON"))},
        "HOME": str(tmp_path),
        "CND_PYTHON_ENV": sys.prefix,  # the packages that this test runs with
    }
    options = [
        "--jobs=2",
        "--noshow_progress",
        "--test_output=all",
        "--spawn_strategy=local",
    ]  # no sandbox in the sandbox
    try:
        result = subprocess.run(
            [*bazel, "test", *options, *tests],
            cwd=workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    finally:
        subprocess.run([*bazel, "shutdown"], cwd=workspace, env=environment, capture_output=True, check=False)
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("PASS: within 0.1 of the sine") == len(tests)
    for test in tests:
        assert re.search(rf"{test} +PASSED", result.stdout)
