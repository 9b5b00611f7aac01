"""The matrix of docs/operators.md names the providers whose kernels compute a format."""

from __future__ import annotations

import pytest

from codegen import format_table


def _rows():
    lines = format_table.generate().splitlines()[2:]
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    return {(operator, number): providers for operator, number, *providers in cells}


@pytest.mark.parametrize(
    "operator, number, providers",
    [
        # Their tables have no elements that tell them from int8.
        ("conv2d", "int8 x int4", ["cmsis-nn", "tuned, cmsis-nn", "tuned, cmsis-nn"]),
        ("fully_connected", "int8 x int4", ["cmsis-nn", "tuned, cmsis-nn", "tuned, cmsis-nn"]),
        ("conv2d", "int16 x int4", ["portable", "tuned", "tuned"]),
        ("conv2d", "int8", ["tuned, cmsis-nn", "tuned, cmsis-nn", "tuned, cmsis-nn"]),
        # What it reads is called otherwise than input.
        ("nms", "int16", ["portable", "portable", "portable"]),
    ],
)
def test_tuned_kernels_are_of_the_format_that_they_take(operator, number, providers):
    assert _rows()[operator, number] == providers


def test_depthwise_convolutions_of_int16_have_a_row_although_conv2d_computes_them():
    scalar, dsp, _ = _rows()["depthwise_conv2d", "int16"]
    assert (scalar, dsp) == ("portable", "tuned")
