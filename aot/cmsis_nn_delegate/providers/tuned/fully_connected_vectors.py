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
_MOST_EMPTY = 512  # bytes of weights of channels that are not there


def kernel_of(element: Element) -> KernelSpec:
    """Returns the kernel for inputs and outputs of `element`, int8 or int16."""
    wide = element is Element.INT16
    scalar, kind, vector = I16 if wide else I8, element.value, VECTOR_BYTES // element.nbytes(1)
    name, like = (named_for(what, scalar) for what in ("fully_connected_vectors", "fully_connected"))
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{kind} linear layer, as {like} computes it, from weights in the order of products.",
            (
                blocks.input("input", scalar, "batch", "inputs", doc=f"{kind} [batch, in]"),
                blocks.weight_table(
                    "blocks",
                    "block_words",
                    doc=f"for each 8 channels: 8 sums for inputs of 0; {vector} weights of each channel for each "
                    f"{vector} inputs, of which the first may be less; 4 multipliers of the even and 4 of the odd "
                    "channels; shifts in the same order",
                ),
                blocks.output(scalar, "batch", "outputs", doc=f"{kind} [batch, out]"),
                Field("blocks", I32, "outputs / 8, rounded up"),
                Field("block_words", I32, f"{_SCALE_WORDS}, and twice the inputs rounded up to {vector}"),
                Field("batch", I32, "at least 1"),
                Field("inputs", I32, "in, at least 1"),
                Field("outputs", I32, "out, at least 1"),
                *(() if wide else (blocks.output_offset(),)),
                Field("activation", blocks.ACTIVATION_INT16 if wide else blocks.ACTIVATION),
            ),
        ),
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

    def why_not(self, node: Node) -> str:
        channels, inputs = node.inputs[1].shape
        spare = blocks_of(channels, CHANNELS) * CHANNELS - channels
        if spare > channels or spare * inputs > max(_MOST_EMPTY, channels * inputs // 16):
            return f"its weights come in blocks of {CHANNELS} channels, of which {spare} would be empty"
        try:
            vector_requantization.form_of(node)
        except ValueError as error:
            return str(error)
        return ""

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
        products = padded.reshape(count, CHANNELS, vectors, self._vector).transpose(0, 2, 1, 3)
        multiplier, shift = vector_requantization.scales(node)
        start = node.inputs[2].constant - node.inputs[0].zero_point * weights.sum(1, dtype=np.int64)
        # Channels that do not exist have results too, which are not stored.
        scales = np.zeros((3, count * CHANNELS), np.int32)
        scales[:, :channels] = start.astype(np.int32), multiplier, shift
        start, multiplier, shift = scales.reshape(3, count, CHANNELS)
        halves = [half[:, parity::2] for half in (multiplier, shift) for parity in (0, 1)]
        words = np.ascontiguousarray(products).reshape(count, -1).view("<i4")
        return {"table": np.concatenate([start, words, *halves], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        channels, inputs = node.inputs[1].shape
        fields: dict[str, Any] = {
            **refs,
            "blocks": blocks_of(channels, CHANNELS),
            "block_words": _SCALE_WORDS + 2 * self._vector * blocks_of(inputs, self._vector),
            "batch": storage.rows_of(node.inputs[0], inputs),
            "inputs": inputs,
            "outputs": channels,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
        }
        return fields if self.element is Element.INT16 else {**fields, "output_offset": node.output.zero_point}
