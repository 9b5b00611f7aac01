"""Compares two revisions of a repository whose `bazelw` copies a file to where Bazel would build it."""

import json
import subprocess

import pytest

from cmsis_nn_delegate import UserError
from tools.size_diff import main

BAZELW = """#!/bin/bash
set -eu
if [ "$1" = info ]; then echo "$PWD/results"; exit; fi
! grep -q broken app/objects.json || exit 1
for image in "$@"; do
  if [[ $image == //app:* ]]; then mkdir -p results/app; cp app/objects.json "results/app/${image#*:}.size.json"; fi
done
"""


def sizes(**objects):
    total = sum(objects.values())
    part = {"code": total, "constants": 0, "initial": 0, "total": total, "objects": objects}
    ram = {"total": 8, "sections": {".bss": 8}, "parts": {"app": 8}, "arena": 0}
    return json.dumps({"flash": {"total": total, "capacity": 999, "parts": {"app": part}}, "ram": ram})


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "root"
    (root / "app").mkdir(parents=True)
    (root / "app" / "BUILD").write_text("")
    (root / "bazelw").write_text(BAZELW)
    (root / "bazelw").chmod(0o755)
    (root / "app" / "objects.json").write_text(sizes(main=100, old=30))
    git(root, "init", "--quiet")
    commit(root, "first")
    (root / "app" / "objects.json").write_text(sizes(main=140, new=5))
    return root


def git(root, *arguments):
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.com"]
    subprocess.run(["git", "-C", root, *who, *arguments], check=True)


def commit(root, tag):
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", tag)
    git(root, "tag", tag)


def found(root, base="first"):
    document = json.loads(main.size_diff(root, base, ["//app:image"], "json"))
    assert document["base"] == base
    return {c["name"]: (c["before"], c["after"]) for c in document["images"]["//app:image"]["changes"]}


def test_the_working_tree_is_compared_with_a_revision(repository):
    objects = found(repository)
    assert {(100, 140), (30, None), (None, 5)} <= set(objects.values())
    assert json.loads((repository / "app" / "objects.json").read_text())["flash"]["total"] == 145  # left as it was


def test_the_next_comparison_is_with_its_own_revision(repository):
    first = found(repository)
    commit(repository, "second")
    assert found(repository, "second") == {}
    assert found(repository) == first


def test_forms(repository):
    text = main.size_diff(repository, "first", ["//app:image", "//app:other"], "text")
    assert text.startswith("//app:image\n") and "\n//app:other\n" in text and "+40 (+40.0 %)" in text
    assert "### //app:image\n\n| |" in main.size_diff(repository, "first", ["//app:image"], "markdown")


def test_an_image_that_is_new(repository):
    git(repository, "rm", "-r", "--quiet", "--force", "app")
    commit(repository, "without")
    git(repository, "checkout", "--quiet", "first", "--", "app")
    assert "there is no such image at without" in main.size_diff(repository, "without", ["//app:image"], "text")


@pytest.mark.parametrize(
    "base, image, message",
    [
        ("none", "//app:image", "no revision 'none' here"),
        ("--help", "//app:image", "no revision '--help' here"),
        ("first", "app:image", "app:image is no label of an image"),
        ("first", "//app", "//app is no label of an image"),
        ("first", "//else:image", "only targets of the rule firmware"),
    ],
)
def test_what_cannot_be_compared_is_explained(repository, base, image, message):
    with pytest.raises(UserError, match=message):
        main.size_diff(repository, base, [image], "text")


def test_a_build_that_fails(repository):
    (repository / "app" / "objects.json").write_text("broken")
    commit(repository, "bad")
    with pytest.raises(UserError, match="failed in"):
        main.size_diff(repository, "bad", ["//app:image"], "text")


def test_the_program_explains_errors(repository, monkeypatch, capfd):
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(repository))
    assert main.main(["--base=none"]) == 1
    assert "size_diff: error: there is no revision 'none' here" in capfd.readouterr().err
