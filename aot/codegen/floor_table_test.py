"""What docs/floors.md says of operators above their limit."""

from __future__ import annotations

import pytest

from cmsis_nn_delegate.ops.registry import OPS
from codegen import floor_table
from codegen.floor_table import CORES, LIMIT, Work


@pytest.fixture(scope="module")
def rows():
    return floor_table.rows()


def test_what_takes_more_than_the_limit_has_a_reason(rows):
    unexplained = [row for row in rows if row.times > LIMIT and not row.case.reasons[row.core.name]]
    assert not unexplained


def test_no_kernel_takes_less_than_its_floor(rows):
    assert all(row.times >= 1 for row in rows), [row for row in rows if row.times < 1]


def test_networks_take_more_than_their_floors():
    found = floor_table.network_rows()
    assert all(row.total > row.floor > 0 for row in found)
    # Of all calls, those of convolutions included, which are most of these networks.
    assert all(row.share("conv2d", "depthwise_conv2d", "fully_connected") > 0.9 for row in found)


def test_a_floor_counts_what_one_instruction_does():
    m4, m55 = CORES
    work = Work(64, 32, steps=16, products=32, compared=16, gathered=48)
    assert work.instructions(m4) == 24 + 16 + 16 + 4 + 48
    assert work.instructions(m55) == 6 + 4 + 2 + 1 + 3


def test_operators_are_those_that_there_are():
    assert {case.operator for case in floor_table.CASES} <= set(OPS)
