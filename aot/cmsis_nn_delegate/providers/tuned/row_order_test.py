"""The distance is what the order of reads and writes asks for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.providers.tuned import row_order

TAPS = 3


def needed(geometry: Geometry) -> int:
    """Returns the distance in pixels, from the rows that the kernel copies before it writes each row."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    most = written = 0
    for image in range(geometry.batch):
        copied = 0
        for y in range(rows):
            top = y * geometry.stride[0] - geometry.padding[0]
            new = [row for row in range(max(copied, top), top + TAPS) if 0 <= row < height]
            if new:
                most = max(most, written - (image * height + new[0]) * width)
                copied = new[-1] + 1
            written += columns
    return most


def sizes(low: int, high: int):
    return st.tuples(st.integers(low, high), st.integers(low, high))


@settings(deadline=None, max_examples=500)
@given(st.integers(1, 3), sizes(1, 9), sizes(1, 2), sizes(0, 6), sizes(0, 6))
def test_rows_are_copied_before_they_are_overwritten(batch, size, stride, padding, far):
    output = [(i + p + f - TAPS) // s + 1 for i, p, f, s in zip(size, padding, far, stride)]
    if min(output) < 1:
        return
    geometry = Geometry(batch, size, (TAPS, TAPS), (output[0], output[1]), stride, padding, (1, 1))
    least = needed(geometry)
    assert row_order.distance(geometry, 1) >= least
    assert row_order.distance(geometry, 8) == 8 * row_order.distance(geometry, 1)
    if batch == 1:
        assert row_order.distance(geometry, 1) == least
