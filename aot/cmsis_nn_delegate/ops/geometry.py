"""Convolution geometry as given to arm_convolve_wrapper_s8 and arm_depthwise_conv_wrapper_s8.

The first picks special kernels by a few of its parameters, and at the pinned
commit some of these kernels take for granted what the wrapper does not check:

* 1x1 without top and left padding (any core): that there is none at the bottom and
  right either;
* 1xN on an image of one row (MVE): that there is no padding at the top, that the right
  padding equals the left one or is one more, that the stride reaches every column, and more
  (arm_convolve_1_x_n_s8.c).

Padding folded from asymmetric pads and strides that do not divide the width break this:
the result is wrong, memory behind the input is read, or the call fails. `legalized` turns
such a convolution into an equal one that takes the general path. It does so for every
target alike, and at no cost but that the general path runs. The kernel may grow: new taps are
zeros, which change no sum.

The depthwise kernels for DSP clear rows of a buffer as if every window had a row of the image
under it; `overlapping` sees to that, again with zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..graph.ir import Node
from . import storage
from .attrs import Pair


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
        """The geometry of a conv2d or depthwise_conv2d as the graph has it."""
        n, h, w, _ = storage.nhwc(node.inputs[0])
        _, out_h, out_w, _ = storage.nhwc(node.output)
        attrs = node.attrs
        return Geometry(
            batch=n,
            input=(h, w),
            kernel=tuple(node.inputs[1].shape[2:]),
            output=(out_h, out_w),
            stride=attrs.stride,
            padding=(attrs.padding.top, attrs.padding.left),
            dilation=attrs.dilation,
        )

    def far_padding(self) -> Pair:
        """Rows and columns that the last windows reach beyond the bottom and right edge;
        negative if they end before it."""
        bottom, right = (
            (out - 1) * stride + (kernel - 1) * dilation + 1 - near - size
            for out, stride, kernel, dilation, near, size in zip(
                self.output, self.stride, self.kernel, self.dilation, self.padding, self.input
            )
        )
        return bottom, right

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

    def legalized(self) -> Geometry:
        """An equal geometry for which the wrapper's choice of kernel is right."""
        if self.kernel == (1, 1):
            if max(*self.padding, *self.far_padding()) > 0:
                # Dilation means nothing to a 1x1 kernel, but rules out both special kernels.
                return replace(self, dilation=(2, 2))
            return self
        if self.input[0] == self.kernel[0] == 1 and not self._fits_one_row_kernel():
            if self.output[0] == 1:
                return self.swapped()
            # Rows of padding make rows of output. A second kernel row, all zeros, rules out 1xN.
            return replace(self, kernel=(2, self.kernel[1]))
        return self

    def overlapping(self) -> Geometry:
        """An equal geometry, no window of which lies in padding altogether.

        The kernel has grown behind where the first window ended in front of the image, and in
        front, as the padding has, where the last one started behind it.
        """
        kernel, padding = [], []
        for near, taps, dilation, out, stride, size in zip(
            self.padding, self.kernel, self.dilation, self.output, self.stride, self.input
        ):
            taps_behind = -(-near // dilation) + 1
            last = (out - 1) * stride - near  # start of the last window
            in_front = max((last - size) // dilation + 1, 0)
            kernel.append(max(taps, taps_behind) + in_front)
            padding.append(near + in_front * dilation)
        return replace(self, kernel=tuple(kernel), padding=tuple(padding))

    def _fits_one_row_kernel(self) -> bool:
        """Whether arm_convolve_1_x_n_s8 computes this one-row geometry (its own conditions aside)."""
        left, right = self.padding[1], self.far_padding()[1]
        return (
            self.output[0] == 1
            and self.padding[0] == 0  # else the only row of windows lies above the image
            and right in (left, left + 1)
            and (self.stride[1] == 1 or right <= 1)
            and self.input[1] >= self.kernel[1]
        )
