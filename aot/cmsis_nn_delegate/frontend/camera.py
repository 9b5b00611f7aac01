"""The frames of a camera as images for a network, as PyTorch modules: RGB565 and YUV 4:2:2 to RGB or gray, with crop,
resampling and normalization. Compiled with the network, each is one call of a kernel that reads the camera's bytes and
writes the int8 image: `ops/camera_image.py`. The formulas are those of `edge/camera_formats.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

import numpy as np
import torch

from ..edge.camera_formats import COMPONENTS, PIXEL_BYTES, YUV422, problem
from ..edge.camera_ops import CAMERA_IMAGE
from ..support.checked import checked
from ..support.errors import UserError, require_known

# A number for all channels, or one for each.
Numbers = Union[float, Sequence[float]]


@checked()
def frame_of(data: Union[bytes, bytearray, memoryview, np.ndarray], height: int, width: int) -> torch.Tensor:
    """Returns the bytes of frames, as a camera's DMA writes them, as the input of the modules below: int32
    [N, height, width / 2], of which each number holds two pixels. `data` has N * height * width * 2 bytes, without gaps
    between rows. In C, an int32_t pointer to the buffer is the same.

    UserError if the width is odd, or if these are not the bytes of whole frames.
    """
    array = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else np.ascontiguousarray(data)
    array = array.reshape(-1).view(np.uint8)
    if height < 1 or width < 2 or width % 2:
        raise UserError(f"a frame of {height} x {width} pixels: the width has to be even, and both at least 1")
    nbytes = height * width * PIXEL_BYTES
    if array.size == 0 or array.size % nbytes:
        raise UserError(
            f"{array.size} bytes are no frames of {height} x {width} pixels, which take {nbytes} bytes each: give "
            "whole frames of 2 bytes a pixel"
        )
    words: np.ndarray = array.view("<i4").astype(np.int32).reshape(-1, height, width // 2)
    return torch.from_numpy(words)


class _CameraImage(torch.nn.Module):
    """What the modules have in common: `Rgb565ToRgb` has the arguments."""

    gray: bool

    def __init__(
        self,
        frame: tuple[int, int],
        format: str,
        full_range: bool,
        crop: Optional[Sequence[int]],
        size: Optional[Sequence[int]],
        mode: str,
        mean: Numbers,
        std: Numbers,
    ) -> None:
        super().__init__()
        self.frame, self.format, self.full_range, self.mode = frame, format, full_range, mode
        self.crop = list(crop or (0, 0, *frame))
        self.size = list(size or self.crop[2:])
        channels = 1 if self.gray else COMPONENTS
        self.mean, self.std = (
            [float(number) for number in ([given] * channels if isinstance(given, (int, float)) else given)]
            for given in (mean, std)
        )
        if frame[1] % 2:
            raise UserError(
                f"a frame of {frame[0]} x {frame[1]} pixels: the width has to be even, because pixels come in pairs"
            )
        wrong = problem(format, self.gray, self.crop, self.size, mode, self.mean, self.std, frame)
        if wrong:
            raise UserError(wrong)

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        height, width = self.frame
        if tuple(frame.shape[1:]) != (height, width // 2) or frame.dtype != torch.int32:
            raise UserError(
                f"a frame of {height} x {width} pixels is int32 [N, {height}, {width // 2}], two pixels in a number, "
                f"and this is {frame.dtype} {list(frame.shape)}: give what frame_of() makes of its bytes"
            )
        image: torch.Tensor = CAMERA_IMAGE(
            frame, self.format, self.gray, self.full_range, self.crop, self.size, self.mode, self.mean, self.std
        )
        return image

    def extra_repr(self) -> str:
        return f"{self.frame[0]}, {self.frame[1]}, {self.format}, crop={self.crop}, size={self.size}, mode={self.mode}"


class _Rgb565(_CameraImage):
    @checked()
    def __init__(
        self,
        height: int,
        width: int,
        *,
        big_endian: bool = False,
        crop: Optional[Sequence[int]] = None,
        size: Optional[Sequence[int]] = None,
        mode: str = "nearest",
        mean: Numbers = 0.0,
        std: Numbers = 1.0,
    ) -> None:
        format = "rgb565_be" if big_endian else "rgb565"
        super().__init__((height, width), format, True, crop, size, mode, mean, std)


class _Yuv422(_CameraImage):
    @checked()
    def __init__(
        self,
        height: int,
        width: int,
        *,
        order: str = "yuyv",
        full_range: bool = False,
        crop: Optional[Sequence[int]] = None,
        size: Optional[Sequence[int]] = None,
        mode: str = "nearest",
        mean: Numbers = 0.0,
        std: Numbers = 1.0,
    ) -> None:
        require_known(order, YUV422, "order of bytes")
        super().__init__((height, width), order, full_range, crop, size, mode, mean, std)


class Rgb565ToRgb(_Rgb565):
    """Frames of RGB565, int32 [N, height, width / 2] of `frame_of`, as images float32 [N, 3, rows, columns]: red, green
    and blue, of which the highest bits are repeated to make 8.

    height, width: of a frame, in pixels; the width is even.
    big_endian: the byte with red comes first, as many sensors send them.
    crop: (top, left, height, width) of the part that is read; all of the frame if it is None.
    size: (rows, columns) of the image; that of the crop if it is None.
    mode: "nearest" takes row i * height // size, and the column likewise; "bilinear" is that of
        torch.nn.functional.interpolate with align_corners=False, which makes images smaller by a factor of less
        than 128, and sees at most 4 pixels for each of its own.
    mean, std: the image is (x / 255 - mean) / std, with a number for each channel or one for all; mean from -100 to
        100, std greater than 0.

    UserError for arguments that do not fit together, and for frames of another size.
    """

    gray = False


class Rgb565ToGray(_Rgb565):
    """Frames of RGB565 as images [N, 1, rows, columns] of BT.601's luma, (77 R + 150 G + 29 B) / 256. The arguments are
    those of `Rgb565ToRgb`, with one channel."""

    gray = True


class YuyvToRgb(_Yuv422):
    """Frames of YUV 4:2:2 as images [N, 3, rows, columns]: red, green and blue by BT.601's matrix in 1/256.

    order: "yuyv" or "uyvy", the bytes of two pixels.
    full_range: Y, U and V take 0 to 255, as in JPEG, and not 16 to 235 and 240.

    The other arguments are those of `Rgb565ToRgb`.
    """

    gray = False


class YuyvToGray(_Yuv422):
    """Frames of YUV 4:2:2 as images [N, 1, rows, columns] of Y alone; in the limited range of (Y - 16) * 298 / 256. The
    arguments are those of `YuyvToRgb`, with one channel."""

    gray = True
