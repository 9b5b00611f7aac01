"""The frame of a camera as an image for a network, as a PyTorch operator: `torch.ops.cmsis_nn_delegate.camera_image`.

    camera_image(frame, format, gray, full_range, crop, size, mode, mean, std)

`frame` is int32 [N, height, width / 2]: the bytes of the pixels as they lie in memory, of which 4, two pixels, are a
number. The result is float32 [N, 3, *size], or [N, 1, *size] if `gray`: the part `crop` (top, left, height, width) of
the frame, resampled to `size` (height, width) by `mode`, converted by `camera_formats`, divided by 255, and normalized
with a mean and a standard deviation for each channel. `nearest` takes row i * height // size and so on; `bilinear` is
that of torch.nn.functional.interpolate with align_corners=False, of the components before they are converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .camera_formats import COMPONENTS, MATRIX_BITS, PIXEL_BYTES, RGB565, color_matrix, problem
from .own_ops import define

_PIXELS = 4 // PIXEL_BYTES  # of a number


def components(frame: torch.Tensor, format: str) -> torch.Tensor:
    """Returns float32 [N, 3, height, width], whole numbers from 0 to 255: red, green and blue, or Y, U and V."""
    n, height, words = frame.shape
    pixels = frame.contiguous().view(torch.uint8).to(torch.int32).view(n, height, words * _PIXELS, PIXEL_BYTES)
    low, high = pixels.unbind(-1)
    if format in ("rgb565_be", "uyvy"):
        low, high = high, low
    if format in RGB565:
        word = low | high << 8
        r, g, b = word >> 11, word >> 5 & 63, word & 31
        found = [r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2]
    else:
        found = [low, *(high[..., first::2].repeat_interleave(2, -1) for first in (0, 1))]
    return torch.stack(found, 1).float()


def _camera_image(
    frame: torch.Tensor,
    format: str,
    gray: bool,
    full_range: bool,
    crop: Sequence[int],
    size: Sequence[int],
    mode: str,
    mean: Sequence[float],
    std: Sequence[float],
) -> torch.Tensor:
    _check(frame, format, gray, crop, size, mode, mean, std)
    top, left, height, width = crop
    x = components(frame, format)[:, :, top : top + height, left : left + width]
    if mode == "nearest":
        rows, columns = (torch.arange(out) * of // out for out, of in zip(size, (height, width)))
        x = x[:, :, rows][..., columns]
    else:
        x = torch.nn.functional.interpolate(x, tuple(size), mode="bilinear", align_corners=False)
    matrix = x.new_tensor(color_matrix(format, gray, full_range)) / (1 << MATRIX_BITS)
    x = torch.einsum("oi,nihw->nohw", matrix[:, :COMPONENTS], x) + matrix[:, COMPONENTS, None, None]
    channels = [x.new_tensor(numbers)[:, None, None] for numbers in (mean, std)]
    return (x.clamp(0, 255) / 255 - channels[0]) / channels[1]


def _shape_of_it(frame: torch.Tensor, format: str, gray: bool, _: bool, *of_image: Any) -> torch.Tensor:
    _check(frame, format, gray, *of_image)
    _crop, size, *_rest = of_image
    return frame.new_empty((frame.shape[0], 1 if gray else COMPONENTS, *size), dtype=torch.float32)


def _check(
    frame: torch.Tensor,
    format: str,
    gray: bool,
    crop: Sequence[int],
    size: Sequence[int],
    mode: str,
    mean: Sequence[float],
    std: Sequence[float],
) -> None:
    if frame.dtype != torch.int32 or frame.dim() != 3:
        raise ValueError(
            f"a frame is int32 [N, height, width / 2], two pixels in a number, and not {frame.dtype} "
            f"{list(frame.shape)}: give what frame_of() makes of its bytes"
        )
    wrong = problem(format, gray, crop, size, mode, mean, std, (frame.shape[1], frame.shape[2] * _PIXELS))
    if wrong:
        raise ValueError(wrong)


_ARGUMENTS = (
    "Tensor frame, str format, bool gray, bool full_range, int[] crop, int[] size, str mode, float[] mean, float[] std"
)
CAMERA_IMAGE = define("camera_image", _ARGUMENTS, _camera_image, _shape_of_it, outside=True)
