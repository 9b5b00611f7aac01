"""The distance is what the order of reads and writes asks for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.providers.tuned import row_order


def needed(geometry: Geometry) -> int:
    """Returns the distance in pixels, from the rows that the kernel copies before it writes each row."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    taps = row_order.rows_under(geometry)
    most = written = 0
    for image in range(geometry.batch):
        copied = 0
        for y in range(rows):
            top = y * geometry.stride[0] - geometry.padding[0]
            new = [row for row in range(max(copied, top), top + taps) if 0 <= row < height]
            if new:
                most = max(most, written - (image * height + new[0]) * width)
                copied = new[-1] + 1
            written += columns
    return most


def sizes(low: int, high: int):
    return st.tuples(st.integers(low, high), st.integers(low, high))


@settings(deadline=None, max_examples=500)
@given(st.integers(1, 3), sizes(1, 9), sizes(1, 4), sizes(1, 3), sizes(1, 3), sizes(0, 6), sizes(0, 6))
def test_rows_are_copied_before_they_are_overwritten(batch, size, kernel, stride, dilation, padding, far):
    under = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    output = [(i + p + f - u) // s + 1 for i, p, f, u, s in zip(size, padding, far, under, stride)]
    if min(output) < 1:
        return
    geometry = Geometry(batch, size, kernel, (output[0], output[1]), stride, padding, dilation)
    least = needed(geometry)
    assert row_order.rows_under(geometry) == under[0]
    assert row_order.distance(geometry, 1) >= least
    assert row_order.distance(geometry, 8) == 8 * row_order.distance(geometry, 1)
    if batch == 1 and stride[0] <= under[0]:  # else rows lie between windows, which it takes for read
        assert row_order.distance(geometry, 1) == least
