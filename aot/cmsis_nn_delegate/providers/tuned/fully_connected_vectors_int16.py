"""Linear layer of int16, row by row, as products with blocks of 8 channels, for cores with MVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...format import blocks
from ...format.element import Element
from ...format.record import I16, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import block_values, fully_connected, storage
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec
from ..implementation import OwnImplementation, Symbol
from . import fully_connected_as_conv2d, fully_connected_pairs, vector_requantization

_CHANNELS = 8  # of a block
_VECTOR = 8  # inputs
_SCALE_WORDS = 24  # and biases, of a block


def _draw(d: Case) -> Value:
    return fully_connected_pairs.draw(d, Element.INT16)


def _draw_whole_blocks(d: Case) -> Value:
    return fully_connected_pairs.draw_whole_blocks(d, Element.INT16)


def _draw_rows(d: Case) -> Value:
    return fully_connected_as_conv2d.draw(d, Element.INT16)


def _draw_image(d: Case) -> Value:
    return fully_connected_as_conv2d.draw_image(d, Element.INT16)


KERNEL = KernelSpec(
    "fully_connected_vectors_int16",
    Struct(
        "FullyConnectedVectorsInt16Args",
        "int16 linear layer, as fully_connected_int16 computes it, from weights in the order of products.",
        (
            blocks.input("input", I16, "batch", "inputs", doc="int16 [batch, in]"),
            blocks.weight_table(
                "blocks",
                "block_words",
                doc="for each 8 channels: 8 biases; 8 weights of each channel for each 8 inputs, of which the first "
                "may be less; 4 multipliers of the even and 4 of the odd channels; shifts in the same order",
            ),
            blocks.output(I16, "batch", "outputs", doc="int16 [batch, out]"),
            Field("blocks", I32, "outputs / 8, rounded up"),
            Field("block_words", I32, f"{_SCALE_WORDS}, and twice the inputs rounded up to 8"),
            Field("batch", I32, "at least 1"),
            Field("inputs", I32, "in, at least 1"),
            Field("outputs", I32, "out, at least 1"),
            Field("activation", blocks.ACTIVATION_INT16),
        ),
    ),
)


class FullyConnectedVectorsInt16(OwnImplementation):
    """A load of 8 inputs serves eight channels, whose weights are widened where they are loaded: 19 instructions for 64
    products. The first vector of inputs has those that whole vectors leave, so that nothing behind the row is read and
    no scratch memory is needed.
    """

    name = "fully_connected_vectors_int16"
    op = "fully_connected"
    like = fully_connected.INT16
    isas = frozenset({Isa.MVE})
    assumes = "outputs that fill at least half of their blocks of 8, and shifts to the right"
    draws = (_draw, _draw_whole_blocks, _draw_rows, _draw_image)
    symbol = Symbol(KERNEL, helpers=("runtime/kernels/fully_connected/row_vectors_{isa}.S",))

    def why_not(self, node: Node) -> str:
        channels = int(node.inputs[1].shape[0])
        spare = blocks_of(channels, _CHANNELS) * _CHANNELS - channels
        if spare > channels:
            return f"its weights come in blocks of {_CHANNELS} channels, of which {spare} would be empty"
        try:
            vector_requantization.form_of(node)
        except ValueError as error:
            return str(error)
        return ""

    def features(self, node: Node, scratch_bytes: int) -> Features:
        channels, inputs = node.inputs[1].shape
        rows = storage.rows_of(node.inputs[0], inputs)
        products = rows * blocks_of(channels, _CHANNELS)
        return Features({"rows": rows, "blocks": products, "vectors": products * blocks_of(inputs, _VECTOR)})

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = node.inputs[1].constant
        channels, inputs = weights.shape
        count, vectors = blocks_of(channels, _CHANNELS), blocks_of(inputs, _VECTOR)
        first = inputs - (vectors - 1) * _VECTOR
        padded = np.zeros((count * _CHANNELS, vectors * _VECTOR), np.int8)
        padded[:channels, :first] = weights[:, :first]
        padded[:channels, _VECTOR:] = weights[:, first:]
        products = padded.reshape(count, _CHANNELS, vectors, _VECTOR).transpose(0, 2, 1, 3)
        multiplier, shift = vector_requantization.scales(node)
        # Channels that do not exist have results too, which are not stored.
        scales = np.zeros((3, count * _CHANNELS), np.int32)
        scales[:, :channels] = node.inputs[2].constant, multiplier, shift
        bias, multiplier, shift = scales.reshape(3, count, _CHANNELS)
        halves = [half[:, start::2] for half in (multiplier, shift) for start in (0, 1)]
        words = np.ascontiguousarray(products).reshape(count, -1).view("<i4")
        return {"table": np.concatenate([bias, words, *halves], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        channels, inputs = node.inputs[1].shape
        return {
            **refs,
            "blocks": blocks_of(channels, _CHANNELS),
            "block_words": _SCALE_WORDS + 2 * _VECTOR * blocks_of(inputs, _VECTOR),
            "batch": storage.rows_of(node.inputs[0], inputs),
            "inputs": inputs,
            "outputs": channels,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
        }
