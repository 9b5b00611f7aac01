"""The windows of an image side by side, and back: F.unfold (im2col) and F.fold (col2im) as operators that exist."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional as F


def windows_of_image(
    x: torch.Tensor, kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> torch.Tensor:
    """im2col: [N, C, H, W] to [N, C * windows' pixels, windows]; also without N."""
    if x.dim() == 3:
        return windows_of_image(x.unsqueeze(0), kernel, dilation, padding, stride).squeeze(0)
    if any(padding):
        x = F.pad(x, (padding[1], padding[1], padding[0], padding[0]))
    for dim in (2, 3):
        taps, gap = kernel[dim - 2], dilation[dim - 2]
        x = x.unfold(dim, gap * (taps - 1) + 1, stride[dim - 2])
        x = x[..., ::gap] if gap > 1 else x
    n, channels, rows, columns, *size = x.shape
    return x.permute(0, 1, 4, 5, 2, 3).reshape(n, channels * size[0] * size[1], rows * columns)


def image_of_windows(
    x: torch.Tensor,
    size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> torch.Tensor:
    """col2im: [N, C * windows' pixels, windows] to [N, C, H, W]; also without N. Where windows overlap, it is their
    sum: a transposed convolution whose filters have a single 1, at each pixel of a window."""
    if x.dim() == 2:
        return image_of_windows(x.unsqueeze(0), size, kernel, dilation, padding, stride).squeeze(0)
    pixels = kernel[0] * kernel[1]
    channels = x.shape[1] // pixels
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    counts = [(s + 2 * p - r) // step + 1 for s, p, r, step in zip(size, padding, reach, stride)]
    rest = [s - ((c - 1) * step - 2 * p + r) for s, c, step, p, r in zip(size, counts, stride, padding, reach)]
    weight = torch.eye(pixels).reshape(pixels, 1, *kernel).repeat(channels, 1, 1, 1)
    return F.conv_transpose2d(
        x.reshape(x.shape[0], x.shape[1], *counts),
        weight,
        None,
        list(stride),
        list(padding),
        rest,
        channels,
        list(dilation),
    )
