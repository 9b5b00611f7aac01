"""What is on the front, what fits a board, and the page of it."""

import json
import re

import pytest

from cmsis_nn_delegate.report.page.explore import render_exploration
from cmsis_nn_delegate.search import exploration
from cmsis_nn_delegate.search.exploration import Exploration, Point, obstacles
from cmsis_nn_delegate.search.limits import Figures
from cmsis_nn_delegate.search.result import Price
from cmsis_nn_delegate.targets.board import Board, BoardMemory

BOARD = Board("pocket", "cortex-m4", {"FLASH": BoardMemory(1000, None), "RAM": BoardMemory(500, None)})


def point(instructions, flash, ram, sqnr, arguments="", right=0):
    price = Price(instructions, flash, arena=ram, ram=ram, priced=instructions)
    return Point("<int8>", "preset: default\n", arguments, Figures(sqnr, 10, right), price, obstacles(price, BOARD))


@pytest.fixture
def explored():
    points = (
        point(100, 900, 600, 30.0, right=9),
        point(120, 900, 600, 30.04, "--worse", right=9),  # by no more than a difference that does not count
        point(100, 900, 600, 30.0, "--equal", right=9),
        point(200, 1200, 400, 30.0, "--prefer ram", right=9),
        point(300, 800, 400, 29.0, "--prefer flash", right=8),
        point(400, 2000, 900, 45.0, right=10),
    )
    return Exploration("net", "cortex-m4", BOARD, Figures(None, 10, 10), points)


def test_the_front_has_what_no_other_point_beats(explored):
    assert [p.price.instructions for p in explored.front] == [100, 200, 300, 400]
    assert "--equal" not in [p.arguments for p in explored.front]


def test_what_does_not_fit_says_by_how_much(explored):
    document = explored.document([f"command {number}" for number in range(4)])
    found = [(p["fits"], p["obstacles"]) for p in document["points"]]
    assert found == [
        (False, ["RAM: 600 bytes, 100 more than pocket has"]),
        (False, ["flash: 1,200 bytes, 200 more than pocket has"]),
        (True, []),
        (False, ["flash: 2,000 bytes, 1,000 more than pocket has", "RAM: 900 bytes, 400 more than pocket has"]),
    ]
    text = exploration.render(document)
    assert "4 of 6 compilations that no other one beats" in text
    assert re.search(r"3 +<int8> +--prefer flash +300 +800 +400 +29.0 dB +80.00 % +fits\n", text)


def test_cycles_are_shown_where_they_are_modelled(explored):
    without, found = (explored.document(["c"] * 4, c) for c in ([], [(1234, 5678), None, (1, 2), (3, 4)]))
    assert [p["cycles"] for p in found["points"]] == [[1234, 5678], None, [1, 2], [3, 4]]
    text = exploration.render(found)
    assert re.search(r"instructions +cycles +flash", text) and " 1,234 to 5,678 " in text
    assert re.search(r"--prefer ram +200 +- +1,200", text)
    assert "cycles" not in exploration.render(without)
    assert "<td class=number>1,234 to 5,678</td>" in render_exploration(found)
    assert "cycles modelled" not in render_exploration(without)


def test_the_page_has_all_points_and_loads_nothing(explored):
    document = explored.document(["a </script> b"] * 4)
    page = render_exploration(document)
    assert page.count("<tr><td") == 4 and "&lt;int8&gt;" in page and "<int8>" not in page
    inside = re.search(r'<script type="application/json" id="explored">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(inside) == document == json.loads(exploration.to_json(document))
    assert "default-src 'none'" in page and not re.search(r"""(src|href)\s*=|url\(|@import""", page)
    used = set(re.findall(r'getElementById\("([\w-]+)"\)', page)) | {"across", "up"}
    assert used <= set(re.findall(r'id="([\w-]+)"', page))


def test_without_a_board_and_labels_their_columns_are_missing():
    price = Price(None, 900, 600, 600, priced=5)
    found = Exploration(
        "net", "cortex-m4", None, Figures(None, 0, 0), (Point("int8", "", "", Figures(None, 0, 0), price, ()),)
    )
    document = found.document(["command"])
    assert document["points"][0]["fits"] is None and document["points"][0]["instructions"] is None
    assert "top-1" not in exploration.render(document) and "fits" not in exploration.render(document)
    assert not re.search(r'top-1</th>|- dB|id="fitting"', render_exploration(document))
