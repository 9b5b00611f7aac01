"""What calls of networks would take if only the inner loops of the kernels executed: `floor`.

This is the floor of docs/goals.md. It counts the instructions of the loops that there are, as the comments of their
assembly do, for exactly the products, results and inputs of a call. So it leaves out what a call does once, borders,
windows and channels that do not fill a loop, calls of functions, and the executor. It is no limit of the cores: another
loop may take fewer instructions. That of docs/floors.md is one, and no kernel comes near it.

Shapes are those of MLPerf Tiny's networks. Channels follow from the multiplications of the measured calls, because the
compiler leaves out channels of trained networks. Of other networks only the products of calls are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Optional

from benchmarks.measure import Call, Measurement


class Shape(NamedTuple):
    """A call without its channels. `source` says how many calls before it the one lies whose output it reads."""

    kind: str  # "convolution", "depthwise", "linear", "add", "pool" or "softmax"
    rows: int = 1  # of the output; of a pool, of the input
    columns: int = 1
    taps: tuple[int, int] = (1, 1)
    stride: int = 1
    source: int = 1


class Network(NamedTuple):
    """`pixels` and `channels` are those of the input."""

    pixels: int
    channels: int
    shapes: tuple[Shape, ...]


def _block(rows: int, columns: int, stride: int = 1) -> tuple[Shape, ...]:
    """A depthwise convolution and the pointwise one behind it."""
    return Shape("depthwise", rows, columns, (3, 3), stride), Shape("convolution", rows, columns)


def _half(side: int) -> tuple[Shape, ...]:
    """A block of resnet8 that halves the image."""
    taps = (3, 3)
    return (
        Shape("convolution", side, side, stride=2),
        Shape("convolution", side, side, taps, 2, source=2),
        Shape("convolution", side, side, taps),
        Shape("add", side, side),
    )


_SIDES = (48, 24, 24, 12, 12, 6, 6, 6, 6, 6, 6, 3, 3)  # of mobilenet's images behind each depthwise convolution
_END = Shape("linear"), Shape("softmax")

NETWORKS = {
    "ds_cnn": Network(
        49 * 10,
        1,
        (Shape("convolution", 25, 5, (10, 4), 2), *4 * _block(25, 5), Shape("pool", 25, 5), *_END),
    ),
    "resnet8": Network(
        32 * 32,
        3,
        (
            *3 * (Shape("convolution", 32, 32, (3, 3)),),
            Shape("add", 32, 32),
            *_half(16),
            *_half(8),
            Shape("pool", 8, 8),
            *_END,
        ),
    ),
    "mobilenet_v1_025": Network(
        96 * 96,
        3,
        (
            Shape("convolution", 48, 48, (3, 3), 2),
            *(s for before, side in zip((48, *_SIDES), _SIDES) for s in _block(side, side, before // side)),
            Shape("pool", 3, 3),
            *_END,
        ),
    ),
    "autoencoder": Network(1, 640, 10 * (Shape("linear"),)),
}


@dataclass(frozen=True)
class Layer:
    """A call with its channels. `read` is the elements of its input."""

    shape: Shape
    inputs: int  # channels
    outputs: int
    read: int

    @property
    def pixels(self) -> int:
        return self.shape.rows * self.shape.columns

    @property
    def window(self) -> int:
        """The inputs that a result is computed from."""
        return math.prod(self.shape.taps) * (1 if self.shape.kind == "depthwise" else self.inputs)

    @property
    def results(self) -> int:
        return (1 if self.shape.kind == "pool" else self.pixels) * self.outputs

    @property
    def products(self) -> int:
        return self.results * self.window


def layers(network: str, calls: Sequence[Call]) -> list[Layer]:
    """Returns the layers of one of `NETWORKS`. ValueError if these calls do not have its shapes."""
    first = Network(*NETWORKS[network])
    if len(calls) != len(first.shapes):
        raise ValueError(f"{network} has {len(calls)} calls, and not {len(first.shapes)}: change benchmarks/loops.py")
    found: list[Layer] = []
    elements, channels = [first.pixels * first.channels], [first.channels]  # of the input, and of each output
    for shape, call in zip(first.shapes, calls):
        read, inputs = elements[-shape.source], channels[-shape.source]
        outputs = inputs
        if shape.kind in ("convolution", "linear"):
            per_channel = shape.rows * shape.columns * math.prod(shape.taps) * inputs
            outputs = call.multiplications // per_channel
        layer = Layer(shape, inputs, outputs, read)
        multiplied = layer.products if shape.kind in ("convolution", "depthwise", "linear") else 0
        if multiplied != call.multiplications:
            raise ValueError(f"{network}: {call.module} is not {shape}: change benchmarks/loops.py")
        found.append(layer)
        elements.append(layer.results)
        channels.append(outputs)
    return found


class Loops(NamedTuple):
    """The inner loops for an instruction set. `product` is what a product takes in the fastest of them."""

    product: Fraction
    layer: Callable[[Layer, str], float]  # instructions of a layer by the kernel that computes it


def _scalar(layer: Layer, kernel: str) -> float:
    """Armv7-M without DSP. pair_products_scalar.S: 114 for 64 products of two windows and four channels, and 57 for
    their eight results. channel_rows_scalar.S: 13 an output and 3 for each four, with stride 2 18, and 15 for two
    results. row_products_scalar.S: 70 for 32 products. What widens inputs, and all other calls, are C++ and not
    counted."""
    if layer.shape.kind == "convolution":
        return layer.products * 114 / 64 + layer.results * 57 / 8
    if layer.shape.kind == "depthwise":
        return layer.results * ((13 + 3 / 4 if layer.shape.stride == 1 else 18) + 15 / 2)
    return layer.products * 70 / 32 if layer.shape.kind == "linear" else 0


def _armv6m(layer: Layer, kernel: str) -> float:
    """Armv6-M. pair_products_scalar.S: 196 for 64 products. channel_rows_scalar.S: 41 an output with its result, and 3
    for each two, with stride 2 47. row_products_scalar.S: 72 for 16 products. What widens inputs and requantizes
    those of convolutions, and all other calls, are C++ and not counted."""
    if layer.shape.kind == "convolution":
        return layer.products * 196 / 64
    if layer.shape.kind == "depthwise":
        return layer.results * (41 + 3 / 2 if layer.shape.stride == 1 else 47)
    return layer.products * 72 / 16 if layer.shape.kind == "linear" else 0


def _dsp(layer: Layer, kernel: str) -> float:
    """DSP. pair_products_dsp.S with weights of two channels in 16 bits: 51 for 64 products of two windows and four
    channels, 57 for their eight results of form FLOOR, and 28 to widen 16 inputs of two windows. winograd_dsp.S: 47
    for 64 products, of which four results take 16 for each input in the place of 36; its transforms are C++, and not
    counted. channel_planes_dsp.S: 54 for four outputs, with stride 2 60; fill_planes_dsp.h: 18 for eight inputs.
    row_products_dsp.S: 65 for 64 products, 8 for a block of eight channels and 10 a result. add_linear_dsp.S: 24 for
    four elements. A mean adds up four bytes by a load and two additions. Softmax is not counted."""
    if kernel == "conv2d_winograd":
        return layer.products * 16 / 36 * 47 / 64 + layer.results * 57 / 8
    if layer.shape.kind == "convolution":
        return layer.products * 51 / 64 + layer.results * 57 / 8 + layer.pixels * layer.window * 28 / 32
    if layer.shape.kind == "depthwise":
        return layer.results * (54 if layer.shape.stride == 1 else 60) / 4 + layer.read * 18 / 8
    if layer.shape.kind == "linear":
        return layer.products * 65 / 64 + layer.results * (10 + 8 / 8)
    return {"add": layer.results * 24 / 4, "pool": layer.read * 3 / 4}.get(layer.shape.kind, 0)


def _mve(layer: Layer, kernel: str) -> float:
    """MVE. vector_products_mve.S, for two channels of four windows of V vectors: 14 V + 22 with form LEAST, and of more
    than eight vectors 2 for each four of these and 10 more; 14 to copy three pixels of at most a vector, or three lines
    of first layers, and 3 for each vector of larger pixels, each column once. window_vectors_mve.S: 30 for eight
    outputs, and 14 to interleave a column of four rows of 16 channels, for stride 1 and nine rows or columns; for
    others, channel_vectors_mve.S: 132 for 8 channels of two outputs, with stride 2 138. row_vectors_mve.S: 19 V + 33
    for 8 channels. add_linear_mve.S: 33 for 16 elements. A mean adds up eight bytes by a load and an addition. Softmax
    is not counted."""
    shape, vectors = layer.shape, math.ceil(layer.window / 16)
    if shape.kind == "convolution":
        loop = 14 * vectors + 22 + (10 + 2 * (vectors - 8) / 4 if vectors > 8 else 0)
        return layer.results / 8 * loop + layer.pixels * _copied(layer)
    if shape.kind == "depthwise":
        if shape.stride == 1 and max(shape.rows, shape.columns) >= 9:
            return layer.results * 30 / 8 + layer.read * 14 / 64
        return layer.results * (132 if shape.stride == 1 else 138) / 16
    if shape.kind == "linear":
        return layer.results / 8 * (19 * vectors + 33)
    return {"add": layer.results * 33 / 16, "pool": layer.read * 2 / 8}.get(shape.kind, 0)


def _copied(layer: Layer) -> float:
    """What copies of a window take, which has the columns that it shares with the one before."""
    rows, columns = layer.shape.taps
    if layer.shape.kind != "convolution" or layer.window == layer.inputs:
        return 0
    if columns * layer.inputs <= 16:
        return rows * 14 / 3
    return rows * layer.shape.stride * (14 / 3 if layer.inputs <= 16 else 3 * math.ceil(layer.inputs / 16))


LOOPS = {
    "cortex-m0plus": Loops(Fraction(196, 64), _armv6m),
    "cortex-m3": Loops(Fraction(114, 64), _scalar),
    "cortex-m4": Loops(Fraction(51, 64), _dsp),
    "cortex-m7": Loops(Fraction(51, 64), _dsp),
    "cortex-m33": Loops(Fraction(51, 64), _dsp),
    "cortex-m55": Loops(Fraction(14, 128), _mve),
    "cortex-m85": Loops(Fraction(14, 128), _mve),
}


def floors(measured: Measurement, core: Optional[str] = None) -> list[float]:
    """Returns the floor of each call, for `core` if that is another one: calls are the same on all cores."""
    loops = LOOPS[core or measured.core]
    if measured.network not in NETWORKS:
        return [float(call.multiplications * loops.product) for call in measured.calls]
    found = layers(measured.network, measured.calls)
    return [loops.layer(layer, call.kernel) for layer, call in zip(found, measured.calls)]


def floor(measured: Measurement, core: Optional[str] = None) -> float:
    """Returns the sum of `floors`."""
    return sum(floors(measured, core))


def copies(measured: Measurement) -> float:
    """Returns what copies of windows take of the floor with MVE."""
    return sum(layer.pixels * _copied(layer) for layer in layers(measured.network, measured.calls))
