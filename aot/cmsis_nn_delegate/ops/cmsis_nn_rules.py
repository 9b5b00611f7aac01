"""What CMSIS-NN's kernels assume and do not check, as functions of integers.

The compiler calls them (`cmsis_nn_geometry`, and the operators). So does the firmware, for payloads
that another compiler made or that are damaged: `bazel run //:generate` writes them to
runtime/kernels/cmsis_nn/rules.h. A function consists of assignments and one return, and uses only
the Python expressions that the generator knows.

All numbers come from a call that passed every other check: sizes, strides and dilations are in [1, 2^28), padding is
in [0, 2^28), operands have less than 2^28 elements, and no window begins or ends beyond 2^30.
"""

from __future__ import annotations

# CMSIS-NN counts the elements under a kernel in 16 bits.
MAX_KERNEL_ELEMENTS = 65535
# Convolutions keep sizes and steps in 16 bits, and depthwise ones positions, with a sign.
MAX_SIZE = 65535
MAX_POSITION = 32767
MAX_SOFTMAX_ROW = 511


def far_padding(size: int, taps: int, out: int, stride: int, padding: int, dilation: int) -> int:
    """Returns by how many pixels the last window of an axis extends past its end; negative if it ends before."""
    return (out - 1) * stride + (taps - 1) * dilation + 1 - padding - size


def overlaps(size: int, taps: int, out: int, stride: int, padding: int, dilation: int) -> bool:
    """Whether every window of an axis covers a pixel or lies between two: true if the outermost windows do."""
    last = (out - 1) * stride - padding
    return padding <= (taps - 1) * dilation and last < size


# Convolutions -----------------------------------------------------------------------------------


def takes_pointwise(
    in_c: int,
    kernel_h: int,
    kernel_w: int,
    kernel_c: int,
    padding_h: int,
    padding_w: int,
    dilation_h: int,
    dilation_w: int,
) -> bool:
    """Whether arm_convolve_wrapper_s8 picks a 1x1 kernel.

    The 1x1 kernels do not support padding: the wrapper checks the top and left, but not the bottom and right.
    """
    return (
        kernel_h == 1
        and kernel_w == 1
        and in_c == kernel_c
        and padding_h == 0
        and padding_w == 0
        and dilation_h == 1
        and dilation_w == 1
    )


def takes_one_row(in_h: int, in_c: int, kernel_h: int, kernel_c: int, stride_w: int, dilation_w: int) -> bool:
    """Whether arm_convolve_wrapper_s8 picks arm_convolve_1_x_n_s8 if it picks no 1x1 kernel.

    Without MVE that function runs the general kernel.
    """
    return in_h == 1 and kernel_h == 1 and in_c == kernel_c and dilation_w == 1 and (stride_w & 3) * (in_c & 3) & 3 == 0


def fits_one_row(in_w: int, kernel_w: int, out_h: int, stride_w: int, padding_h: int, left: int, right: int) -> bool:
    """Whether arm_convolve_1_x_n_s8 computes this row, whose far padding is `right`.

    It copies kernel_w pixels, however many the image has. It supports one row of windows, padding at the right
    that equals the padding at the left or is one more and, with strides, one window in that padding.
    """
    return (
        in_w >= kernel_w
        and out_h == 1
        and padding_h == 0
        and (right == left or right == left + 1)
        and (stride_w == 1 or right <= 1)
    )


def stays_in_row(out_h: int, left: int, right: int) -> bool:
    """Whether no window leaves the row; the row is then the matrix to multiply.

    arm_convolve_1_x_n_s8 copies the pixels after the last window without using them. With a stride above 1
    some of these lie past the end of the image, so our kernel does not call it.
    """
    return out_h == 1 and left == 0 and right == 0


def convolution_fits(
    mve: bool,
    in_h: int,
    in_w: int,
    in_c: int,
    kernel_h: int,
    kernel_w: int,
    kernel_c: int,
    out_h: int,
    out_w: int,
    out_c: int,
    stride_h: int,
    stride_w: int,
    padding_h: int,
    padding_w: int,
    dilation_h: int,
    dilation_w: int,
) -> bool:
    """Whether arm_convolve_wrapper_s8 computes this convolution, with or without MVE.

    Its 1x1 kernels count in 32 bits.
    """
    bottom = far_padding(in_h, kernel_h, out_h, stride_h, padding_h, dilation_h)
    right = far_padding(in_w, kernel_w, out_w, stride_w, padding_w, dilation_w)
    pointwise = takes_pointwise(in_c, kernel_h, kernel_w, kernel_c, padding_h, padding_w, dilation_h, dilation_w)
    one_row = takes_one_row(in_h, in_c, kernel_h, kernel_c, stride_w, dilation_w)
    row_fits = fits_one_row(in_w, kernel_w, out_h, stride_w, padding_h, padding_w, right)
    # None of them is larger than a limit whose bits are all set if all their bits together are not.
    sizes = in_h | in_w | in_c | out_h | out_w | out_c
    steps = stride_h | stride_w | padding_h | padding_w
    return (
        kernel_h * kernel_w * kernel_c <= MAX_KERNEL_ELEMENTS
        and (pointwise or sizes | steps <= MAX_SIZE)
        and (not pointwise or (bottom <= 0 and right <= 0))
        and (pointwise or not mve or not one_row or row_fits)
    )


def convolution_int16_fits(in_c: int, kernel_h: int, kernel_w: int, kernel_c: int) -> bool:
    """Whether arm_convolve_s16 computes this convolution, which must have one group.

    Without DSP it counts the elements of a filter in 16 bits.
    """
    return in_c == kernel_c and kernel_h * kernel_w * kernel_c <= MAX_KERNEL_ELEMENTS


def convolution_wide_fits(in_c: int, kernel_h: int, kernel_w: int, kernel_c: int) -> bool:
    """Whether arm_convolve_s16 with a bias of 64 bits computes this convolution, which must have one group.

    It adds the first 512 products in 32 bits, and 512 of the least numbers do not fit these.
    """
    return in_c == kernel_c and kernel_h * kernel_w * kernel_c < 512


# Averages ---------------------------------------------------------------------------------------


def average_int16_fits(kernel_h: int, kernel_w: int) -> bool:
    """Whether arm_avgpool_s16 sums windows of this size exactly.

    With DSP its sums saturate, which so many numbers of 16 bits cannot make them do.
    """
    return kernel_h <= MAX_SIZE and kernel_w <= MAX_SIZE and kernel_h * kernel_w <= MAX_SIZE


# Depthwise convolutions -------------------------------------------------------------------------


def takes_3x3(
    batch: int,
    multiplier: int,
    kernel_h: int,
    kernel_w: int,
    padding_h: int,
    padding_w: int,
    dilation_h: int,
    dilation_w: int,
) -> bool:
    """Whether arm_depthwise_conv_wrapper_s8 picks arm_depthwise_conv_3x3_s8, which it does only without MVE."""
    return (
        batch == 1
        and multiplier == 1
        and kernel_h == 3
        and kernel_w == 3
        and dilation_h == 1
        and dilation_w == 1
        and padding_h <= 1
        and padding_w <= 1
    )


def fits_3x3(in_w: int, out_w: int, stride_w: int, padding_w: int) -> bool:
    """Whether arm_depthwise_conv_3x3_s8 stays inside the row: it always reads the middle column of a window."""
    return (out_w - 1) * stride_w - padding_w <= in_w - 2


def becomes_convolution(in_c: int) -> bool:
    """Whether arm_depthwise_conv_wrapper_s8 may compute a convolution instead, with MVE.

    It then rearranges the weights at every call, and reads past their end in scratch memory. The compiler
    makes such a layer a conv2d.
    """
    return in_c == 1


def takes_opt(mve: bool, batch: int, in_c: int, multiplier: int, dilation_h: int, dilation_w: int) -> bool:
    """Whether arm_depthwise_conv_wrapper_s8 picks arm_depthwise_conv_s8_opt, if it does not pick
    arm_depthwise_conv_3x3_s8."""
    return (
        batch == 1
        and multiplier == 1
        and dilation_h == 1
        and dilation_w == 1
        and (not mve or not becomes_convolution(in_c))
    )


def depthwise_fits(
    mve: bool,
    batch: int,
    in_h: int,
    in_w: int,
    in_c: int,
    multiplier: int,
    kernel_h: int,
    kernel_w: int,
    out_h: int,
    out_w: int,
    stride_h: int,
    stride_w: int,
    padding_h: int,
    padding_w: int,
    dilation_h: int,
    dilation_w: int,
) -> bool:
    """Whether arm_depthwise_conv_wrapper_s8 computes this depthwise convolution.

    One kernel for DSP clears its column buffer up to the first row of the image, or from the last row on:
    if no window contains that row, it writes past the buffer. Another kernel counts positions in 16 bits.
    """
    # None of them is larger than a limit whose bits are all set if all their bits together are not.
    sizes = batch | in_h | in_w | in_c * multiplier | out_h | out_w
    steps = stride_h | stride_w | padding_h | padding_w | dilation_h | dilation_w
    special = takes_3x3(batch, multiplier, kernel_h, kernel_w, padding_h, padding_w, dilation_h, dilation_w)
    return (
        sizes | steps <= MAX_POSITION
        and overlaps(in_h, kernel_h, out_h, stride_h, padding_h, dilation_h)
        and overlaps(in_w, kernel_w, out_w, stride_w, padding_w, dilation_w)
        and kernel_h * kernel_w <= MAX_KERNEL_ELEMENTS
        and (not mve or not becomes_convolution(in_c))
        and (mve or not special or fits_3x3(in_w, out_w, stride_w, padding_w))
    )


# Softmax ----------------------------------------------------------------------------------------


def softmax_fits(row_size: int) -> bool:
    """Whether arm_softmax_s8 computes rows of this size.

    A row of n equal elements sums to n * 2^19. From 2^28 on the function shifts by more than 31 bits, which C
    leaves undefined and which cores do differently.
    """
    return row_size <= MAX_SOFTMAX_ROW


# Transposed convolutions ------------------------------------------------------------------------

# Of the 32-bit sums in the scratch memory of arm_transpose_conv_s8: their number is below 2^28.
MAX_TRANSPOSE_CONV_COLUMNS = 65535
MAX_TRANSPOSE_CONV_ROW = 4194304
MAX_TRANSPOSE_CONV_ROWS = 64


def transpose_conv_sums(size: int, taps: int, stride: int) -> int:
    """Returns how many sums an axis of `size` pixels has before padding is cut off, with taps >= stride."""
    return (size - 1) * stride + taps


def transpose_conv_rows_fit(size: int, taps: int, out: int, stride: int, padding: int) -> bool:
    """Whether arm_transpose_conv_s8 writes all rows of the output, and no more.

    It writes `stride` rows for every row of the image, but none for one that adds to the padding: the padding has to be
    a multiple of the stride. At the end it writes up to as many more as the filter is higher than the stride.
    """
    whole = size * stride - padding
    return padding % stride == 0 and whole >= 1 and out >= whole and out <= whole + taps - stride


def transpose_conv_fits(
    in_h: int,
    in_w: int,
    in_c: int,
    kernel_h: int,
    kernel_w: int,
    kernel_c: int,
    out_h: int,
    out_w: int,
    out_c: int,
    stride_h: int,
    stride_w: int,
    padding_h: int,
    padding_w: int,
    dilation_h: int,
    dilation_w: int,
) -> bool:
    """Whether arm_transpose_conv_s8 computes this transposed convolution.

    It takes the width of the output from rows of sums, which may be too short for it. It knows neither groups nor
    dilation.
    """
    columns = transpose_conv_sums(in_w, kernel_w, stride_w)
    return (
        in_c == kernel_c
        and in_h | in_w | out_c <= MAX_POSITION
        and dilation_h == 1
        and dilation_w == 1
        and kernel_h >= stride_h
        and kernel_w >= stride_w
        and kernel_h * kernel_w * kernel_c <= MAX_KERNEL_ELEMENTS
        and transpose_conv_rows_fit(in_h, kernel_h, out_h, stride_h, padding_h)
        and padding_w + out_w <= columns
        and columns <= MAX_TRANSPOSE_CONV_COLUMNS
        and columns * out_c <= MAX_TRANSPOSE_CONV_ROW
        and kernel_h <= MAX_TRANSPOSE_CONV_ROWS
    )


def transpose_conv_scratch(in_w: int, kernel_h: int, kernel_w: int, stride_w: int, out_c: int) -> int:
    """Returns the bytes of scratch memory that arm_transpose_conv_s8 needs if `transpose_conv_fits`.

    arm_transpose_conv_s8_get_buffer_size is for the wrapper, which may call another function.
    """
    return transpose_conv_sums(in_w, kernel_w, stride_w) * out_c * kernel_h * 4
