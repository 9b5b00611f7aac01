"""The integers of camera images next to PyTorch's floats, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.edge.camera_ops import CAMERA_IMAGE
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.frontend import Rgb565ToGray, Rgb565ToRgb, YuyvToGray, YuyvToRgb, frame_of
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import Function, lower_program, lowered, steps_apart
from cmsis_nn_delegate.testing.networks import random_inputs
from cmsis_nn_delegate.testing.random_case import RandomCase

WORDS = np.arange(1 << 16, dtype=np.uint16)


def every_word(big_endian: bool) -> torch.Tensor:
    """A frame of 256 x 256 pixels, one of each color."""
    return frame_of(WORDS.byteswap() if big_endian else WORDS, 256, 256)


@pytest.mark.parametrize("big_endian", [False, True])
def test_each_color_of_rgb565(big_endian):
    """The repeated bits are the nearest of 256 levels, or the one beside it; black and white are exact."""
    (image,) = (255 * Rgb565ToRgb(256, 256, big_endian=big_endian)(every_word(big_endian))).numpy()
    for levels, bits, shift in zip(image, (5, 6, 5), (11, 5, 0)):
        found, number = levels.reshape(-1), (WORDS >> shift) & ((1 << bits) - 1)
        assert np.abs(found - number * (255 / ((1 << bits) - 1))).max() < 1
        assert set(found[number == 0]) == {0.0} and np.abs(found[number == (1 << bits) - 1] - 255).max() < 1e-4


@pytest.mark.parametrize("big_endian", [False, True])
def test_an_image_of_levels_is_exact_in_int8(big_endian):
    """Without a mean, the quantizer's range is that of the levels, and the bytes are these - 128, for every color."""
    module = Rgb565ToRgb(256, 256, big_endian=big_endian)
    distances, graph = steps_apart(nn.Sequential(module, nn.ReLU()), every_word(big_endian), io="int8")
    assert distances == [0]
    node = next(node for node in graph.nodes if node.op == "camera_image")
    assert node.output.quant.zero_point == -128 and abs(node.output.scale * 255 - 1) < 1e-6
    found = OPS["camera_image"].reference(node, [every_word(big_endian).numpy()])
    wanted = torch.round(255 * module(every_word(big_endian))).permute(0, 2, 3, 1).numpy() - 128
    assert np.array_equal(found.reshape(wanted.shape), wanted)


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60, deadline=None)
def test_yuv_is_that_of_bt_601(seed, full_range):
    """From RGB by the matrix of BT.601 in real numbers and back: within the rounding of Y, U and V, and of the
    coefficients."""
    rgb = np.random.default_rng(seed).integers(0, 256, 3) / 255
    kr, kb = 0.299, 0.114
    y = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2]
    u, v = (rgb[2] - y) / (2 * (1 - kb)), (rgb[0] - y) / (2 * (1 - kr))
    scales = (255, 255, 0) if full_range else (219, 224, 16)
    y, u, v = scales[2] + scales[0] * y, 128 + scales[1] * u, 128 + scales[1] * v
    y, u, v = (int(np.clip(np.rint(x), 0, 255)) for x in (y, u, v))
    found = YuyvToRgb(1, 2, full_range=full_range)(frame_of(bytes([y, u, y, v]), 1, 2))
    other = YuyvToRgb(1, 2, order="uyvy", full_range=full_range)(frame_of(bytes([u, y, v, y]), 1, 2))
    assert torch.equal(found, other)
    assert np.abs(255 * (found[0, :, 0, 0].numpy() - rgb)).max() < 2.5
    gray = YuyvToGray(1, 2, full_range=full_range)(frame_of(bytes([y, u, y, v]), 1, 2))
    assert abs(255 * float(gray[0, 0, 0, 1]) - (y if full_range else np.clip((y - 16) * 255 / 219, 0, 255))) < 0.1


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_integers_are_within_half_a_step_of_pytorch(seed):
    """Any crop, size, format and normalization; bilinear weights of 10 bits are off by 2^-10 along each axis."""
    case = RandomCase(seed)
    op = OPS["camera_image"]
    op.draws[seed % len(op.draws)](case)
    (node,), graph = case.nodes, case.graph(case.nodes[0].output)
    (frame,) = random_inputs(graph, seed)
    (found,) = reference.run(graph, [frame])
    attrs = node.attrs
    wanted = CAMERA_IMAGE(
        torch.from_numpy(frame), attrs.format, attrs.gray, attrs.full_range, attrs.crop, attrs.size, attrs.mode,
        attrs.mean, attrs.std,
    )  # fmt: skip
    steps = np.clip(wanted.numpy() / node.output.scale + node.output.zero_point, -128, 127)
    assert found.shape == wanted.shape
    # Levels that are interpolated differ by as much along each axis; the matrix adds up to 2.6 of them.
    levels = 2**-7 + (2 * 255 * 2**-10 if attrs.mode == "bilinear" else 0)
    off = 3 * levels / 255 / min(attrs.std) / node.output.scale
    assert np.abs(found - steps).max() <= 0.5 + off + 1e-3


class Photo(nn.Module):
    """A camera and a convolution, and what leads to the frame."""

    def __init__(self, camera=None, before=lambda x: x):
        super().__init__()
        self.camera, self.before = camera or Rgb565ToRgb(8, 12, size=(5, 6)), before
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, frame):
        return torch.relu(self.conv(self.camera(self.before(frame))))


def frames(height=8, width=12, count=1):
    data = torch.randint(0, 256, (count * height * width * 2,), generator=torch.Generator().manual_seed(1))
    return frame_of(data.to(torch.uint8).numpy(), height, width)


@pytest.mark.parametrize("io", ["float", "int8"])
def test_camera_and_network_are_one_call(io):
    """The frame stays as the camera gives it, whatever the io."""
    camera = Rgb565ToRgb(8, 12, crop=(1, 2, 7, 9), size=(5, 6), mode="bilinear", mean=0.5, std=[0.25, 0.5, 1])
    for activation in (nn.ReLU(), nn.ReLU6(), nn.Hardtanh(-0.5, 0.25)):
        distances, graph = steps_apart(nn.Sequential(camera, activation), frames(count=2), io=io)
        assert max(distances) <= 1
    graph = lowered(Photo(camera), frames(count=2), io=io).graph()
    assert [node.op for node in graph.nodes][:2] == ["camera_image", "conv2d"]
    assert [value.element.value for value in graph.inputs] == ["int32"]


SKIPPED = CmsisNnQuantizer("minmax").set_module_name("camera", None)
IN_FLOAT = CmsisNnQuantizer("minmax").set_module_name("camera", QuantizationConfig(format="float32"))
WIDE = CmsisNnQuantizer("minmax").set_module_name("camera", QuantizationConfig(format="int16"))


@pytest.mark.parametrize(
    "module, frame, quantizer, reason, part",
    [
        (Photo(before=lambda x: x + 1), frames(), None, Reason.UNSUPPORTED_PARAMETER, "make it an input of the model"),
        (Photo(), frames(), SKIPPED, Reason.LEFT_IN_FLOAT, "you asked for that"),
        (Photo(), frames(), IN_FLOAT, Reason.UNSUPPORTED_OPERATOR, "in float32"),
    ],
    ids=["computed", "left in float", "float32"],
)
def test_a_frame_that_is_not_delegated_says_why(module, frame, quantizer, reason, part):
    reports = lowered(module, frame, quantizer=quantizer).reports
    (report,) = (report for report in reports if "camera_image" in report.target)
    assert report.reason is reason and part in report.message, report


def test_an_image_of_16_bits_is_computed_in_8():
    """There is no kernel for int16, and the quantizer converts behind it."""
    graph = lowered(Photo(), frames(), quantizer=WIDE).graph()
    (node,) = (node for node in graph.nodes if node.op == "camera_image")
    assert node.output.element.value == "int8"


def test_an_image_that_is_not_quantized_is_refused():
    program = torch.export.export(Function(Rgb565ToRgb(8, 12)), (frames(),))
    (report,) = (report for report in lower_program(program).reports if "camera_image" in report.target)
    assert report.reason is Reason.NOT_QUANTIZED and "ExecuTorch has no kernel" in report.message


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda: Rgb565ToRgb(8, 11), "has to be even"),
        (lambda: Rgb565ToRgb(8, 12, crop=(0, 0, 9, 12)), "does not lie in a frame of 8 x 12"),
        (lambda: Rgb565ToRgb(8, 12, crop=(0, -1, 8, 12)), "does not lie in a frame of 8 x 12"),
        (lambda: Rgb565ToRgb(8, 12, size=(0, 4)), "has no pixels"),
        (lambda: Rgb565ToRgb(8, 12, mode="area"), "choose one of nearest, bilinear"),
        (lambda: Rgb565ToRgb(256, 12, size=(2, 12), mode="bilinear"), "factors of less than 128"),
        (lambda: Rgb565ToRgb(8, 12, std=0.0), "greater than 0"),
        (lambda: Rgb565ToGray(8, 12, mean=[0.1, 0.2, 0.3]), "need 1 number each"),
        (lambda: YuyvToRgb(8, 12, order="yvyu"), "unknown order of bytes 'yvyu'"),
        (lambda: Rgb565ToRgb(8, 12)(frames(8, 10)), r"int32 \[N, 8, 6\], two pixels in a number"),
        (lambda: Rgb565ToRgb(8, 12)(frames().float()), "give what frame_of"),
        (lambda: Rgb565ToRgb(8.5, 12), "height is 8.5; it must be an integer"),
        (lambda: frame_of(b"12345678", 2, 3), "has to be even"),
        (lambda: frame_of(b"1234567", 2, 2), "7 bytes are no frames of 2 x 2 pixels, which take 8 bytes each"),
    ],
)
def test_what_does_not_fit_together_is_an_error(make, part):
    with pytest.raises(UserError, match=part):
        make()
