"""How arm_convolve_wrapper_s8 and arm_depthwise_conv_wrapper_s8 have to be called.

The wrappers pick special kernels by a few of the parameters. At the pinned commit some of
these kernels assume what the wrapper does not check: see `cmsis_nn_rules`. Padding folded
from asymmetric pads, and strides that do not divide the width, break these assumptions: the result is wrong,
the kernel reads past the end of the input, or the call fails. `convolution` and `depthwise` turn such a geometry into
an equivalent one that takes the general path. They do so for every target alike; the only cost is that of the general
path. The kernel may grow: its new taps are zeros, which change no sum.
"""

from __future__ import annotations

from dataclasses import replace

from . import cmsis_nn_rules as rules
from .geometry import Geometry, Pair


def convolution(geometry: Geometry) -> Geometry:
    """Returns an equivalent geometry for which arm_convolve_wrapper_s8's choice of kernel is right. The kernel may get
    rows of zeros at the bottom, or height and width may be swapped: image and kernel then have one row or column."""
    if geometry.kernel == (1, 1):
        if max(*geometry.padding, *_far_padding(geometry)) > 0:
            # Dilation has no effect on a 1x1 kernel, but rules out both special kernels.
            return replace(geometry, dilation=(2, 2))
        return geometry
    if geometry.input[0] == geometry.kernel[0] == 1 and not _fits_one_row_kernel(geometry):
        if geometry.output[0] == 1:
            return geometry.swapped()
        # Rows of padding make rows of output. A second kernel row of zeros rules out 1xN.
        return replace(geometry, kernel=(2, geometry.kernel[1]))
    return geometry


def depthwise(geometry: Geometry, multiplier: int) -> Geometry:
    """Returns an equivalent geometry that arm_depthwise_conv_wrapper_s8 computes with `multiplier` outputs per input:
    every window overlaps the image.

    If arm_depthwise_conv_3x3_s8 would compute it wrongly, the kernel gets a fourth column of zeros, which
    changes no sum and selects the general kernel.
    """
    geometry = overlapping(geometry)
    special = rules.takes_3x3(geometry.batch, multiplier, *geometry.kernel, *geometry.padding, *geometry.dilation)
    if special and not rules.fits_3x3(geometry.input[1], geometry.output[1], geometry.stride[1], geometry.padding[1]):
        return replace(geometry, kernel=(3, 4))
    return geometry


def overlapping(geometry: Geometry) -> Geometry:
    """Returns an equivalent geometry in which no window lies entirely in the padding.

    If the first window ended before the image, the kernel grows at its end. If the last window started after the
    image, the kernel and the padding grow at their beginning.
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


def convolution_fits(geometry: Geometry, channels: int, per_group: int, outputs: int, one_row: bool = True) -> bool:
    """Returns whether arm_convolve_wrapper_s8 computes this on every core, from `channels` input channels, of which
    each filter has `per_group`, to `outputs` channels; without `one_row`, whether it would if it had no function for
    images of one row."""
    arguments = (
        *geometry.input,
        channels,
        *geometry.kernel,
        per_group,
        *geometry.output,
        outputs,
        *geometry.stride,
        *geometry.padding,
        *geometry.dilation,
    )
    return all(rules.convolution_fits(mve, *arguments) for mve in {False, one_row})


def depthwise_fits(geometry: Geometry, channels: int, multiplier: int) -> bool:
    """Like `convolution_fits`, for arm_depthwise_conv_wrapper_s8 with `multiplier` outputs per input."""
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
    return all(rules.depthwise_fits(mve, *arguments) for mve in (False, True))


def _far_padding(geometry: Geometry) -> Pair:
    """Returns by how many rows and columns the last windows extend past the bottom and right edge; negative if they
    end before it."""
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
    """Returns whether arm_convolve_1_x_n_s8 computes this one-row geometry, apart from its own conditions."""
    return rules.fits_one_row(
        geometry.input[1],
        geometry.kernel[1],
        geometry.output[0],
        geometry.stride[1],
        *geometry.padding,
        _far_padding(geometry)[1],
    )
