"""The geometry of a convolution: sizes and steps of image, kernel and output."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.ir import Node
from . import storage

Pair = tuple[int, int]  # (height, width)


@dataclass(frozen=True)
class Geometry:
    """All pairs are (height, width); `padding` is (top, left)."""

    batch: int
    input: Pair
    kernel: Pair
    output: Pair
    stride: Pair
    padding: Pair
    dilation: Pair

    @staticmethod
    def of(node: Node) -> Geometry:
        """The geometry of a conv2d or depthwise_conv2d as its kernel is called."""
        if node.attrs.called_as is not None:
            called: Geometry = node.attrs.called_as
            return called
        return Geometry.plain(node)

    @staticmethod
    def plain(node: Node) -> Geometry:
        """The geometry that follows from the shapes and attributes of a conv2d or depthwise_conv2d."""
        n, h, w, _ = storage.nhwc(node.inputs[0])
        _, out_h, out_w, _ = storage.nhwc(node.output)
        kernel_h, kernel_w = node.inputs[1].shape[2:]
        attrs = node.attrs
        return Geometry(
            batch=n,
            input=(h, w),
            kernel=(kernel_h, kernel_w),
            output=(out_h, out_w),
            stride=attrs.stride,
            padding=(attrs.padding.top, attrs.padding.left),
            dilation=attrs.dilation,
        )

    def taps_inside(self) -> Pair:
        """Returns how many taps of all windows along each axis lie in the image, not in its padding."""
        rows, columns = (
            _taps_inside(*axis)
            for axis in zip(self.input, self.kernel, self.output, self.stride, self.padding, self.dilation)
        )
        return rows, columns

    def swapped(self) -> Geometry:
        """With height and width exchanged: the same memory, if the image and the kernel have one
        row or one column."""

        def swap(pair: Pair) -> Pair:
            return pair[1], pair[0]

        return Geometry(
            self.batch,
            swap(self.input),
            swap(self.kernel),
            swap(self.output),
            swap(self.stride),
            swap(self.padding),
            swap(self.dilation),
        )


def _taps_inside(size: int, taps: int, count: int, stride: int, padding: int, dilation: int) -> int:
    """Returns how many taps of the `count` windows along an axis lie in the image."""
    return sum(
        0 <= position * stride - padding + tap * dilation < size for position in range(count) for tap in range(taps)
    )
