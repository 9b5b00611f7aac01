"""All sources are formatted, and linters find nothing: //:lint.

    ./bazelw test //:lint
    pre-commit run --all-files      formats the sources, with the same versions of the same tools

Configured by ruff.toml, mypy.ini, .clang-format and .editorconfig at the root.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    ".ci",
    "aot",
    "benchmarks",
    "cmake",
    "docs",
    "examples",
    "platforms",
    "runtime",
    "sim",
    "tests",
    "third_party",
    "tools",
    "zephyr",
)
CPP = (".c", ".cc", ".h")
BAZEL = (".BUILD", ".bazel", ".bzl", ".bzlmod", "BUILD", "WORKSPACE")
# Not written by us, or not text.
TEXT = (*CPP, ".bzl", ".cmake", ".ini", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", "BUILD")


def tool(name: str) -> str:
    """Returns the path of the program with this name in the Python environment that runs this."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        pytest.skip(f"{name} is not in the Python environment: install third_party/python/requirements.lock")
    return str(path)


def buildifier() -> str:
    """Returns the path of the program that third_party/buildifier has found."""
    path = os.environ.get("BUILDIFIER") or shutil.which("buildifier")
    if not path:
        pytest.skip("buildifier was not found: install npm, or set BUILDIFIER; see third_party/buildifier/README.md")
    return path


def findings(*command: str) -> str:
    """Returns the findings of a linter; "" if there are none."""
    program = buildifier() if command[0] == "buildifier" else tool(command[0])
    result = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    if result.returncode == 0:
        return ""
    return result.stdout + result.stderr or f"exit code {result.returncode}"


def files(*suffixes: str) -> list[str]:
    """Returns the sources whose names end with one of the arguments."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += (path for path in (ROOT / folder).rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(str(path) for path in found if path.name.endswith(suffixes) and "__pycache__" not in path.parts)


def test_python_is_formatted():
    assert not findings("ruff", "format", "--no-cache", "--diff", "--quiet", *files(".py"))


def test_python_has_no_findings():
    assert not findings("ruff", "check", "--no-cache", "--quiet", *files(".py"))


def test_types_of_the_compiler_agree():
    assert not findings("mypy", "--cache-dir", os.devnull)


def test_cpp_is_formatted():
    sources = files(*CPP)
    assert len(sources) > 100
    assert not findings("clang-format", "--dry-run", "-Werror", *sources)


def test_bazel_files_are_formatted_and_have_no_findings():
    sources = files(*BAZEL)
    assert len(sources) > 100
    assert not findings("buildifier", "--mode=diff", "--lint=warn", "--diff_command=diff -u", *sources)


def test_text_has_no_trailing_spaces_and_ends_in_a_newline():
    wrong = []
    for name in files(*TEXT):
        text = Path(name).read_text(encoding="utf-8")
        if name.endswith("size_report_test.py"):  # a map file, as the linker writes it
            continue
        if re.search(r"[ \t\r]$", text, re.MULTILINE) or (text and not text.endswith("\n")) or text.endswith("\n\n"):
            wrong.append(name)
    assert not wrong


@pytest.mark.parametrize(
    "command, name, text",
    [
        (("ruff", "format", "--no-cache", "--check"), "a.py", "x = [1,2]\n"),
        (("ruff", "check", "--no-cache"), "a.py", "import os\n"),
        (("mypy", "--cache-dir", os.devnull), "a.py", "def f(x):\n    return x\n"),
        (("clang-format", "--dry-run", "-Werror"), "a.cc", "int  x;\n"),
        (("buildifier", "--mode=check"), "BUILD", "filegroup( name = 'x')\n"),
    ],
)
def test_a_finding_is_seen(command, name, text, tmp_path):
    shutil.copy(ROOT / ".clang-format", tmp_path)
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert findings(*command, str(tmp_path / name))


def test_pre_commit_has_the_versions_of_the_lock():
    lock = (ROOT / "third_party/python/requirements.lock").read_text(encoding="utf-8")
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    revisions = dict(re.findall(r"repo: \S+/(\S+)\n\s+rev: v(\S+)", hooks))
    pinned = dict(re.findall(r"^(\S+)==(\S+)", lock, re.MULTILINE))
    assert re.search(r'"@bazel/buildifier@(\S+)"', hooks)[1] == os.environ["BUILDIFIER_VERSION"]
    assert revisions == {"ruff-pre-commit": pinned["ruff"], "mirrors-clang-format": pinned["clang-format"]}


def test_there_is_one_version():
    found = {
        "MODULE.bazel": r'^    version = "(.*)",$',
        "CMakeLists.txt": r"^  VERSION (\S+)$",
        "aot/pyproject.toml": r'^version = "(.*)"$',
        "aot/cmsis_nn_delegate/__init__.py": r'^__version__ = "(.*)"$',
        "third_party/components.bzl": r'^            "version": "(\d.*)",$',
        "CHANGELOG.md": r"^## (\d\S*)",
    }
    versions = {}
    for name, pattern in found.items():
        match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        versions[name] = match and match[1]
    assert len(set(versions.values())) == 1 and None not in versions.values(), versions
