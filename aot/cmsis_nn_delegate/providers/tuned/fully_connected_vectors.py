"""Linear layer, row by row, as products with blocks of 8 channels, for cores with MVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...format import blocks
from ...format.cpp import camel
from ...format.element import Element
from ...format.record import I8, I16, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node
from ...ops import block_values, fully_connected, storage
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec, named_for
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol
from . import fully_connected_as_conv2d, fully_connected_pairs, vector_requantization

CHANNELS = 8  # of a block
VECTOR_BYTES = 16  # of inputs
_SCALE_WORDS = 24  # and biases, of a block
_NIBBLE_SCALE_WORDS = 20  # the same with weights of 4 bits
_MOST_EMPTY = 512  # bytes of weights of channels that are not there


def kernel_of(element: Element, nibbles: bool = False) -> KernelSpec:
    """Returns the kernel for inputs and outputs of `element`, int8 or int16; `nibbles`: with weights of 4 bits."""
    wide = element is Element.INT16
    scalar, kind, vector = I16 if wide else I8, element.value, VECTOR_BYTES // element.nbytes(1)
    infix = "_int4" if nibbles else ""
    name, like = (named_for(f"fully_connected{infix}{what}", scalar) for what in ("_vectors", ""))
    bits = " of 4 bits" if nibbles else ""
    if nibbles:
        weights = (
            f"for each 8 channels: 8 sums for inputs of 0, those of even channels with 16 times that of the next one; "
            f"{vector} bytes of each even channel for each {vector} inputs, of which the first may be less: 16 times "
            "the weight of the next channel, and 8 more than that of this one; 4 multipliers of the even and 4 of the "
            "odd channels; bytes of shifts, to the right and then to the left, in the same order"
        )
        block_words = f"{_NIBBLE_SCALE_WORDS}, and the inputs rounded up to {vector}"
    else:
        weights = (
            f"for each 8 channels: 8 sums for inputs of 0; {vector} weights of each channel for each "
            f"{vector} inputs, of which the first may be less; 4 multipliers of the even and 4 of the odd "
            "channels; shifts in the same order"
        )
        block_words = f"{_SCALE_WORDS}, and twice the inputs rounded up to {vector}"
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{kind} linear layer, as {like} computes it, from weights{bits} in the order of products.",
            (
                blocks.input("input", scalar, "batch", "inputs", doc=f"{kind} [batch, in]"),
                blocks.weight_table("blocks", "block_words", doc=weights),
                blocks.output(scalar, "batch", "outputs", doc=f"{kind} [batch, out]"),
                Field("blocks", I32, "outputs / 8, rounded up"),
                Field("block_words", I32, block_words),
                Field("batch", I32, "at least 1"),
                Field("inputs", I32, "in, at least 1"),
                Field("outputs", I32, "out, at least 1"),
                *(() if wide else (blocks.output_offset(),)),
                Field("activation", blocks.ACTIVATION_INT16 if wide else blocks.ACTIVATION),
            ),
        ),
        priced_as="fully_connected_vectors" if nibbles else "",
    )


KERNEL = kernel_of(Element.INT8)
HELPERS = ("runtime/kernels/fully_connected/row_vectors_{isa}.S",)


class FullyConnectedVectors(OwnImplementation):
    """A load of 16 inputs serves eight channels: 19 instructions for 128 products. The zero point of the input is part
    of the bias. The first vector of inputs has those that whole vectors leave, so that nothing behind the row is read
    and no scratch memory is needed.
    """

    name = "fully_connected_vectors"
    op = "fully_connected"
    like = fully_connected.PER_CHANNEL
    element: ClassVar[Element] = Element.INT8
    nibbles: ClassVar[bool] = False  # weights have 4 bits
    isas = frozenset({Isa.MVE})
    assumes = "outputs that leave little of their blocks of 8 empty, and shifts to the right"
    draws: ClassVar[tuple[Draw, ...]] = (
        fully_connected_pairs.draw,
        fully_connected_pairs.draw_whole_blocks,
        fully_connected_as_conv2d.draw,
        fully_connected_as_conv2d.draw_image,
    )
    symbol = Symbol(KERNEL, helpers=HELPERS)

    @property
    def _vector(self) -> int:
        """Inputs of a vector."""
        return VECTOR_BYTES // self.element.nbytes(1)

    @property
    def _per_byte(self) -> int:
        """Weights of a byte."""
        return 2 if self.nibbles else 1

    def why_not(self, node: Node) -> str:
        channels, inputs = node.inputs[1].shape
        spare = blocks_of(channels, CHANNELS) * CHANNELS - channels
        if spare > channels or spare * inputs > max(_MOST_EMPTY * self._per_byte, channels * inputs // 16):
            return f"its weights come in blocks of {CHANNELS} channels, of which {spare} would be empty"
        return self.why_inexact(node)

    def why_inexact(self, node: Node) -> str:
        """Returns why results cannot be requantized, "" if they can."""
        return vector_requantization.why_not(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        channels, inputs = node.inputs[1].shape
        rows = storage.rows_of(node.inputs[0], inputs)
        products = rows * blocks_of(channels, CHANNELS)
        return Features({"rows": rows, "blocks": products, "vectors": products * blocks_of(inputs, self._vector)})

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = node.inputs[1].constant
        channels, inputs = weights.shape
        count, vectors = blocks_of(channels, CHANNELS), blocks_of(inputs, self._vector)
        first = inputs - (vectors - 1) * self._vector
        padded = np.zeros((count * CHANNELS, vectors * self._vector), np.int8)
        padded[:channels, :first] = weights[:, :first]
        padded[:channels, self._vector :] = weights[:, first:]
        products = padded.reshape(count, CHANNELS, vectors, self._vector)
        multiplier, shift = vector_requantization.scales(node)
        # Channels that do not exist have results too, which are not stored.
        scales = np.zeros((3, count * CHANNELS), np.int64)
        sums = node.inputs[2].constant - node.inputs[0].zero_point * weights.sum(1, dtype=np.int64)
        scales[:, :channels] = sums, multiplier, shift
        start, multiplier, shift = scales.reshape(3, count, CHANNELS)
        halves = [np.concatenate([half[:, 0::2], half[:, 1::2]], axis=1) for half in (multiplier, shift)]
        if self.nibbles:
            products = 16 * products[:, 1::2] + products[:, 0::2] + np.int8(8)
            start[:, 0::2] += 16 * start[:, 1::2]
            right, left = np.minimum(halves[1], 0), np.maximum(halves[1], 0)
            halves[1] = np.concatenate([right, left], axis=1).astype(np.int8).view("<i4")
        words = np.ascontiguousarray(products.transpose(0, 2, 1, 3)).reshape(count, -1).view("<i4")
        return {"table": np.concatenate([start, words, *halves], axis=1).astype(np.int32)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        channels, inputs = node.inputs[1].shape
        fields: dict[str, Any] = {
            **refs,
            "blocks": blocks_of(channels, CHANNELS),
            "block_words": (_NIBBLE_SCALE_WORDS if self.nibbles else _SCALE_WORDS)
            + 2 * self._vector * blocks_of(inputs, self._vector) // self._per_byte,
            "batch": storage.rows_of(node.inputs[0], inputs),
            "inputs": inputs,
            "outputs": channels,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
        }
        return fields if self.element is Element.INT16 else {**fields, "output_offset": node.output.zero_point}
