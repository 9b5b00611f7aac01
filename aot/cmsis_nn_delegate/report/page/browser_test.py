"""The pages in a browser: they draw every buffer and point, sort and filter tables, and report no error."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.image_sizes import image_sizes
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.report.page.explore import render_exploration
from cmsis_nn_delegate.report.page.graph import graph
from cmsis_nn_delegate.report.page.parts import render_parts
from cmsis_nn_delegate.report.page.render import render
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import documents, networks

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium was not found: Debian's package is chromium")

# Sorts by multiplications, descending, and filters; then says what is on the page.
USE = """<script>
addEventListener("load", () => setTimeout(() => {
  const heading = [...document.querySelectorAll("#calls th")].find((h) => h.textContent === "multiplications");
  heading.querySelector("button").click();
  const rows = [...document.querySelectorAll("#calls tbody tr")];
  const order = rows.map((row) => Number(row.cells[heading.cellIndex].dataset.value));
  const filter = document.querySelector("input[data-filters=calls]");
  const more = document.querySelector("#calls").parentElement.hasAttribute("data-more");
  filter.value = "FULLY";
  filter.dispatchEvent(new Event("input"));
  const found = {
    order,
    more,
    shown: rows.filter((row) => !row.hidden).map((row) => row.cells[1].textContent),
    rectangles: document.querySelectorAll("#memory-arena .mark-rect path").length,
    lines: document.querySelectorAll("#graph .mark-line path").length,
    objects: document.querySelectorAll("#flash-map .mark-rect path").length,
    bars: [...document.querySelectorAll("#by-call .mark-rect path")].length,
    outputs: ["#outputs-0 .mark-line path", "#outputs-1 .mark-rect.role-mark path"].map(
      (marks) => document.querySelectorAll(marks).length
    ),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    loaded: performance.getEntriesByType("resource").map((entry) => entry.name),
  };
  document.body.innerHTML = "<pre>" + JSON.stringify(found) + "</pre>";
}, 500));
</script></body>"""

# Filters the first table of a page of parts and the calls of the second part; then says what is on the page.
USE_PARTS = """<script>
addEventListener("load", () => setTimeout(() => {
  const type = (table, text) => {
    const filter = document.querySelector(`input[data-filters="${table}"]`);
    filter.value = text;
    filter.dispatchEvent(new Event("input"));
    return document.querySelectorAll(`#${table} tbody tr:not([hidden])`).length;
  };
  const found = {
    refused: [type("refused", "no such"), type("refused", "UNSUPPORTED")],
    second: type("part2-calls", "FULLY"),
    first: document.querySelectorAll("#part1-calls tbody tr:not([hidden])").length,
    rectangles: [1, 2].map((part) => document.querySelectorAll(`#part${part}-memory-arena .mark-rect path`).length),
    bars: [1, 2].map((part) => document.querySelectorAll(`#part${part}-by-call .mark-rect path`).length),
    graphs: [1, 2].map((part) => document.querySelectorAll(`#part${part}-graph .mark-line path`).length > 0),
    wide: [1, 2].map((part) => document.querySelector(`#part${part}-calls`)).map(
      (table) => table.offsetWidth >= Math.max(1000, table.parentElement.clientWidth)
    ),
    headings: [...document.querySelectorAll("h1")].map((heading) => heading.textContent),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    loaded: performance.getEntriesByType("resource").map((entry) => entry.name),
  };
  document.body.innerHTML = "<pre>" + JSON.stringify(found) + "</pre>";
}, 500));
</script></body>"""

# Picks points of a page of `explore` by keys, in the table and where two lie on each other; then says what is shown.
USE_EXPLORED = """<script>
addEventListener("load", () => setTimeout(async () => {
  const text = (id) => document.getElementById(id).textContent;
  const circles = () => [...document.querySelectorAll("#front circle")];
  const picked = () => circles().filter((c) => c.classList.contains("picked")).map((c) => c.dataset.point);
  let copied = "";
  Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { copied = text; } } });
  const boxes = [...document.querySelectorAll("#front text")].map((label) => label.getBoundingClientRect());
  const frame = document.getElementById("front").getBoundingClientRect();
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
  const found = {
    circles: circles().length,
    empty: circles().filter((c) => c.classList.contains("no")).length,
    numbers: [...document.querySelectorAll("#front .number")].map((label) => label.textContent),
    overlapping: boxes.filter((a, i) => boxes.some((b, j) => i < j && !apart(a, b))).length,
    outside: boxes.filter((a) => a.left < frame.left || a.right > frame.right || a.bottom > frame.bottom).length,
    best: document.querySelector("#front .best").getAttribute("points").split(" ").length,
  };
  circles()[3].dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  found.byKey = [picked(), text("picked"), text("command")];
  document.getElementById("copy").click();
  await null;
  found.copied = copied;
  document.getElementById("up").value = "flash";
  document.getElementById("up").dispatchEvent(new Event("change"));
  found.afterwards = picked();
  document.querySelectorAll("#points tbody button")[1].click();
  found.byRow = [picked(), text("command"), document.querySelectorAll("#points tr.picked").length];
  document.getElementById("up").value = "sqnr";
  document.getElementById("up").dispatchEvent(new Event("change"));
  found.onEachOther = [0, 1].map(() => {
    circles()[0].dispatchEvent(new MouseEvent("click"));
    return picked();
  });
  document.getElementById("fitting").click();
  found.fitting = [circles().map((c) => c.classList.value), picked()];
  found.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  document.body.innerHTML = "<pre>" + JSON.stringify(found) + "</pre>";
}, 500));
</script></body>"""


def report_of(graph):
    return json.loads(build_report("net", encode(graph, get_target("cortex-m55"))).to_json())


@pytest.fixture(scope="module")
def report():
    return report_of(networks.ds_cnn())


def use(page, folder, *options, script=USE):
    """Opens the page, and returns what `script` found and what the browser wrote to its console."""
    path = folder / "net.report.html"
    path.write_text(script.join(page.rsplit("</body>", 1)))  # the library has that text too
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-component-update"]
    command += ["--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=5000", *options, "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    return json.loads(re.search("<pre>(.*)</pre>", done.stdout)[1]), re.findall(".*CONSOLE.*", done.stderr)


def part(**objects):
    sizes = {"code": sum(objects.values()), "constants": 0, "initial": 0, "total": sum(objects.values())}
    return {**sizes, "objects": {f"{name}.o": size for name, size in objects.items()}}


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_works(report, tmp_path, width):
    image = {
        "flash": {"total": 30, "parts": {"kernels": part(a=16, b=8), "runtime": part(c=6)}},
        "ram": {"total": 4, "sections": {}, "parts": {}},
    }
    over_time = [np.arange(60.0).reshape(20, 3), np.arange(100.0).reshape(20, 5)]
    page = render(report, firmware=("image", image_sizes(image, "x")), outputs=over_time)
    found, console = use(page, tmp_path, f"--window-size={width},900")
    calls = report["calls"]
    assert console == [] and found["loaded"] == []
    assert found["order"] == sorted((call["macs"] for call in calls), reverse=True)
    assert found["shown"] == [call["kernel"] for call in calls if "fully" in call["kernel"]] != []
    assert found["more"] == (width < 1000)  # the table says that it scrolls
    # The column of the peak is a rectangle too.
    assert found["rectangles"] == len(report["arena"]["buffers"]) + 1
    assert found["bars"] == len(calls)
    assert found["overflow"] == 0
    assert found["lines"] == len({point["edge"] for point in graph(report)["layer"][0]["data"]["values"]})
    assert found["objects"] == 3
    assert found["outputs"] == [3, 100]  # a line for each of few elements, and of more a map


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_of_several_parts_works(report, tmp_path, width):
    parts = [report_of(networks.resnet8()), report]
    page = render_parts(documents.parts(*parts))
    found, console = use(page, tmp_path, f"--window-size={width},900", script=USE_PARTS)
    assert console == [] and found["loaded"] == []
    assert found["headings"] == ["net", "Part 1 of 2", "Part 2 of 2"]
    assert found["refused"] == [0, 1]
    # The filter of a part leaves the calls of the other as they are.
    assert found["second"] == len([call for call in report["calls"] if "fully" in call["kernel"]]) > 0
    assert found["first"] == len(parts[0]["calls"])
    assert found["rectangles"] == [len(part["arena"]["buffers"]) + 1 for part in parts]
    assert found["bars"] == [len(part["calls"]) for part in parts] and found["graphs"] == [True, True]
    assert found["wide"] == [True, True] and found["overflow"] == 0


def explored_point(number, instructions, flash, sqnr, obstacles=()):
    figures = {"instructions": instructions, "flash": flash, "ram": 3000, "sqnr": sqnr, "top1": None, "cycles": None}
    fits = {"fits": not obstacles, "obstacles": list(obstacles)}
    return {"formats": "int8 throughout", "arguments": "", "command": f"compile {number}", **figures, **fits}


@pytest.mark.parametrize("width", [400, 1280])
def test_points_of_an_exploration_can_be_picked(tmp_path, width):
    points = [
        explored_point(1, 2_965_598, 10_032, 43.9),
        explored_point(2, 2_965_700, 9_000, 43.9),  # at the same place
        explored_point(3, 4_100_000, 9_600, 44.3),
        explored_point(4, 100_603_187, 54_080, 147.5, ["flash: 54,080 bytes, 4,080 more than pocket has"]),
    ]
    board = {"name": "pocket", "flash": 50_000, "ram": 8000}
    document = {"schema": 1, "model": "net", "target": "cortex-m4", "board": board, "labels": 0, "compiled": 9}
    page = render_exploration({**document, "points": points})
    found, console = use(page, tmp_path, f"--window-size={width},900", script=USE_EXPLORED)
    assert console == [] and found["overflow"] == 0
    assert (found["circles"], found["empty"], found["best"]) == (4, 1, 2)
    assert sorted(found["numbers"]) == ["1, 2", "3", "4"]
    assert found["overlapping"] == found["outside"] == 0
    place, described, command = found["byKey"]
    assert place == ["3"] and command == found["copied"] == "compile 4"
    assert "It does not fit: flash: 54,080 bytes, 4,080 more" in described
    assert found["afterwards"] == ["3"] and found["byRow"] == [["1"], "compile 2", 1]
    assert found["onEachOther"] == [["0"], ["1"]]
    assert found["fitting"] == [["yes", "yes picked", "yes"], ["1"]]


def test_an_error_would_be_seen(report, tmp_path):
    """So that the test above can fail: what the browser refuses or cannot run is in its log."""
    broken = render(report).replace("</head>", '<link rel="stylesheet" href="http://127.0.0.1:9/x.css"></head>')
    _, console = use(broken, tmp_path)
    assert any("Content Security Policy" in line for line in console)
