"""Figures that documents repeat are those of docs/benchmarks.json."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import documents
from benchmarks.documents import CORES, README_TABLE, readme_cells


@pytest.fixture(scope="module")
def measured():
    return documents.measured(Path("docs/benchmarks.json").read_text(encoding="utf-8"))


def rows_below(document: str, heading: str) -> list[list[str]]:
    """Returns the cells of the table in `document` whose first line contains `heading`."""
    _, _, rest = Path(document).read_text(encoding="utf-8").partition(heading)
    found = [line.strip("|\n ").split(" | ") for line in re.split(r"\n(?!\|)", rest)[0].splitlines()[2:]]
    assert found
    return found


def text_of(document: str) -> str:
    """Returns the document with its lines joined."""
    return " ".join(Path(document).read_text(encoding="utf-8").split())


def test_the_readme(measured):
    for network, *cells in rows_below("README.md", README_TABLE):
        assert cells == readme_cells(network.split()[0], measured), network
    text = Path("README.md").read_text(encoding="utf-8")
    changed = text.replace(rows_below("README.md", README_TABLE)[0][1], "1,234")
    assert changed != text and documents.with_table(changed, measured) == text
    ram = measured["mobilenet_v1_025", "cortex-m4", "--prefer ram"]
    assert f"mobilenet then takes {ram.arena:,} bytes on M4" in text_of("README.md")


def test_winograd(measured):
    for growth, *cells in rows_below("runtime/kernels/tuned/README.md", "| `--max-flash-growth` |"):
        found = measured["resnet8", "cortex-m4", "tuned" if "default" in growth else f"--max-flash-growth {growth}"]
        assert cells == [f"{found.inference / 1e6:.2f}", f"{found.payload:,}", f"{found.arena:,}"], growth


def test_bands_of_rows(measured):
    text = text_of("docs/guides/memory.md")
    for core, words in zip(CORES, ("takes {} bytes instead of {} on M4", "{} instead of {} on M55")):
        before, after = (measured["mobilenet_v1_025", core, choice] for choice in ("tuned", "--prefer ram"))
        change = 100 * (after.inference / before.inference - 1)
        assert words.format(f"{after.arena:,}", f"{before.arena:,}") in text
        assert f"{abs(change):.1f} % {'fewer' if change < 0 else 'more'}" in text
        assert f"{(after.payload - before.payload) / 1000:.1f} KB" in text
