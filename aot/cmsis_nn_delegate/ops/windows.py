"""Sliding windows over NHWC images, shared by the references of convolutions and pools."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .attrs import Padding
from .geometry import Pair


def taps(
    image: np.ndarray,
    kernel: Pair,
    stride: Pair,
    dilation: Pair,
    padding: Padding,
    output: Pair,
    fill: int,
) -> Iterator[np.ndarray]:
    """For each kernel tap, row by row: the [n, output h, output w, c] pixels under it.

    `padding` gives the top and left; `output` says how far the windows go to the bottom
    and right. `fill` stands for pixels outside of the image.
    """
    extents = [(o - 1) * s + (k - 1) * d + 1 for o, s, k, d in zip(output, stride, kernel, dilation)]
    n, h, w, c = image.shape
    padded = np.full((n, *extents, c), fill, image.dtype)
    rows, columns = min(h, extents[0] - padding.top), min(w, extents[1] - padding.left)
    if rows > 0 and columns > 0:
        target = padded[:, padding.top : padding.top + rows, padding.left : padding.left + columns]
        target[...] = image[:, :rows, :columns]
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilation[0], j * dilation[1]
            yield padded[
                :,
                top : top + (output[0] - 1) * stride[0] + 1 : stride[0],
                left : left + (output[1] - 1) * stride[1] + 1 : stride[1],
            ]
