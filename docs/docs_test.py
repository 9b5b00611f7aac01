"""Links of the documents lead somewhere, commands in them have the options that they use, and Python code runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from cmsis_nn_delegate import cli

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_SKIPPED = ("bazel-", "out", ".")


def documents() -> list[Path]:
    found = [path for path in ROOT.rglob("*.md") if not path.relative_to(ROOT).parts[0].startswith(_SKIPPED)]
    assert len(found) > 30
    return sorted(found)


def blocks(language: str) -> Iterator[tuple[Path, str]]:
    for path in documents():
        for _, name, text in _BLOCK.findall(path.read_text(encoding="utf-8")):
            if name == language:
                yield path, text


def anchors(path: Path) -> set[str]:
    """Returns the names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", _BLOCK.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
    for target in (one or other for one, other in _LINK.findall(text)):
        if re.match("[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        found = (path.parent / file).resolve() if file else path
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def test_the_start_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def commands() -> list[tuple[str, str]]:
    """Returns the commands in documents, with continuation lines joined."""
    found = []
    for path, text in blocks(""):
        for line in re.sub(r"\\\n\s*", "", text).splitlines():
            if re.match(r"\s*cmsisnn \w", line):
                found.append((str(path.relative_to(ROOT)), line.strip()))
    assert len(found) > 10
    return found


@pytest.mark.parametrize("document, command", commands())
def test_commands_have_their_options(document, command):
    words = shlex.split(command.partition("|")[0].partition(">")[0], comments=True)[1:]
    cli._parser().parse_args(words)


def test_the_code_of_the_start_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = (text for path, text in blocks("python") if path == ROOT / "README.md")
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert "bytes of arena" in capsys.readouterr().out
    assert {"net.pte", "net.h", "net.c"} <= {path.name for path in (tmp_path / "out").iterdir()}
