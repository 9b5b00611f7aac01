"""Links of the documents lead somewhere, and commands in them have the options that they use."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from code_blocks import BLOCK, ROOT, blocks

from cmsis_nn_delegate.cli.command_line import parser

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_SKIPPED = ("bazel-", "out", ".")


def documents() -> list[Path]:
    found = [path for path in ROOT.rglob("*.md") if not path.relative_to(ROOT).parts[0].startswith(_SKIPPED)]
    assert len(found) > 30
    return sorted(found)


def anchors(path: Path) -> set[str]:
    """Returns the names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
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
    for path in documents():
        for text in (block.text for block in blocks(path) if not block.language):
            for line in re.sub(r"\\\n\s*", "", text).splitlines():
                if re.match(r"\s*cmsisnn \w", line):
                    found.append((str(path.relative_to(ROOT)), line.strip()))
    assert len(found) > 10
    return found


@pytest.mark.parametrize("document, command", commands())
def test_commands_have_their_options(document, command):
    words = shlex.split(command.partition("|")[0].partition(">")[0], comments=True)[1:]
    parser().parse_args(words)
