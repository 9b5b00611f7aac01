"""Where the output of a convolution that computes window after window may overlap its input."""

from __future__ import annotations

import numpy as np

from ...ops.geometry import Geometry


def distance(geometry: Geometry, inputs: int, outputs: int) -> int:
    """Returns how many bytes before the input the output has to start, 0 or more.

    `inputs` and `outputs` are the channels. The kernel reads all inputs of a window before it writes its outputs, and
    takes the windows row by row. So before window w is read, w * `outputs` bytes are written, and the lowest byte that
    is still to be read belongs to this window or, if that begins further to the left in the same rows of the image
    (because both rows of windows begin in the padding), to the first one of the next row. Along rows and columns, the
    difference is the larger of two linear functions between the points where windows leave the padding, so it is
    largest at one of these or at an end.
    """
    (height, width), (rows, columns) = geometry.input, geometry.output
    (stride_h, stride_w), (top, left) = geometry.stride, geometry.padding
    inner, inside = top // stride_h, -(-top // stride_h)
    lines = {min(max(y, 0), rows - 1) for y in (0, inner - 1, inner, inside - 1, inside, rows - 2, rows - 1)}
    edges = {min(x, columns - 1) for x in (0, left // stride_w, -(-left // stride_w), columns - 1)}
    most = 0
    for y in lines:
        row = min(max(y * stride_h - top, 0), height) * width
        next_row = min(max((y + 1) * stride_h - top, 0), height) * width
        for x in edges:
            first = row + min(max(x * stride_w - left, 0), width)
            if y + 1 < rows:
                first = min(first, next_row)
            most = max(most, (y * columns + x) * outputs - first * inputs)
    growth = rows * columns * outputs - height * width * inputs  # from one image of the batch to the next
    return most + max(growth, 0) * (geometry.batch - 1)


def inside(geometry: Geometry) -> np.ndarray:
    """Returns which windows of an image lie inside of it; bool [output rows * columns]."""
    rows, columns = (taps.all(1) for taps in taps_inside(geometry))
    return np.outer(rows, columns).reshape(-1)


def taps_inside(geometry: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Returns which taps of the windows along each axis lie in the image; bool [output rows, taps], [columns, taps]."""
    rows, columns = (
        _inside(*axis)
        for axis in zip(
            geometry.input, geometry.kernel, geometry.output, geometry.stride, geometry.padding, geometry.dilation
        )
    )
    return rows, columns


def _inside(size: int, taps: int, count: int, stride: int, padding: int, dilation: int) -> np.ndarray:
    """Returns which taps of the `count` windows of an axis lie in the image; bool [windows, taps]."""
    places = (np.arange(count) * stride - padding)[:, None] + np.arange(taps) * dilation
    inside: np.ndarray = (places >= 0) & (places < size)
    return inside
