"""docs/goals.md is of the committed results, says why goals are missed, and has floors below what calls take."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchmarks import anchors, comparison, goals, loops, markdown
from benchmarks.goals import Row
from benchmarks.loops import Layer, Shape
from benchmarks.results import read_results

DOCS = Path("docs")
ANCHORS = anchors.load()


@pytest.fixture(scope="module")
def committed():
    return read_results((DOCS / "benchmarks.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rows(committed):
    return goals.rows(committed)


def test_the_document_is_that_of_the_committed_results(committed):
    assert (DOCS / "goals.md").read_text(encoding="utf-8") == goals.render(committed, ANCHORS), (
        f"{markdown.COMMAND}, or --render"
    )


def test_what_is_not_met_has_a_reason(rows):
    unexplained = [row for row in rows if not row.met and not any(reason.is_of(row) for reason in goals.REASONS)]
    assert not unexplained, "add to REASONS of benchmarks/goals.py why, and what was tried"


def test_reasons_are_of_goals(rows):
    """A name that is written wrongly would leave its reason out of the document."""
    known = {(row.what, row.core, row.network) for row in rows}
    named = {(r.what, core, network) for r in goals.REASONS for core in r.cores for network in r.networks}
    assert named <= known


def test_no_call_takes_less_than_its_loops(committed):
    """The count of a loop is wrong, or a faster one has come: change benchmarks/loops.py."""
    for m in committed.measurements:
        if m.providers == "tuned" and m.network in (*goals.MLPERF, *goals.OTHERS):
            below = [c for c, floor in zip(m.calls, loops.floors(m), strict=True) if c.instructions < floor]
            assert not below, (m.network, m.core)


def test_shapes_are_those_of_the_measured_calls(committed):
    m = next(m for m in committed.measurements if (m.network, m.core) == ("mobilenet_v1_025", "cortex-m4"))
    found = loops.layers(m.network, m.calls)
    # 60 of the 128 channels are left of a trained layer, and the next one reads them.
    assert (found[10].outputs, found[12].inputs, found[12].window) == (60, 60, 60)
    with pytest.raises(ValueError, match="has 29 calls"):
        loops.layers(m.network, m.calls[1:])
    other = (dataclasses.replace(m.calls[0], multiplications=m.calls[0].multiplications + 1), *m.calls[1:])
    with pytest.raises(ValueError, match="change benchmarks/loops.py"):
        loops.layers(m.network, other)


@pytest.mark.parametrize(
    ("core", "kernel", "instructions"),
    [
        # 8 pixels of 16 channels of 16 inputs: 2,048 products, 128 results.
        ("cortex-m4", "conv2d_joint_pairs", 2048 * 51 / 64 + 128 * 57 / 8 + 8 * 16 * 28 / 32),
        ("cortex-m4", "conv2d_winograd", 2048 * 4 / 9 * 47 / 64 + 128 * 57 / 8),
        ("cortex-m55", "conv2d_vectors", 16 * (14 + 22)),
        ("cortex-m3", "conv2d_pairs", 2048 * 114 / 64 + 128 * 57 / 8),
        ("cortex-m0plus", "conv2d_pairs", 2048 * 196 / 64),
    ],
)
def test_a_floor_is_what_loops_take(core, kernel, instructions):
    layer = Layer(Shape("convolution", 2, 4), inputs=16, outputs=16, read=128)
    assert loops.LOOPS[core].layer(layer, kernel) == pytest.approx(instructions)


def test_a_range_is_met_missed_or_open():
    def row(least: float, most: float, floor: float = 1) -> Row:
        return Row("cycles", "cortex-m7", "ds_cnn", 100, (least, most), floor)

    assert [row(*today).result() for today in ((90, 100), (110, 120), (101, 101), (90, 105))] == [
        "met",
        "missed by 10.0 to 20.0 %",
        "missed by 1.0 %",
        "open: 10.0 % below to 5.0 % above",
    ]
    assert row(110, 120, 105).result() == "missed by 10.0 to 20.0 % (the floor is above the goal)"
    assert dataclasses.replace(row(1, 2), today=None).result() == "not known"


def test_figures_of_other_documents_are_read():
    scalar = goals.scalar_instructions(
        "| network | M0+, CMSIS-NN | M0+, tuned | M3, CMSIS-NN | M3, tuned |\n|---|---|---|---|---|\n"
        "| ds_cnn | 4.0 | 3.5 | 2.0 | 1.25 |\n\nText\n"
    )
    assert scalar == {"cortex-m0plus": {"ds_cnn": 3_500_000}, "cortex-m3": {"ds_cnn": 1_250_000}}
    with pytest.raises(AssertionError, match="no table"):
        goals.scalar_instructions("")
    with pytest.raises(AssertionError, match="does not say"):
        goals.size_of_small("")


def test_cycles_in_flash_are_compared_with_what_is_published(committed):
    """At the upper end of a range, and at both where the published cycles are fewer than that."""
    text = comparison.in_flash(committed, ANCHORS)
    assert text in (DOCS / "comparison.md").read_text(encoding="utf-8")
    many, few = (
        dataclasses.replace(
            ANCHORS, published=tuple(dataclasses.replace(e, megacycles=cycles) for e in ANCHORS.published)
        )
        for cycles in (1e3, 1e-3)
    )
    assert comparison.in_flash(committed, many) == ""
    assert "autoencoder (all of its range" in comparison.in_flash(committed, few)
