"""The site of the documents: its links lead somewhere, and it loads nothing from the network."""

from __future__ import annotations

import os
import posixpath
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parent / "site"
# What a browser loads by itself, and the attribute that says from where.
LOADED = {
    "audio": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "script": "src",
    "source": "src",
    "video": "src",
}


class Page(HTMLParser):
    """Collects what a page links, what it loads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.linked: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values.get("id") or "", (values.get("name") or "") if tag == "a" else ""}
        if tag == "a" and values.get("href"):
            self.linked.add(values["href"])
        if values.get(LOADED.get(tag, "")):
            self.loaded.add(values[LOADED[tag]])


@pytest.fixture(scope="module")
def pages():
    if os.environ["NO_SPHINX"]:
        pytest.skip(f"there is no Sphinx: {os.environ['NO_SPHINX']}")
    found = {path.relative_to(SITE).as_posix(): Page(path) for path in SITE.rglob("*.html")}
    assert len(found) > 40
    return found


def test_the_page_of_the_command_line_lists_the_options_of_commands(pages):
    text = (SITE / "docs/reference/cli.html").read_text(encoding="utf-8")
    missing = [option for option in ("--calibration", "--max-steps", "--against", "--layers") if option not in text]
    assert not missing


def test_links_lead_somewhere(pages):
    wrong, internal = [], 0
    for name, page in pages.items():
        for link in page.linked:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            internal += 1
            path = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
            )
            known = pages[path].anchors if path in pages else {""} if (SITE / path).is_file() else set()
            if unquote(parts.fragment) not in known:
                wrong.append(f"{name}: {link}")
    assert internal > 1000
    assert not wrong


def test_nothing_comes_from_the_network(pages):
    loaded = {(name, url) for name, page in pages.items() for url in page.loaded}
    assert len(loaded) > 100
    assert not [(name, url) for name, url in loaded if urlsplit(url).scheme not in ("", "data") or url.startswith("//")]
    # Stylesheets could load fonts.
    styles = list(SITE.rglob("*.css"))
    assert styles
    assert not [style.name for style in styles if "url(http" in style.read_text() or "url(//" in style.read_text()]
