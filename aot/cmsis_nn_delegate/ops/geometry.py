"""Convolution geometry as given to arm_convolve_wrapper_s8 and arm_depthwise_conv_wrapper_s8.

The wrappers pick special kernels by a few of the parameters, and at the pinned commit some of
these kernels take for granted what the wrapper does not check: see `cmsis_nn_rules`. Padding folded
from asymmetric pads and strides that do not divide the width break this: the result is wrong,
memory past the input is read, or the call fails. `legalized` and `overlapping` turn such a
convolution into an equal one that takes the general path. They do so for every target alike, and
at no cost but that the general path runs. The kernel may grow: new taps are zeros, which change no
sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..edge.nodes import pair
from ..graph.ir import Node
from . import cmsis_nn_rules as rules
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
            kernel=pair(node.inputs[1].shape[2:]),
            output=(out_h, out_w),
            stride=attrs.stride,
            padding=(attrs.padding.top, attrs.padding.left),
            dilation=attrs.dilation,
        )

    def far_padding(self) -> Pair:
        """Rows and columns that the last windows reach beyond the bottom and right edge;
        negative if they end before it."""
        bottom, right = map(
            rules.far_padding,
            self.input,
            self.kernel,
            self.output,
            self.stride,
            self.padding,
            self.dilation,
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

        Where the first window ended before the image the kernel has grown at its far side; where the last one
        started past the image, the kernel and the padding have grown at the near side.
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

    def require_convolution(self, channels: int, per_group: int) -> None:
        """ValueError if arm_convolve_wrapper_s8 does not compute this with `channels` input channels, of
        which each filter has `per_group`, on some core."""
        arguments = (
            *self.input,
            channels,
            *self.kernel,
            per_group,
            *self.output,
            *self.stride,
            *self.padding,
            *self.dilation,
        )
        if not all(rules.convolution_fits(mve, *arguments) for mve in (False, True)):
            raise ValueError(f"CMSIS-NN has no kernel for {self}; a rewrite should have changed it")

    def require_depthwise(self, channels: int, multiplier: int) -> None:
        """As `require_convolution`, for arm_depthwise_conv_wrapper_s8 and `multiplier` outputs an input."""
        arguments = (
            self.batch,
            *self.input,
            channels,
            multiplier,
            *self.kernel,
            *self.output,
            *self.stride,
            *self.padding,
            *self.dilation,
        )
        if not all(rules.depthwise_fits(mve, *arguments) for mve in (False, True)):
            raise ValueError(f"CMSIS-NN has no kernel for {self}; a rewrite should have changed it")

    def _fits_one_row_kernel(self) -> bool:
        """Whether arm_convolve_1_x_n_s8 computes this one-row geometry (its own conditions aside)."""
        return rules.fits_one_row(
            self.input[1],
            self.kernel[1],
            self.output[0],
            self.stride[1],
            *self.padding,
            self.far_padding()[1],
        )
