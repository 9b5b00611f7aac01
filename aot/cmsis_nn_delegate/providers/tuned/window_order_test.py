"""The distance is what the order of reads and writes asks for."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.providers.tuned import window_order


def needed(geometry: Geometry, inputs: int, outputs: int) -> int:
    """Returns the distance, from the addresses that each window reads."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    reads = []  # of each window, the lowest address; None if it lies in the padding
    for n, y, x in itertools.product(range(geometry.batch), range(rows), range(columns)):
        taps = [
            (
                y * geometry.stride[0] - geometry.padding[0] + ky * geometry.dilation[0],
                x * geometry.stride[1] - geometry.padding[1] + kx * geometry.dilation[1],
            )
            for ky in range(geometry.kernel[0])
            for kx in range(geometry.kernel[1])
        ]
        inside = [(ty, tx) for ty, tx in taps if 0 <= ty < height and 0 <= tx < width]
        reads.append(min(((n * height + ty) * width + tx) * inputs for ty, tx in inside) if inside else None)
    most = 0
    for window in range(len(reads)):
        left = [read for read in reads[window:] if read is not None]
        if left:
            most = max(most, window * outputs - min(left))
    return most


def sizes(low: int, high: int):
    return st.tuples(st.integers(low, high), st.integers(low, high))


@settings(deadline=None, max_examples=300)
@given(
    st.data(),
    st.integers(1, 3),
    sizes(1, 7),
    sizes(1, 3),
    sizes(1, 3),
    sizes(1, 2),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_no_window_reads_what_is_overwritten(data, batch, size, kernel, stride, dilation, inputs, outputs):
    padding = data.draw(sizes(0, 3))
    far = data.draw(sizes(0, 3))
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    output = [(i + p + f - e) // s + 1 for i, p, f, e, s in zip(size, padding, far, extent, stride)]
    if min(output) < 1:
        return
    geometry = Geometry(batch, size, kernel, (output[0], output[1]), stride, padding, dilation)
    assert window_order.distance(geometry, inputs, outputs) >= needed(geometry, inputs, outputs)


def test_it_is_no_more_than_needed_for_usual_layers():
    for stride, kernel, padding in itertools.product((1, 2), (1, 3, 5), (0, 1, 2)):
        if padding < kernel:
            output = (16 + 2 * padding - kernel) // stride + 1
            geometry = Geometry(1, (16, 16), (kernel, kernel), (output, output), (stride,) * 2, (padding,) * 2, (1, 1))
            for inputs, outputs in ((8, 8), (8, 16), (16, 8)):
                assert window_order.distance(geometry, inputs, outputs) == needed(geometry, inputs, outputs)
