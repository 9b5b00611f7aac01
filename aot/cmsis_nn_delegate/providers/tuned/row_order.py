"""Where the output of a depthwise convolution that computes row after row may overlap its input."""

from __future__ import annotations

from ...ops.geometry import Geometry


def rows_under(geometry: Geometry) -> int:
    """Returns how many rows of the image lie between the first and the last tap of a window, with these."""
    return (geometry.kernel[0] - 1) * geometry.dilation[0] + 1


def distance(geometry: Geometry, channels: int) -> int:
    """Returns how many elements before the input the output has to start, 0 or more.

    The kernel copies the rows of the image that a row of outputs reads before it writes these outputs. So when row y
    has been written, (y + 1) * out_width pixels are, and the next pixel to be read is the first one of the row behind
    the last tap of row y. The difference is the larger of two linear functions of y, so it is largest where windows
    leave the padding or at the last row of outputs before one that still reads."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    stride, top, taps = geometry.stride[0], geometry.padding[0], rows_under(geometry)
    inside = (top - taps) // stride  # the last row of outputs whose windows end above the image
    last = min(rows - 2, (height - 1 + top - taps) // stride)
    most = 0
    for y in (min(inside, last), min(max(inside + 1, 0), last)):
        if y >= 0:
            most = max(most, (y + 1) * columns - max(y * stride + taps - top, 0) * width)
    # With wide rows of outputs the difference grows to the end.
    if last >= 0:
        most = max(most, (last + 1) * columns - max(last * stride + taps - top, 0) * width)
    growth = rows * columns - height * width  # from one image of the batch to the next
    return (most + max(growth, 0) * (geometry.batch - 1)) * channels
