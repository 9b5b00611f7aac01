"""The tables of compliance.md point to places that exist."""

import pathlib
import re

import pytest

# The source tree itself, to which a runfile links: places can be anywhere in it.
ROOT = pathlib.Path(__file__).resolve().parent.parent
_STATES = ("yes", "partly", "no")
_TOPICS = ("Upgrading", "Special")


def _rows(text):
    """Yields (section, cells) of every row."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("|") and not re.match(r"\| ?(point|dependency|-)", line):
            yield section, [cell.strip() for cell in line.strip("|").split("|")]


def _places(cell):
    """Returns (path, text or "") of every place in a cell; the last code span may contain backquotes."""
    spans = re.findall(r"`([\w./-]+)(?::(.*?))?`(?=, `|$)", cell)
    assert bool(spans) == bool(cell), f"no place in: {cell}"
    return spans


def _problems(text):
    """Returns what is wrong with the tables, one line per problem."""
    problems = []
    for section, cells in _rows(text):
        point, state, place, remark = cells
        if "which" not in section:
            if state not in _STATES:
                problems.append(f"{point}: {state} is none of {_STATES}")
            if state != "no" and not place:
                problems.append(f"{point}: no place")
            if state != "yes" and not remark:
                problems.append(f"{point}: no remark says what is missing")
        for path, words in _places(place):
            if not (ROOT / path).exists():
                problems.append(f"{point}: {path} does not exist")
            elif words and words not in (ROOT / path).read_text(encoding="utf-8"):
                problems.append(f"{point}: {path} does not contain {words}")
    return problems


TEXT = (ROOT / "docs" / "compliance.md").read_text(encoding="utf-8")


def test_every_place_exists():
    assert len(list(_rows(TEXT))) > 30
    assert not _problems(TEXT)


@pytest.mark.parametrize(
    "old, new",
    [
        ("| yes | `setup.md`", "| yes | `set-up.md`"),
        (":kBackendId", ":kBackendIdentity"),
        ("| yes | `LICENSE`", "| perhaps | `LICENSE`"),
        ("| yes | `LICENSE`", "| yes |"),
        ("| Bazel and CMake only", "| "),
    ],
)
def test_a_wrong_row_is_noticed(old, new):
    assert old in TEXT
    assert _problems(TEXT.replace(old, new))


def test_every_dependency_says_how_to_upgrade_and_what_to_mind():
    for section, (name, _, place, _) in _rows(TEXT):
        if "which" in section:
            readme = (ROOT / _places(place)[0][0]).read_text(encoding="utf-8")
            for topic in _TOPICS:
                assert topic in readme, f"{name}: {place} has nothing on {topic}"


def test_every_pinned_source_is_listed():
    listed = {path for section, cells in _rows(TEXT) if "which" in section for path, _ in _places(cells[2])}
    folders = {str(path.relative_to(ROOT)) for path in ROOT.glob("third_party/*/README.md")}
    # Rule sets for old versions of Bazel: files of this repository.
    assert folders - {"third_party/bazel4/README.md"} <= listed
