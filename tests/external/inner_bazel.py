"""Runs an inner Bazel in workspaces with this repository as an external one."""

import os
import pathlib
import shutil
import subprocess
import sys

from tests.cmake.building import ONLY_KERNELS, list_of_kernels

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples/bazel_firmware"


def _bazel() -> str | None:
    return shutil.which("bazel") or shutil.which("bazelisk")


def absent() -> str:
    """Returns why the inner build cannot run, or ""."""
    if _bazel() is None:
        return "no bazel on PATH"
    return (
        "" if shutil.which("arm-none-eabi-gcc") or "ARM_GNU_TOOLCHAIN" in os.environ else "no arm-none-eabi-gcc on PATH"
    )


def copy_of_example(folder: pathlib.Path, *names: str) -> pathlib.Path:
    """Copies the example's files, or those with these names, to `folder`, as a user would, and changes the path of this
    repository in them."""
    folder.mkdir()
    for source in EXAMPLE.iterdir():
        # Not Bazel's links.
        if not source.is_symlink() and source.is_file() and (not names or source.name in names):
            text = source.read_text(encoding="utf-8")
            (folder / source.name).write_text(text.replace('path = "../.."', f'path = "{ROOT}"'))
    return folder


def toolchain_for_one_model(folder: pathlib.Path) -> pathlib.Path:
    """Returns ARM_GNU_TOOLCHAIN for a build that compiles of the kernels only those that list_kernels(payload, folder)
    has written, because all take minutes: the outer Bazel compiles them."""
    programs = pathlib.Path(os.environ.get("ARM_GNU_TOOLCHAIN", ""), "bin", "arm-none-eabi-gcc")
    programs = programs if programs.exists() else pathlib.Path(shutil.which("arm-none-eabi-gcc"))
    toolchain = folder / "toolchain"
    (toolchain / "bin").mkdir(parents=True)
    # Resolved, because GCC finds its headers from there: Bazel compares their paths.
    for program in programs.parent.resolve().glob("arm-none-eabi-*"):
        ours = toolchain / "bin" / program.name
        if program.name.endswith(("-gcc", "-g++")):
            ours.write_text(f'#!/bin/sh\nexec sh {ONLY_KERNELS} {list_of_kernels(folder)} {program} "$@"\n')
            ours.chmod(0o755)
        else:
            ours.symlink_to(program)
    return toolchain


class InnerBazel:
    """Runs commands in `workspace`, with Bazel's files in `folder`. close() ends Bazel's server."""

    def __init__(self, workspace: pathlib.Path, folder: pathlib.Path, toolchain: pathlib.Path | None = None):
        self._workspace = workspace
        # It lives too short for what Java's second compiler would gain.
        java = "--host_jvm_args=-XX:TieredStopAtLevel=1"
        self._startup = [_bazel(), f"--output_user_root={folder}/out", "--max_idle_secs=5", java]
        self._environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("TEST_", "RUNFILES", "PYTHON"))
            },
            "HOME": str(folder),
            "CND_PYTHON_ENV": sys.prefix,  # the packages that this test runs with
            **({"ARM_GNU_TOOLCHAIN": str(toolchain)} if toolchain else {}),
        }

    def run(self, command: str, *arguments: str) -> tuple[int, str]:
        """Returns the exit code and the output."""
        # No sandbox within the sandbox.
        options = ["--jobs=2", "--noshow_progress", "--spawn_strategy=local"]
        result = subprocess.run(
            [*self._startup, command, *options, *arguments],
            cwd=self._workspace,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return result.returncode, result.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        command = [*self._startup, "shutdown"]
        subprocess.run(command, cwd=self._workspace, env=self._environment, capture_output=True, check=False)
