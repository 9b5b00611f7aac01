"""Convolutions as arm_convolve_wrapper_s8 and arm_depthwise_conv_wrapper_s8 have to be called.

The wrappers pick special kernels by a few of the parameters, and at the pinned commit some of
these kernels take for granted what the wrapper does not check: see `cmsis_nn_rules`. Padding folded
from asymmetric pads and strides that do not divide the width break this: the result is wrong,
memory past the end of the input is read, or the call fails. `convolution` and `depthwise` turn such a geometry into
an equal one that takes the general path. They do so for every target alike, and at no cost but that the general path
runs. The kernel may grow: new taps are zeros, which change no sum.
"""

from __future__ import annotations

from dataclasses import replace

from ..geometry import Geometry, Pair
from . import cmsis_nn_rules as rules


def convolution(geometry: Geometry) -> Geometry:
    """An equal geometry for which arm_convolve_wrapper_s8's choice of kernel is right. The kernel may have rows of
    zeros below, or stand for one that is turned: image and kernel have one row or one column then."""
    if geometry.kernel == (1, 1):
        if max(*geometry.padding, *_far_padding(geometry)) > 0:
            # Dilation means nothing to a 1x1 kernel, but rules out both special kernels.
            return replace(geometry, dilation=(2, 2))
        return geometry
    if geometry.input[0] == geometry.kernel[0] == 1 and not _fits_one_row_kernel(geometry):
        if geometry.output[0] == 1:
            return geometry.swapped()
        # Rows of padding make rows of output. A second kernel row, all zeros, rules out 1xN.
        return replace(geometry, kernel=(2, geometry.kernel[1]))
    return geometry


def depthwise(geometry: Geometry, multiplier: int) -> Geometry:
    """An equal geometry that arm_depthwise_conv_wrapper_s8 computes with `multiplier` outputs an input: every window
    overlaps the image.

    Where arm_depthwise_conv_3x3_s8 does not do what it is asked for, the kernel gets a fourth column
    of zeros, which changes no sum and selects the general kernel.
    """
    geometry = overlapping(geometry)
    special = rules.takes_3x3(geometry.batch, multiplier, *geometry.kernel, *geometry.padding, *geometry.dilation)
    if special and not rules.fits_3x3(geometry.input[1], geometry.output[1], geometry.stride[1], geometry.padding[1]):
        return replace(geometry, kernel=(3, 4))
    return geometry


def overlapping(geometry: Geometry) -> Geometry:
    """An equal geometry, no window of which lies in padding altogether.

    The kernel has grown at its end where the first window ended before the image, and at its beginning, as the
    padding has, where the last one started after it.
    """
    kernel, padding = [], []
    for near, taps, dilation, out, stride, size in zip(
        geometry.padding, geometry.kernel, geometry.dilation, geometry.output, geometry.stride, geometry.input
    ):
        taps_after = -(-near // dilation) + 1
        last = (out - 1) * stride - near  # start of the last window
        taps_before = max((last - size) // dilation + 1, 0)
        kernel.append(max(taps, taps_after) + taps_before)
        padding.append(near + taps_before * dilation)
    return replace(geometry, kernel=tuple(kernel), padding=tuple(padding))


def require_convolution(geometry: Geometry, channels: int, per_group: int) -> None:
    """ValueError if arm_convolve_wrapper_s8 does not compute this with `channels` input channels, of
    which each filter has `per_group`, on some core."""
    arguments = (
        *geometry.input,
        channels,
        *geometry.kernel,
        per_group,
        *geometry.output,
        *geometry.stride,
        *geometry.padding,
        *geometry.dilation,
    )
    if not all(rules.convolution_fits(mve, *arguments) for mve in (False, True)):
        raise ValueError(f"CMSIS-NN has no kernel for {geometry}; a rewrite should have changed it")


def require_depthwise(geometry: Geometry, channels: int, multiplier: int) -> None:
    """As `require_convolution`, for arm_depthwise_conv_wrapper_s8 and `multiplier` outputs an input."""
    arguments = (
        geometry.batch,
        *geometry.input,
        channels,
        multiplier,
        *geometry.kernel,
        *geometry.output,
        *geometry.stride,
        *geometry.padding,
        *geometry.dilation,
    )
    if not all(rules.depthwise_fits(mve, *arguments) for mve in (False, True)):
        raise ValueError(f"CMSIS-NN has no kernel for {geometry}; a rewrite should have changed it")


def _far_padding(geometry: Geometry) -> Pair:
    """Rows and columns that the last windows reach beyond the bottom and right edge; negative if they end before
    it."""
    bottom, right = map(
        rules.far_padding,
        geometry.input,
        geometry.kernel,
        geometry.output,
        geometry.stride,
        geometry.padding,
        geometry.dilation,
    )
    return bottom, right


def _fits_one_row_kernel(geometry: Geometry) -> bool:
    """Whether arm_convolve_1_x_n_s8 computes this one-row geometry (its own conditions aside)."""
    return rules.fits_one_row(
        geometry.input[1],
        geometry.kernel[1],
        geometry.output[0],
        geometry.stride[1],
        *geometry.padding,
        _far_padding(geometry)[1],
    )
