"""What convolutions and pools in float32 have in common: windows of images that lie in memory as [n, c, h, w]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import Field
from . import block_values
from .geometry import Pair

DIMS = (
    Field("input_dims", blocks.DIMS),
    Field("filter_dims", blocks.DIMS),
    Field("output_dims", blocks.DIMS),
)


@dataclass(frozen=True)
class Windows:
    """Sizes of the images and windows. Pairs are (height, width); `padding` is (top, left)."""

    batch: int
    channels: int
    image: Pair
    kernel: Pair
    output: Pair
    stride: Pair
    padding: Pair
    dilation: Pair = (1, 1)

    def taps(self, images: np.ndarray) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
        """Yields, for each tap of the kernel in order, its row and column, the elements that all windows have there,
        [batch, channels, rows, columns] of the output, and which of them lie inside of the image, [rows, columns]."""
        images = images.reshape(self.batch, self.channels, *self.image)
        for ky in range(self.kernel[0]):
            for kx in range(self.kernel[1]):
                at = [
                    np.arange(size) * stride - padding + tap * dilation
                    for size, stride, padding, tap, dilation in zip(
                        self.output, self.stride, self.padding, (ky, kx), self.dilation
                    )
                ]
                inside = [(0 <= index) & (index < size) for index, size in zip(at, self.image)]
                rows, columns = (np.where(good, index, 0) for good, index in zip(inside, at))
                yield ky, kx, images[:, :, rows[:, None], columns], inside[0][:, None] & inside[1]

    def taps_inside(self) -> int:
        """Returns how many taps of all windows of a channel lie in the image."""
        counts = []
        for size, taps, count, stride, padding, dilation in zip(
            self.image, self.kernel, self.output, self.stride, self.padding, self.dilation
        ):
            at = np.arange(count)[:, None] * stride - padding + np.arange(taps) * dilation
            counts.append(int(((0 <= at) & (at < size)).sum()))
        return counts[0] * counts[1]

    def tiles(self, dilation: bool) -> Mapping[str, Any]:
        """Returns the fields of `params`."""
        found = {"stride": block_values.tile(*self.stride), "padding": block_values.tile(*self.padding)}
        return {**found, "dilation": block_values.tile(*self.dilation)} if dilation else found
