"""Lines in fixed point that give the pixels which PyTorch chooses."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops import resizing
from cmsis_nn_delegate.ops.resize_bilinear import WEIGHT_BITS
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.testing.networks import random_inputs
from cmsis_nn_delegate.testing.random_case import RandomCase

SEEDS = st.integers(0, 2**32)
SIZES = st.integers(1, 127)  # a line cannot be steeper


def _no_line_gives(indices, size):
    """Whether each two places allow some steps, in units of a line, but there is no step that all of them allow."""
    least = indices << resizing.FRACTION_BITS
    most = np.where(indices < size - 1, least + (1 << resizing.FRACTION_BITS) - 1, 1 << 40)
    first, second = np.triu_indices(len(indices), 1)
    apart = second - first
    return np.max(np.ceil((least[second] - most[first]) / apart)) > np.min((most[second] - least[first]) // apart)


@given(SIZES, SIZES, st.floats(0.02, 50), st.sampled_from([0, 0.5]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_line_gives_the_chosen_pixels(size, count, scale, start, usual):
    scale = np.float32(size / count if usual else scale)
    indices = np.floor((np.arange(count, dtype=np.float32) + np.float32(start)) * scale)
    indices = np.minimum(indices, size - 1).astype(np.int64)
    line = resizing.line_through(indices, size)
    if line is None:
        # float32 has rounded some places up and others down, so that no line gives all of them.
        assert _no_line_gives(indices, size)
        return
    np.testing.assert_array_equal(line.places(count, size, 0), indices)


def tflites(image, factor):
    """[h, w] enlarged in TFLite's integers (ResizeBilinearInteger), with pixels as areas."""

    def neighbours(size):
        scale = ((1 << 10) * size + size * factor // 2) // (size * factor)
        place = np.arange(size * factor) * scale + scale // 2 - (1 << 9)
        far = np.minimum((place + (1 << 10) - 1) >> 10, size - 1)
        near = np.maximum(place >> 10, 0)
        weight = place - (near << 10)
        return near, np.maximum(far, 0), weight

    (top, bottom, down), (left, right, across) = (neighbours(size) for size in image.shape)
    down = down[:, None]
    image = image.astype(np.int64)
    total = (1024 - down) * ((1024 - across) * image[top][:, left] + across * image[top][:, right])
    total += down * ((1024 - across) * image[bottom][:, left] + across * image[bottom][:, right])
    return np.trunc((total + np.where(total > 0, 1 << 19, -(1 << 19))) / (1 << 20))


@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.sampled_from([2, 4, 8]))
@settings(max_examples=60, deadline=None)
def test_powers_of_two_give_tflites_bytes(seed, height, width, factor):
    d = RandomCase(seed)
    x = d.input(1, 1, height, width)
    half = 2.0 ** -(WEIGHT_BITS + 1)
    line = resizing.line(1 / factor, (1 / factor - 1) / 2 + half)
    size = height * factor, width * factor
    graph = d.graph(d.node("resize_bilinear", [x], resizing.ResizeAttrs(size, line, line), x.quant))
    (image,) = random_inputs(graph, seed)
    (got,) = run(graph, [image])
    np.testing.assert_array_equal(got.reshape(size), tflites(image.reshape(height, width), factor))


def test_no_line_gives_a_bend():
    assert resizing.line_through(np.array([0, 0, 0, 1, 2, 3]), 9) is None


@given(SIZES, st.integers(1, 8))
def test_repeats(size, factor):
    indices = np.repeat(np.arange(size), factor)
    assert resizing.repeats(indices, size)
    assert size * factor < 2 or not resizing.repeats(np.append(indices[1:], size - 1), size) or size == 1
