"""The frame of a camera as an image: the pixels of a part of it, resampled, converted to red, green and blue or to
gray, and normalized, in one call without an image between the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge import camera_formats
from ..edge.camera_formats import COMPONENTS, FORMATS, MATRIX_BITS, PIXEL_BYTES, RGB565
from ..edge.nodes import argument, element_type, first, operand, shape_of, tensor
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import BYTES, I8, I16, I32, Field, Role, Struct
from ..format.schema import MAX_RESIZED
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, storage
from .alone import alone
from .annotation import OfIntegers
from .case import Case
from .features import Features
from .geometry import Pair
from .kernel import KernelSpec
from .op import Op
from .quantized_math import quantize_multipliers, requantize, to_output
from .resize_bilinear import WEIGHT_BITS, interpolated_line
from .resizing import AXIS, Line, line_through

# Bits behind the point of a component that is interpolated, of a channel, and of the sum of a channel and its bias.
_COMPONENT_BITS = 6
_CHANNEL_BITS = _COMPONENT_BITS + MATRIX_BITS
_WHITE = 255
# Pixels of a number of the frame.
_PIXELS = Element.INT32.nbytes(1) // PIXEL_BYTES

CROP = Struct(
    "Crop",
    "A part of an image; it lies inside of it.",
    (
        Field("top", I32, "at least 0"),
        Field("left", I32, "at least 0"),
        Field("h", I32, "at least 1"),
        Field("w", I32, "at least 1"),
    ),
)
KERNEL = KernelSpec(
    "camera_image",
    Struct(
        "CameraImageArgs",
        "The image of a part of a frame, NHWC. Components of pixels are 8 bits, or with bilinear weights of 10 bits "
        f"along each axis rounded to {_COMPONENT_BITS} bits behind the point. A channel is the sum of the components "
        f"times a row of `matrix`, and of `offsets`, limited to 0 to 255 * 2^{_CHANNEL_BITS}; the output is "
        "requantize(channel + bias, multiplier, shift) + output_offset, limited to int8.",
        (
            blocks.operand(
                Role.INPUT, "frame", BYTES, ("frame_dims",), f"[n, h, w, {PIXEL_BYTES} bytes], of any alignment"
            ),
            blocks.operand(
                Role.FILTER,
                "matrix",
                I16,
                ("output_dims.c", "components"),
                f"int16 [c, components], in 2^-{MATRIX_BITS}",
            ),
            blocks.operand(Role.BIAS, "offsets", I32, ("output_dims.c",), f"int32 [c], in 2^-{_CHANNEL_BITS}"),
            blocks.bias("output_dims.c", doc=f"int32 [c], in 2^-{_CHANNEL_BITS}"),
            blocks.multipliers("output_dims.c", doc="int32 [c], Q31, >= 0"),
            blocks.shifts("output_dims.c", doc="int32 [c], left if positive, [-31, 30]"),
            blocks.output(I8, "output_dims", doc="int8 [n, h, w, c]"),
            Field("format", I32, f"of {', '.join(FORMATS)}", low=0, high=len(FORMATS) - 1),
            Field("bilinear", I32, "0: the nearest pixel", low=0, high=1),
            Field("components", I32, "of a pixel", low=COMPONENTS, high=COMPONENTS),
            blocks.output_offset(),
            Field("rows", AXIS),
            Field("columns", AXIS),
            Field("crop", CROP),
            Field("frame_dims", blocks.DIMS),
            Field("output_dims", blocks.DIMS),
        ),
        geometry="camera_image",
    ),
)


@dataclass(frozen=True)
class CameraImageAttrs:
    """Input: a frame, int32 [n, height, width / 2]. The others are the arguments of
    `torch.ops.cmsis_nn_delegate.camera_image`."""

    format: str
    gray: bool
    full_range: bool
    crop: tuple[int, int, int, int]
    size: Pair
    mode: str
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def matrix(self) -> np.ndarray:
        """int64 [channels, components + 1]; the last column is in the same steps as the others."""
        return np.array(camera_formats.color_matrix(self.format, self.gray, self.full_range), np.int64)

    def lines(self) -> list[Optional[Line]]:
        """Returns where the rows and columns of the image lie in the crop."""
        found = []
        for size, output in zip(self.crop[2:], self.size):
            if self.mode == "nearest":
                found.append(line_through(np.arange(output, dtype=np.int64) * size // output, size))
            else:
                found.append(interpolated_line(size, output))
        return found


class _Numbers(NamedTuple):
    """What the kernel adds and multiplies for each channel."""

    offsets: np.ndarray
    bias: np.ndarray
    multiplier: np.ndarray
    shift: np.ndarray


def _draw(d: Case, mode: str, formats: Sequence[str]) -> Value:
    """Parts of frames that are made smaller and larger, with normalized channels that also go beyond the output."""
    height, width = d.integer(1, 9), _PIXELS * d.integer(1, 6)
    top, left = d.integer(0, height - 1), d.integer(0, width - 1)
    crop = (top, left, d.integer(1, height - top), d.integer(1, width - left))
    gray = d.pick(False, True)
    channels = range(1 if gray else COMPONENTS)
    attrs = CameraImageAttrs(
        *(d.pick(*formats), gray, d.pick(False, True), crop, d.pair(1, 11), mode),
        mean=tuple(float(d.random.uniform(-0.5, 1)) for _ in channels),
        std=tuple(float(2.0 ** d.random.uniform(-3, 1)) for _ in channels),
    )
    frame = d.input(d.batch(), height, width // _PIXELS, element=Element.INT32)
    quant = d.quant(float(2.0 ** d.random.uniform(-8, -2)) / min(attrs.std))
    return d.node("camera_image", [frame], attrs, quant)


def _draw_nearest(d: Case) -> Value:
    return _draw(d, "nearest", FORMATS)


def _draw_bilinear(d: Case) -> Value:
    return _draw(d, "bilinear", FORMATS)


def _limits(node: EdgeNode) -> tuple[float, float]:
    """Returns the least and the greatest number of an image: black and white of a channel, normalized."""
    channels = list(zip(argument(node, 7), argument(node, 8)))
    return min(-mean / std for mean, std in channels), max((1 - mean) / std for mean, std in channels)


class CameraImage(Op):
    """Within 2^-7 of a level of 255 of PyTorch's, before it is rounded, or with bilinear 255 * 2^-10 levels for each
    axis, because weights have 10 bits as those of resize_bilinear.

    Two pixels share the U and V of their pair, also where a crop begins or ends with one of them."""

    name = "camera_image"
    targets = ("cmsis_nn_delegate.camera_image.default",)
    whole = targets
    annotation = OfIntegers(targets, _limits)
    attrs = CameraImageAttrs
    kernels = (KERNEL,)
    draws = (_draw_nearest, _draw_bilinear)
    limits = (
        "frames of RGB565 in both orders of bytes, and of YUV 4:2:2, as int32 from outside of the delegate, with crop, "
        "resampling and normalization; the image is int8",
    )

    def refuse(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return alone(
            super().refuse(node, context),
            "camera_image",
            "or convert the frame in the application, and give the model an image",
        )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return first(
            lambda: context.refuse_tensors(node),
            lambda: self._refuse_frame(operand(node), context),
            lambda: self._refuse_numbers(node, context),
            lambda: context.refuse_quant(node, []),
        )

    def _refuse_frame(self, frame: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if element_type(tensor(frame).dtype) != Element.INT32.value or len(shape_of(frame)) != 3:
            return Refusal(
                Reason.UNSUPPORTED_DTYPE,
                f"its frame {frame.name} is {element_type(tensor(frame).dtype)} {list(shape_of(frame))}, and has to be "
                "int32 [N, height, width / 2]: give what frame_of() makes of the bytes of a camera",
            )
        if frame.op != "placeholder" or context.is_constant(frame):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"its frame {frame.name} is computed or constant, and the delegate takes frames as they come from a "
                "camera: make it an input of the model, and crop with the module's arguments",
            )
        height, width = shape_of(frame)[1], shape_of(frame)[2] * _PIXELS
        if max(height, width) > MAX_RESIZED:
            return Refusal(
                Reason.TOO_LARGE,
                f"its frame is {height} x {width}; the kernel takes at most {MAX_RESIZED} rows and columns: give the "
                "model a part of it",
            )
        return None

    def _refuse_numbers(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        attrs, (_, height, words) = _attrs(node, context), shape_of(operand(node))
        wrong = camera_formats.problem(
            *(attrs.format, attrs.gray, attrs.crop, attrs.size, attrs.mode, attrs.mean, attrs.std),
            frame=(height, words * _PIXELS),
        )
        if wrong:
            return Refusal(Reason.UNSUPPORTED_PARAMETER, wrong)
        if max(attrs.size) > MAX_RESIZED or None in attrs.lines():
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"the kernel's fixed point has no line from {attrs.crop[2]} x {attrs.crop[3]} pixels to "
                f"{attrs.size[0]} x {attrs.size[1]}: choose sizes that divide each other",
            )
        return None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return [context.node(node, self.name, [context.value(operand(node))], _attrs(node, context))]

    def output_shape(self, inputs: Sequence[Value], attrs: CameraImageAttrs) -> tuple[int, ...]:
        return (inputs[0].shape[0], 1 if attrs.gray else COMPONENTS, *attrs.size)

    def index_range(self, node: Node, value: Value) -> tuple[int, int]:
        return Element.INT32.low, Element.INT32.high

    def features(self, node: Node) -> Features:
        n, h, w, c = storage.nhwc(node.output)
        kind = "RGB" if node.attrs.format.startswith("rgb") else "YUV"
        return Features({"rows": n * h, "pixels": n * h * w, "outputs": n * h * w * c}, f"{node.attrs.mode} {kind}")

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs, numbers = node.attrs, _numbers(node)
        x = _components(inputs[0].reshape(node.inputs[0].shape), attrs.format)
        top, left, height, width = attrs.crop
        x = x[:, top : top + height, left : left + width]
        bits = WEIGHT_BITS if attrs.mode == "bilinear" else 0
        for axis, line in ((1, attrs.lines()[0]), (2, attrs.lines()[1])):
            assert line is not None  # says check
            size = x.shape[axis]
            places = line.places(attrs.size[axis - 1], size, bits)
            near = places >> bits
            weight = (places & ((1 << bits) - 1)).reshape([-1 if dim == axis else 1 for dim in range(4)])
            x = x.take(near, axis) * ((1 << bits) - weight) + x.take(np.minimum(near + 1, size - 1), axis) * weight
        drop = 2 * bits - _COMPONENT_BITS
        x = (x + (1 << (drop - 1))) >> drop if bits else x << _COMPONENT_BITS
        channels = x @ attrs.matrix[:, :COMPONENTS].T + numbers.offsets
        channels = np.clip(channels, 0, _WHITE << _CHANNEL_BITS) + numbers.bias
        found = requantize(channels, numbers.multiplier, numbers.shift)
        low, high = Element.INT8.low, Element.INT8.high
        return to_output(found, node.output.zero_point, low, high).reshape(node.output.storage_shape)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        matrix = np.ascontiguousarray(node.attrs.matrix[:, :COMPONENTS], np.int16)
        found = {name: data.astype(np.int32) for name, data in _numbers(node)._asdict().items()}
        return {"matrix": matrix, **found}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        attrs, (n, height, words) = node.attrs, node.inputs[0].shape
        rows, columns = attrs.lines()
        top, left, crop_height, crop_width = attrs.crop
        return {
            **refs,
            "format": FORMATS.index(attrs.format),
            "bilinear": int(attrs.mode == "bilinear"),
            "components": COMPONENTS,
            "output_offset": node.output.zero_point,
            "rows": {"step": rows.step, "offset": rows.offset},
            "columns": {"step": columns.step, "offset": columns.offset},
            "crop": {"top": top, "left": left, "h": crop_height, "w": crop_width},
            "frame_dims": block_values.dims(n, height, words * _PIXELS, PIXEL_BYTES),
            "output_dims": block_values.dims(*storage.nhwc(node.output)),
        }


def _attrs(node: EdgeNode, context: EdgeContext) -> CameraImageAttrs:
    _, format, gray, full_range, crop, size, mode, mean, std = context.arguments(node)
    return CameraImageAttrs(
        *(format, bool(gray), bool(full_range), tuple(crop), tuple(size), mode), tuple(mean), tuple(std)
    )


def _numbers(node: Node) -> _Numbers:
    attrs = node.attrs
    white = np.float64(_WHITE << _CHANNEL_BITS)
    multiplier, shift = quantize_multipliers(1 / (white * np.array(attrs.std) * node.output.scale))
    return _Numbers(
        attrs.matrix[:, COMPONENTS] << _COMPONENT_BITS,
        np.rint(-np.array(attrs.mean) * white).astype(np.int64),
        multiplier,
        shift,
    )


def _components(frame: np.ndarray, format: str) -> np.ndarray:
    """Returns int64 [n, height, width, 3]: red, green and blue, or Y, U and V."""
    n, height, words = frame.shape
    pixels = np.ascontiguousarray(frame.astype("<i4")).view(np.uint8).astype(np.int64)
    pixels = pixels.reshape(n, height, words * _PIXELS, PIXEL_BYTES)
    if format in ("rgb565_be", "uyvy"):
        pixels = pixels[..., ::-1]
    low, high = pixels[..., 0], pixels[..., 1]
    if format in RGB565:
        word = high << 8 | low
        r, g, b = word >> 11, word >> 5 & 63, word & 31
        return np.stack([r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2], -1)
    return np.stack([low, high[..., 0::2].repeat(2, -1), high[..., 1::2].repeat(2, -1)], -1)
