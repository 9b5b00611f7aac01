"""The page as text: its figures are those of the report, and it loads nothing."""

import importlib.metadata
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.errors import UserError
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.payload.report.model_report import build_report
from cmsis_nn_delegate.payload.report.page import document, library
from cmsis_nn_delegate.payload.report.page.render import render
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing import networks


class Page(HTMLParser):
    """Collects the cells of the tables, by the table's number, and the elements with JSON."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.documents, self.addresses, self._cell, self._id = [], {}, [], None, None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.addresses += [attrs[name] for name in ("src", "href", "action", "data", "poster") if name in attrs]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._cell = True
        elif tag == "br" and self._cell:
            self.tables[-1][-1][-1] += "\n"
        elif tag == "script":
            self._id = attrs.get("id")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._cell = None
        elif tag == "script":
            self._id = None

    def handle_data(self, data):
        if self._id:
            self.documents[self._id] = json.loads(data)
        elif self._cell:
            self.tables[-1][-1][-1] += data

    def table(self, first):
        """Returns the rows of the table whose first heading is `first`, without the headings."""
        return next(table[1:] for table in self.tables if table[0][0] == first)


def report_of(graph, core="cortex-m55", **options):
    encoded = encode(graph, get_target(core), **options)
    return json.loads(build_report("net", encoded).to_json())


def profile_of(report, instructions):
    """A profile with these counts, as `cmsisnn profile --json` writes it."""
    about = {"schema": 1, "simulator": "QEMU", "core": "cortex-m55", "kernels": "tuned", "inputs": "random inputs"}
    calls = [{**call, "instructions": count} for call, count in zip(report["calls"], instructions, strict=True)]
    return {**about, "inference": sum(instructions) + 7, "executor": 7, "init": 5, "crc": 3, "calls": calls}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["arena", "caller"]), st.booleans())
def test_figures_are_those_of_the_report(seed, io_placement, profiled):
    report = report_of(networks.random_network(seed), io_placement=io_placement)
    profile = profile_of(report, [100 + call["index"] for call in report["calls"]]) if profiled else None
    page = Page(render(report, profile))
    assert page.documents["report"] == report and page.documents["profile"] == profile
    assert page.addresses == []
    for call, cells in zip(report["calls"], page.table("call"), strict=True):
        keys = ("macs", "constant_bytes", "scratch_bytes", "live_bytes")
        numbers = [call["index"], *(call[key] for key in keys), *([100 + call["index"]] if profiled else [])]
        assert [cells[0], *cells[5 : 5 + len(numbers) - 1]] == [f"{number:,}" for number in numbers]
        predicted = call["predicted_instructions"]
        assert cells[-2] == ("not predicted" if predicted is None else f"{predicted:,}")
        assert cells[1] == call["kernel"] and cells[4].startswith(call["provider"]) and call["why"] in cells[4]
    parts = {name: int(size.replace(",", "")) for name, size, _ in page.table("part")}
    assert parts == {**report["flash"], "payload": report["flash_bytes"]}
    rectangles = page.documents["charts"]["memory-arena"]["layer"][0]["data"]["values"]
    sizes = sorted((r["begin"], r["end"] - r["begin"], r["from"] + 0.5, r["to"] - 0.5) for r in rectangles)
    buffers = [b for b in report["arena"]["buffers"] if b["region"] == "arena"]
    assert sizes == sorted((b["offset"], b["nbytes"], b["first"], b["last"]) for b in buffers)


def test_the_page_says_what_lives_at_the_peak():
    report = report_of(networks.resnet8())
    page = Page(render(report))
    call = report["arena"]["peak_call"]
    alive = [b for b in report["arena"]["buffers"] if b["first"] <= call <= b["last"]]
    assert [(row[0], row[2], row[3]) for row in page.table("buffer")] == [
        (b["name"], f"{b['nbytes']:,}", f"{b['offset']:,}") for b in alive
    ]


def test_differences_to_another_report():
    before = report_of(networks.autoencoder(), "cortex-m4")
    after = report_of(networks.autoencoder(), "cortex-m55")
    rows = {row[0]: row[1:] for row in Page(render(after, None, before)).table("totals")}
    change = after["flash_bytes"] - before["flash_bytes"]
    assert rows["payload, bytes"][:2] == [f"{before['flash_bytes']:,}", f"{after['flash_bytes']:,}"]
    assert rows["payload, bytes"][2].startswith(f"{change:+,} (")
    assert "arena, bytes" not in rows  # equal
    assert "None against net for cortex-m4" in render(before, None, before)


def test_names_are_text_and_not_markup():
    report = report_of(networks.autoencoder())
    report["name"] = report["calls"][0]["kernel"] = "<img src=x></script><!--"
    report["calls"][0]["modules"] = ["a.b (<T>)"]
    html = render(report)
    page = Page(html)
    assert page.addresses == [] and page.documents["report"] == report
    assert page.table("call")[0][1:3] == ["<img src=x></script><!--", "a.b (<T>)"]


def test_the_page_is_small_and_forbids_to_load():
    html = render(report_of(networks.mobilenet_v1_025()))
    assert len(html.encode()) < 3_000_000
    assert "default-src 'none'" in re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    assert "Copyright" in html


@pytest.mark.parametrize(
    "content, message",
    [
        ("{", "is no JSON"),
        ("[]", "contains no object"),
        ("{}", "is no report"),
        ('{"arena": {}, "calls": []}', "has version 1 of the report, and this program reads version 2"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "net.report.json"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        document.read_report(path)


def test_a_profile_of_other_calls_is_refused(tmp_path):
    report = report_of(networks.autoencoder())
    profile = profile_of(report, [1] * len(report["calls"]))
    path = tmp_path / "net.profile.json"
    path.write_text(json.dumps(profile))
    assert document.read_profile(path, report) == profile
    profile["calls"][2]["kernel"] = "add"
    path.write_text(json.dumps(profile))
    with pytest.raises(UserError, match="another payload.*another call 2"):
        document.read_profile(path, report)
    path.write_text(json.dumps({**profile, "calls": profile["calls"][:2]}))
    with pytest.raises(UserError, match="2 calls, not 10"):
        document.read_profile(path, report)


def test_a_missing_package_is_named(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    with pytest.raises(UserError, match="pip install vl-convert-python"):
        library.check_installed()
