"""The formats in which a camera gives its pixels, and what becomes of them, in integers.

A pixel has 16 bits, and becomes three components of 8 bits, from 0 to 255:

* `rgb565`, the lower byte first, and `rgb565_be`, the higher byte first: red, green and blue, of 5, 6 and 5 bits from
  the highest to the lowest. More bits repeat the highest ones: r << 3 | r >> 2, and g << 2 | g >> 4, which makes the
  largest number 255, and the others the nearest ones to r * 255 / 31 and g * 255 / 63 or 1 beside them.
* `yuyv` and `uyvy`: Y, and U (Cb) and V (Cr), which two neighbours share (YUV 4:2:2). The bytes of these two pixels are
  Y U Y V or U Y V Y.

The names are those of V4L2 (linux/videodev2.h: V4L2_PIX_FMT_RGB565, _RGB565X, _YUYV, _UYVY) in lower case, but for the
second one.

A channel of the image is a sum of the components, in 1/256, by a row of `color_matrix`, limited to 0 to 255. The
coefficients are those of ITU-R BT.601, rounded to 1/256:

* of YUV in the limited range (Y from 16 to 235, U and V from 16 to 240), as Microsoft's "Recommended 8-Bit YUV Formats
  for Video Rendering" has them: R = 298 (Y - 16) + 409 (V - 128), G = 298 (Y - 16) - 100 (U - 128) - 208 (V - 128),
  B = 298 (Y - 16) + 516 (U - 128);
* in the full range (0 to 255), as JFIF 1.02 has them: R = Y + 1.402 (V - 128),
  G = Y - 0.34414 (U - 128) - 0.71414 (V - 128), B = Y + 1.772 (U - 128);
* gray of RGB: 0.299 R + 0.587 G + 0.114 B."""

from __future__ import annotations

from collections.abc import Sequence

RGB565 = ("rgb565", "rgb565_be")
YUV422 = ("yuyv", "uyvy")
# In the order of their numbers in a payload.
FORMATS = (*RGB565, *YUV422)
MODES = ("nearest", "bilinear")
# Bytes of a pixel, components of one, and bits behind the point of the coefficients.
PIXEL_BYTES = 2
COMPONENTS = 3
MATRIX_BITS = 8

_LIMITED = ((298, 0, 409), (298, -100, -208), (298, 516, 0))
_FULL = ((256, 0, 359), (256, -88, -183), (256, 454, 0))
_GRAY = (77, 150, 29)


def color_matrix(format: str, gray: bool, full_range: bool) -> tuple[tuple[int, ...], ...]:
    """Returns a row for each channel of the image, R, G and B or gray: the coefficients of the three components, and
    what is added to their sum, all in 1/256."""
    if format in RGB565:
        rows: Sequence[Sequence[int]] = (_GRAY,) if gray else ((256, 0, 0), (0, 256, 0), (0, 0, 256))
        return tuple((*row, 0) for row in rows)
    matrix, black = (_FULL, 0) if full_range else (_LIMITED, 16)
    rows = ((matrix[0][0], 0, 0),) if gray else matrix
    return tuple((y, u, v, -(y * black + (u + v) * 128)) for y, u, v in rows)


def problem(
    format: str,
    gray: bool,
    crop: Sequence[int],
    size: Sequence[int],
    mode: str,
    mean: Sequence[float],
    std: Sequence[float],
    frame: Sequence[int],
) -> str:
    """Returns what is wrong with the arguments of `camera_image` for frames of (height, width) `frame`, and what to do;
    "" if nothing is."""
    channels = 1 if gray else COMPONENTS
    if format not in FORMATS:
        return f"unknown format {format!r}; choose one of {', '.join(FORMATS)}"
    if mode not in MODES:
        return f"unknown mode {mode!r}; choose one of {', '.join(MODES)}"
    if len(crop) != 4 or len(size) != 2:
        return f"crop {list(crop)} and size {list(size)} are no (top, left, height, width) and (height, width)"
    top, left, height, width = crop
    if min(top, left) < 0 or min(height, width) < 1 or top + height > frame[0] or left + width > frame[1]:
        return (
            f"the crop (top, left, height, width) {tuple(crop)} does not lie in a frame of {frame[0]} x {frame[1]} "
            "pixels: give one that does"
        )
    if min(size) < 1:
        return f"the size {tuple(size)} has no pixels: give a height and a width of at least 1"
    if mode == "bilinear" and (height >= 128 * size[0] or width >= 128 * size[1]):
        return (
            f"mode bilinear makes {height} x {width} pixels smaller to {size[0]} x {size[1]}, and interpolation takes "
            "factors of less than 128: choose a smaller crop, or mode nearest"
        )
    if len(mean) != channels or len(std) != channels:
        return f"mean {list(mean)} and std {list(std)} need {channels} number{'s' * (channels > 1)} each"
    if not all(0 < s < float("inf") for s in std) or not all(abs(m) <= 100 for m in mean):
        return f"mean {list(mean)} has to be from -100 to 100, and std {list(std)} finite and greater than 0"
    return ""
