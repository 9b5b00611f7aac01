"""Every figure in the documents is compared with real output by a test, or figures.json says why that cannot be."""

from __future__ import annotations

import json
import re

import pytest
from code_blocks import ROOT, blocks

ENTRIES = json.loads((ROOT / "docs/figures.json").read_text(encoding="utf-8"))
# Pages that a command writes whole, and a test compares.
GENERATED = {
    "docs/benchmarks.md",
    "docs/comparison.md",
    "docs/coverage.md",
    "docs/floors.md",
    "docs/formats.md",
    "docs/goals.md",
    "docs/networks.md",
    "docs/operator_suite.md",
    "docs/operators.md",
    "docs/reference/payload_format.md",
    "docs/stateful_networks.md",
    "docs/streaming_networks.md",
}
EXAMPLES = [ROOT / "examples" / name / "README.md" for name in ("dial_tones", "digits", "line_camera")]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *EXAMPLES]
# What is measured: numbers with thousands, and numbers of such units.
FIGURE = re.compile(
    r"(?<![\w.,/#-])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?=(?: to \d+)?[ -]"
    r"(?:bytes|KB|KiB|MB|MiB|%|instructions|million|seconds?\b|s\b|minutes?\b|dB\b|cycles))|\d+(?:\.\d+)?(?=%))(?:\.\d+)?"
)


def name_of(path) -> str:
    return str(path.relative_to(ROOT))


def without_known(name: str, text: str) -> str:
    """Returns a document without the passages that its entries name. AssertionError for an entry that names nothing."""
    for entry in ENTRIES.get(name, []):
        if "block" in entry:
            found = [block.text for block in blocks(ROOT / name) if entry["block"] in block.text]
        elif "table" in entry:
            start = text.find(entry["table"])
            found = re.findall(r"(?:\|.*\n)+", text[start:])[:1] if start >= 0 else []
        else:
            # A document breaks its lines anywhere.
            found = re.findall(re.sub(r"(\\ |\s)+", r"\\s+", re.escape(entry["text"])), text)
        assert found, f"{name} has no {entry} any more: take it out of docs/figures.json"
        for passage in found:
            text = text.replace(passage, "\n")
    return text


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if name_of(path) not in GENERATED], ids=name_of)
def test_every_figure_is_compared_or_has_a_reason(path):
    name = name_of(path)
    rest = without_known(name, path.read_text(encoding="utf-8"))
    new = [line.strip() for line in rest.splitlines() if FIGURE.search(line)]
    assert not new, f"say in docs/figures.json which test compares these figures of {name}, or why none can"


def test_entries_say_what_compares_them():
    for name, entries in ENTRIES.items():
        for entry in entries:
            assert len(entry) == 2 and len({"block", "table", "text"} & entry.keys()) == 1, (name, entry)
            if "test" in entry:
                folder, _, target = entry["test"].removeprefix("//").partition(":")
                assert f'"{target}"' in (ROOT / folder / "BUILD").read_text(encoding="utf-8"), (name, entry)
            else:
                assert len(entry["untested"]) > 20, (name, entry)


def test_a_new_figure_is_found():
    for line in ("takes 7,616 bytes", "is 3.5 % more", "3.8 to 7.4 KB less", "99.17%", "about 4 minutes", "| 1,234 |"):
        assert FIGURE.search(line), line
    for line in ("CMSIS-NN 5.9.0", "ExecuTorch 1.5", "armv8.1-m", "a window of 3 x 3", "conv2d_1", "int8"):
        assert not FIGURE.search(line), line
