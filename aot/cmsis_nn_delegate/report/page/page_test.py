"""The page as text: its figures are those of the report, and it loads nothing."""

import importlib.metadata
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.lookup import LookupAttrs, table_value
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.from_json import read_report
from cmsis_nn_delegate.report.image_sizes import image_sizes, read_image
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.report.page import graph, image, library
from cmsis_nn_delegate.report.page import outputs as page_outputs
from cmsis_nn_delegate.report.page.parts import render_parts
from cmsis_nn_delegate.report.page.render import render
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import documents, networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


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
    encoded = encode(graph, get_target(core), PayloadOptions.of(**options))
    return json.loads(build_report("net", encoded).to_json())


def profile_of(report, instructions):
    """A profile with these counts, as `cmsisnn profile --json` writes it."""
    about = {"schema": 1, "simulator": "QEMU", "core": "cortex-m55", "kernels": "tuned", "inputs": "random inputs"}
    calls = [{**call, "instructions": count} for call, count in zip(report["calls"], instructions, strict=True)]
    return {**about, "inference": sum(instructions) + 7, "executor": 7, "init": 5, "crc": 3, "calls": calls}


def with_cycles(profile):
    """A profile with cycles by LLVM's model: as many as instructions, or twice as many."""
    calls = [{**call, "cycles": [call["instructions"], 2 * call["instructions"]]} for call in profile["calls"]]
    about = {"cycle_model": "LLVM 19.1.7", "cycle_note": "3 of itte", "flash_waits": None}
    return {**profile, **about, "calls": calls, "cycles": [profile["inference"], 2 * profile["inference"]]}


def with_board(profile):
    """A profile with cycles of a board: three times as many as instructions."""
    calls = [3 * call["instructions"] for call in profile["calls"]]
    about = {"board": "NUCLEO at 120 MHz", "core": "cortex-m4", "kernels": "tuned", "through": "a serial line"}
    more = {"date": "2026-11-28", "inference": sum(calls) + 9, "executor": 9, "calls": calls}
    return {**profile, "measured": {**about, **more}}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["arena", "caller"]), *3 * [st.booleans()])
def test_figures_are_those_of_the_report(seed, io_placement, profiled, modelled, on_board):
    report = report_of(networks.random_network(seed), io_placement=io_placement)
    profile = profile_of(report, [100 + call["index"] for call in report["calls"]]) if profiled else None
    profile = with_cycles(profile) if profiled and modelled else profile
    profile = with_board(profile) if profiled and on_board else profile
    html = render(report, profile)
    page = Page(html)
    said = "by the model that LLVM 19.1.7 has of the core, with memories without wait states. It lacks instructions"
    assert (said in html) == (profiled and modelled)
    said = (
        "Measured cycles: NUCLEO at 120 MHz, a cortex-m4 with the kernels tuned, through a serial line, on 2026-11-28;"
    )
    assert (said in html) == (profiled and on_board)
    assert page.documents["report"] == report and page.documents["profile"] == profile
    assert page.addresses == []
    for call, cells in zip(report["calls"], page.table("call"), strict=True):
        keys = ("macs", "constant_bytes", "scratch_bytes", "live_bytes")
        count = 100 + call["index"]
        counts = [count, *modelled * [count, 2 * count], *on_board * [3 * count]] if profiled else []
        numbers = [call["index"], *(call[key] for key in keys), *counts]
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


def recorded(folder, **arrays):
    np.savez(folder / "outputs.npz", **arrays)
    return folder / "outputs.npz"


def test_outputs_over_time_are_real_numbers(tmp_path):
    builder = GraphBuilder()
    x = builder.input(1, 3, 8, 8)
    graph = builder.graph(builder.avg_pool2d(x, (8, 8), stride=(8, 8)), builder.max_pool2d(x, (1, 1), stride=(1, 1)))
    report = report_of(graph)
    random = np.random.default_rng(0)
    data = [random.integers(-128, 128, (5, *value.shape[1:]), np.int8) for value in graph.outputs]
    outputs = page_outputs.read(recorded(tmp_path, output0=data[0], output1=data[1]), report)
    for values, array, value in zip(outputs, data, graph.outputs, strict=True):
        np.testing.assert_allclose(values, (array.reshape(5, -1) - float(value.zero_point)) * value.scale)
    html = render(report, outputs=outputs)
    charts = Page(html).documents["charts"]
    rows = charts["outputs-0"]["data"]["values"]
    assert [row["inference"] for row in rows] == list(range(5))
    np.testing.assert_allclose([[row[str(i)] for i in range(3)] for row in rows], outputs[0], rtol=1e-3)
    # Of a large output those elements that change most.
    assert len(charts["outputs-1"]["data"]["values"][0]) == 1 + 64 and "Only the 64 of 192 elements" in html
    assert "Outputs over time" not in render(report)


@pytest.mark.parametrize("elements, mark, count", [(1, "mark-line", 1), (4, "mark-line", 4), (5, "mark-rect", 100)])
def test_few_outputs_are_lines_and_more_a_map(elements, mark, count):
    spec, left_out = page_outputs.over_time(np.arange(20.0 * elements).reshape(20, elements))
    svg = vl_convert.vegalite_to_svg({**spec, "width": 600})
    marks = re.findall(rf'<g class="{mark} role-mark.*?</g>', svg, re.DOTALL)
    assert "".join(marks).count("<path") == count and not left_out


def test_a_long_run_is_cut():
    spec, left_out = page_outputs.over_time(np.zeros((2001, 1)))
    assert len(spec["data"]["values"]) == 2000 and left_out == "the first 2,000 of 2,001 inferences"


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({}, r"has the arrays \(none\), and the model's outputs are output0: give what `cmsisnn run -o` wrote"),
        (
            {"output0": np.zeros((4, 5), np.int8)},
            r"output0 has the shape \[4, 5\], which is no number of outputs of the",
        ),
        ({"output0": np.zeros((0, 3, 1, 1), np.int8)}, "no number of outputs"),
        ({"output0": np.int8(1)}, "no number of outputs"),
    ],
)
def test_outputs_of_another_model(tmp_path, arrays, message):
    builder = GraphBuilder()
    report = report_of(builder.graph(builder.avg_pool2d(builder.input(1, 3, 8, 8), (8, 8), stride=(8, 8))))
    with pytest.raises(UserError, match=message):
        page_outputs.read(recorded(tmp_path, **arrays), report)
    (tmp_path / "text.npz").write_text("no arrays")
    with pytest.raises(UserError, match=r"text.npz has no arrays: .*; give what"):
        page_outputs.read(tmp_path / "text.npz", report)


def parts_of(*graphs):
    return documents.parts(*map(report_of, graphs))


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 2**32), min_size=1, max_size=3))
def test_the_page_of_several_parts_has_the_figures_of_each(seeds):
    parts = parts_of(*map(networks.random_network, seeds))
    html = render_parts(parts)
    page = Page(html)
    assert page.documents["parts"] == parts and page.addresses == []
    tables = [table[1:] for table in page.tables if table[0][0] == "call"]
    for report, rows in zip(parts["parts"], tables, strict=True):
        assert [row[:2] for row in rows] == [[f"{call['index']:,}", call["kernel"]] for call in report["calls"]]
    for index in range(1, len(seeds) + 1):
        ids = {f"part{index}-{name}" for name in ("memory-arena", "by-call", "graph")}
        assert ids <= page.documents["charts"].keys()
        assert all(html.count(f'id="{name}"') == 1 for name in ids)
    names = re.findall(r"""\bid=["']?([\w-]+)""", html.split("<script", 1)[0])
    assert len(names) == len(set(names)) and set(page.documents["charts"]) <= set(names)
    sizes = [sum(report["flash_bytes"] for report in parts["parts"]), 7890, 3400]
    sizes.append(max(report["arena"]["nbytes"] for report in parts["parts"]))
    assert all(f"{size:,}" in html for size in sizes)


def test_the_page_of_several_parts_says_what_is_refused_and_where():
    tables = [table[1:] for table in Page(render_parts(parts_of(networks.ds_cnn()))).tables if table[0][0] == "module"]
    refused, delegated = tables
    where = "<layers> (Sums)\nmodel.py:3\nx = a < b"
    consequence = "no kernel exists: the program cannot be loaded"
    assert refused == [[where, "aten.lt", consequence, "unsupported-operator\nwrite <that> instead"]]
    assert delegated == [[where, "aten", "2", "call 2, conv2d (tuned)"]]


def test_the_page_of_several_parts_shows_differences_limits_and_accuracy():
    before = parts_of(networks.ds_cnn(), networks.autoencoder())
    now = parts_of(networks.ds_cnn(), networks.resnet8(), networks.autoencoder())
    accuracy = {**ACCURACY, "model": now["name"], "target": now["target"]}
    html = render_parts(now, before, accuracy=accuracy, limits={"arena": 1 << 20, "flash": 1000})
    arenas, sizes = (
        [
            figure([report[key] if key else report["arena"]["nbytes"] for report in parts["parts"]])
            for parts in (before, now)
        ]
        for key, figure in (("", max), ("flash_bytes", sum))
    )
    for old, new in (arenas, sizes):
        assert f"{new - old:+,} ({(new - old) / old:+.1%})" in html
    assert "of 3 parts; before, of 2" in html and html.count("budget exceeded") == 1
    assert "31.2 dB" in html and Page(html).table("layer")[0][0] == "a (Conv2d)\nm.py:3"
    # The first part is unchanged, the second has other calls, and there was no third one.
    assert html.count("<h2>Changes</h2>") == 2 and html.count("<h2>Changes</h2><p>None against") == 1
    alone = render_parts(now)
    assert not any(text in alone for text in ("<h2>Changes</h2>", "<h2>Accuracy</h2>", "of the limit of", "before, of"))


def test_each_memory_has_a_chart():
    memories = [Memory("dtcm", 4096), Memory("unused", 1), Memory("sram", 1 << 20)]
    report = report_of(networks.ds_cnn(), memories=memories)
    html = render(report)
    page = Page(html)
    assert re.findall("RAM: (dtcm|unused)", html) == ["dtcm", "unused"]  # the fastest first
    assert [name for name in page.documents["charts"] if name.startswith("memory")] == ["memory-arena", "memory-dtcm"]
    for region in ("arena", "dtcm"):
        rectangles = page.documents["charts"][f"memory-{region}"]["layer"][0]["data"]["values"]
        assert len(rectangles) == len([b for b in report["arena"]["buffers"] if b["region"] == region]) > 0


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_nothing_needs_a_mouse(seed):
    """Buffers and lines of the graph are in tables too; what scrolls does so by keys; charts name their table."""
    report = report_of(networks.random_network(seed))
    html = render(report)
    rows = next(table[1:] for table in Page(html).tables if table[0][:3] == ["name", "kind", "memory"])
    assert [(row[0], row[2], *(int(cell.replace(",", "")) for cell in row[3:7])) for row in rows] == [
        (b["name"], b["region"], b["nbytes"], b["offset"], b["first"], b["last"]) for b in report["arena"]["buffers"]
    ]
    tensors = Page(html).table("tensor")
    assert [row[-2:] for row in tensors] == [
        [", ".join(map(str, t["writers"])), ", ".join(map(str, t["readers"]))] for t in report["tensors"]
    ]
    body = html.split("<script", 1)[0]
    assert body.count("<table") == body.count("<div class=scroll tabindex=0 role=region") > 3
    assert len(re.findall(r'<div class=chart id="[^"]+" role=img aria-label="[^"]+"', body)) == body.count(
        "class=chart"
    )


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_names_of_lines_stand_where_the_peak_is_not(core):
    for network in (networks.ds_cnn, networks.resnet8, networks.autoencoder, networks.mobilenet_v1_025):
        report = report_of(network(), core)
        layers = Page(render(report)).documents["charts"]["memory-arena"]["layer"]
        texts = [layer for layer in layers if layer["mark"]["type"] == "text" and "x" in layer["encoding"]]
        names = [layer for layer in texts if "value" in layer["encoding"]["x"]]
        late = 2 * report["arena"]["peak_call"] >= len(report["calls"])
        assert names and all((layer["encoding"]["x"]["value"] == 0) == late for layer in names)


def test_packed_weights_are_not_called_tables():
    report = report_of(networks.ds_cnn(), "cortex-m4")
    assert report["flash"]["packed weights"] > report["flash_bytes"] / 2
    b = GraphBuilder()
    table = table_value("table", np.arange(256) - 128)
    looked_up = b.node("lookup", [b.input(1, 8), table], LookupAttrs(), b.quant())
    assert report_of(b.graph(looked_up))["flash"]["lookup tables"] == 256


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_the_graph_has_a_line_from_each_writer_to_each_reader(seed):
    report = report_of(networks.random_network(seed))
    lines, nodes = (layer["data"]["values"] for layer in graph.graph(report)["layer"][:2])
    assert [node["title"].split()[0] for node in nodes if node["kind"] == "call"] == [
        str(call["index"]) for call in report["calls"]
    ]
    row = {(node["kind"], node["title"].split()[0]): node["row"] for node in nodes}
    wanted = set()
    for tensor in report["tensors"]:
        begins = [row["call", str(call)] for call in tensor["writers"]]
        begins += [row["input", tensor["name"].split()[0]]] if tensor["kind"] == "input" else []
        wanted |= {(begin, row["call", str(call)]) for begin in begins for call in tensor["readers"]}
    drawn = {}
    for point in lines:
        drawn.setdefault(point["edge"], []).append((point["y"], point["x"]))
    ends = {(min(points)[0], max(points)[0]) for points in drawn.values()}
    outputs = {node["row"] for node in nodes if node["kind"] == "output"}
    assert wanted == {(begin, end) for begin, end in ends if end not in outputs}
    # Lines that pass nodes do not lie on each other.
    passing = [(points[1][1], points[0][0], points[-1][0]) for points in drawn.values() if len(points) > 2]
    for i, (lane, begin, end) in enumerate(passing):
        for other, first, last in passing[:i]:
            assert lane != other or end <= first or last <= begin
    assert all(x > 0 for points in drawn.values() for _, x in points)


def test_tensors_have_their_scales():
    report = report_of(networks.resnet8())
    rows = Page(render(report)).table("tensor")
    assert [(row[0], row[4], row[5]) for row in rows] == [
        (t["name"], f"{t['scale']:.6g}", str(t["zero_point"])) for t in report["tensors"]
    ]


IMAGE = {
    "flash": {
        "total": 2100,
        "parts": {
            "runtime": {
                "code": 90,
                "constants": 10,
                "initial": 0,
                "total": 100,
                "objects": {"view.o": 60, "crc.o": 40},
            },
            "kernels": {"code": 1500, "constants": 300, "initial": 200, "total": 2000, "objects": {"conv2d.o": 2000}},
        },
    },
    "ram": {"total": 12, "sections": {}, "parts": {}},
}
SIZES = image_sizes(IMAGE, "x")


def test_an_image_is_shown_by_part_and_object():
    report = report_of(networks.autoencoder())
    rows = Page(render(report, firmware=("app<", SIZES))).table("part of the image")
    assert [row[:5] for row in rows] == [
        ["kernels", "1,500", "300", "200", "2,000"],
        ["runtime", "90", "10", "0", "100"],
        ["image", "", "", "", "2,100"],
    ]
    leaves = [row for row in image.flash_map(SIZES)["data"][0]["values"] if "size" in row]
    assert {(row["part"], row["name"], row["size"]) for row in leaves} == {
        ("kernels", "conv2d", 2000),
        ("runtime", "view", 60),
        ("runtime", "crc", 40),
    }


def test_the_licences_of_an_image_are_shown():
    report = report_of(networks.autoencoder())
    used = {"name": "a<b", "license": "Apache-2.0", "version": "12", "source": "NOASSERTION", "flash": 1999}
    components = [used, {**used, "name": "headers of it", "flash": 0}]
    page = Page(render(report, firmware=("app", image_sizes({**IMAGE, "components": components}, "x"))))
    assert page.table("component") == [
        ["a<b", "Apache-2.0", "12", "1,999"],
        ["headers of it", "Apache-2.0", "12", "headers"],
    ]


def test_limits():
    report = report_of(networks.autoencoder())
    html = render(report, limits={"arena": report["arena"]["nbytes"] * 2, "flash": report["flash_bytes"] - 1})
    assert "50.0% of the limit of" in html and "budget exceeded" in html
    assert html.count("of the limit of") == 2 and "of the limit of" not in render(report)


LAYER = {"module": "a (Conv2d)", "source": "m.py:3", "function": "aten.conv2d.default", "name": "conv2d", "cosine": 1.0}
LAYER |= {"sqnr": 30.25, "device_sqnr": None, "saturation": 0.015, "levels": 0.5, "alone_sqnr": None, "cost": 0.25}
LAYER |= {"weights_cost": 0.1, "proposals": ["try a<b"]}
FLOAT = {"name": "float", "how": "PyTorch", "sqnr": None, "cosine": 1.0, "top1": None}
ACCURACY = {"schema": 2, "model": "net", "target": "cortex-m55", "samples": 40, "layer_samples": 8, "layers": [LAYER]}
ACCURACY |= {"arithmetics": [FLOAT, {**FLOAT, "name": "quantized", "sqnr": 31.25, "cosine": 0.9}]}


def test_accuracy():
    report = report_of(networks.autoencoder())
    html = render(report, accuracy=ACCURACY)
    ((layer, function, *figures),) = Page(html).table("layer")
    assert (layer, function) == ("a (Conv2d)\nm.py:3", "aten.conv2d.default")
    assert figures == ["30.2 dB", "–", "1.50%", "50%", "25.0%", "try a<b"]
    assert "31.2 dB" in html and "cosine 0.90000" in html


def test_the_page_of_an_earlier_report_has_no_graph():
    report = report_of(networks.autoencoder())
    del report["tensors"]
    assert "graph" not in Page(render(report)).documents["charts"]


def test_a_report_is_no_image(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"name": "net", "calls": []}))
    with pytest.raises(UserError, match="has no sizes of a firmware"):
        read_image(path)


def test_the_page_says_what_lives_at_the_peak():
    report = report_of(networks.resnet8())
    page = Page(render(report))
    call = report["arena"]["peak_call"]
    alive = [b for b in report["arena"]["buffers"] if b["first"] <= call <= b["last"]]
    assert [(row[0], row[2], row[3]) for row in page.table("buffer")] == [
        (b["name"], f"{b['nbytes']:,}", f"{b['offset']:,}") for b in alive
    ]


def test_differences_to_another_report():
    before = report_of(networks.ds_cnn(), "cortex-m4")
    after = report_of(networks.ds_cnn(), "cortex-m55")
    assert before["flash_bytes"] != after["flash_bytes"] and before["macs"] == after["macs"]
    rows = {row[0]: row[1:] for row in Page(render(after, None, before)).table("totals")}
    change = after["flash_bytes"] - before["flash_bytes"]
    assert rows["payload, bytes"][:2] == [f"{before['flash_bytes']:,}", f"{after['flash_bytes']:,}"]
    assert rows["payload, bytes"][2].startswith(f"{change:+,} (")
    assert "multiplications" not in rows  # equal
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
        (
            '{"arena": {}, "calls": []}',
            "has version 1 of the report in its field schema, and this program reads version 2",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "net.report.json"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read_report(path)


def test_a_missing_package_is_named(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    with pytest.raises(UserError, match="pip install vl-convert-python"):
        library.check_installed()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: d["calls"][0].pop("kernel"), r"x\.json: calls\[0\]\.kernel is missing; compile the model again"),
        (lambda d: d["calls"][0].update(macs="many"), r"calls\[0\]\.macs is 'many'; it must be a whole number"),
        (lambda d: d["arena"].update(nbytes=None), r"arena\.nbytes is None; it must be a whole number"),
        (lambda d: d.update(arena=[]), "arena is .*; it must be an object"),
        (lambda d: d["flash"].update(x=True), "flash.* is True; it must be a whole number"),
        (lambda d: d["calls"][0]["inputs"].append(3), r"calls\[0\].inputs\[1\] is 3; it must be a list"),
    ],
)
def test_names_the_file_and_field_of_a_damaged_report(damage, message, tmp_path):
    report = report_of(networks.autoencoder())
    damage(report)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(report))
    with pytest.raises(UserError, match=message):
        read_report(path)
