"""Linear layer of one row as products of 8 channels, for cores without MVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...format import blocks
from ...format.element import Element
from ...format.record import I8, I16, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import block_values, fully_connected, storage
from ...ops.case import Case
from ...ops.features import Features
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol
from . import pair_table, requantization
from .requantization import Form

CHANNELS = 8  # of a block
HELPERS = ("runtime/kernels/common/row_products_{isa}.S",)


def draw(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    """`element` is the type of inputs, here and below."""
    x = d.input(1, d.pick(d.integer(1, 20), d.integer(20, 300)), element=element)
    return d.maybe_relu(
        d.fully_connected(x, d.integer(1, 40), d.clamp(), per_tensor=d.pick(False, True), element=weights)
    )


def draw_whole_blocks(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    x = d.input(1, 8 * d.integer(1, 40), element=element)
    return d.maybe_relu(
        d.fully_connected(x, 8 * d.integer(1, 6), d.clamp(), per_tensor=d.pick(False, True), element=weights)
    )


def struct(
    name: str,
    doc: str,
    element: Element = Element.INT8,
    *,
    table: str = "for each 8 channels: 8 sums for inputs of 0; the weights of 2 channels and 2 inputs per word",
    block_words: str = "8, and twice the inputs rounded up to 8",
) -> Struct:
    """Returns the argument block for inputs and outputs of `element`, int8 or int16; `table` and `block_words` are docs
    of fields."""
    scalar = I16 if element is Element.INT16 else I8
    return Struct(
        name,
        doc,
        (
            blocks.input("input", scalar, "inputs", doc=f"{element.value} [in]"),
            blocks.weight_table("blocks", "block_words", doc=table),
            blocks.scales("scale_words", doc="(shift + 2^8 * value, multiplier) of each channel, or of all"),
            blocks.output(scalar, "outputs", doc=f"{element.value} [out]"),
            Field("blocks", I32, "outputs / 8, rounded up"),
            Field("block_words", I32, block_words),
            Field("scale_words", I32, "2, or 2 * outputs"),
            Field("form", I32, "of the requantization, see requantization.py", low=0, high=max(Form)),
            Field("inputs", I32, "in, at least 1"),
            Field("outputs", I32, "out, at least 1"),
            Field("activation", blocks.ACTIVATION_INT16 if element is Element.INT16 else blocks.ACTIVATION),
        ),
    )


KERNEL = KernelSpec(
    "fully_connected_pairs",
    struct(
        "FullyConnectedPairsArgs",
        "int8 linear layer of one row, as fully_connected computes it, from weights in the order of the products.",
    ),
)
INT16 = KernelSpec(
    "fully_connected_pairs_int16",
    struct(
        "FullyConnectedPairsInt16Args",
        "int16 linear layer of one row, as fully_connected_int16 computes it, from weights in the order of products.",
        Element.INT16,
    ),
)


class FullyConnectedPairs(OwnImplementation):
    """With DSP, each pair of inputs is multiplied with those of eight channels in eight SMLAD; SXTB16 makes pairs of
    the inputs where they are needed, so there is no scratch memory. Without it, a load of an input serves four
    channels. The zero point of the input is part of the bias.
    """

    name = "fully_connected_pairs"
    op = "fully_connected"
    like = fully_connected.PER_CHANNEL
    isas = frozenset({Isa.SCALAR, Isa.DSP})
    assumes = "one row, outputs that nearly fill blocks of 8, and sums that fit one of the forms of requantization"
    draws: ClassVar[tuple[Draw, ...]] = (draw, draw_whole_blocks)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_not(self, node: Node) -> str:
        channels, inputs = node.inputs[1].shape
        rows = storage.rows_of(node.inputs[0], inputs)
        if rows != 1:
            return f"it computes one row, not {rows}"
        spare = pair_table.blocks(channels, CHANNELS) * CHANNELS - channels
        if 4 * spare > channels:
            return f"its weights come in blocks of {CHANNELS} channels, of which {spare} would be empty"
        return self.why_inexact(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        channels, inputs = node.inputs[1].shape
        blocks = pair_table.blocks(channels, CHANNELS)
        form = self.form(node)
        return Features(
            {
                "blocks": blocks,
                "outputs": channels,
                "outputs of form ANY": channels if form is Form.ANY else 0,
                "steps": blocks * (inputs // pair_table.DEPTH),
                "last inputs": blocks * (inputs % pair_table.DEPTH),
            }
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": self.sums(node), "scales": self._scales(node)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        channels, inputs = node.inputs[1].shape
        return {
            **refs,
            "blocks": pair_table.blocks(channels, CHANNELS),
            "block_words": self.sum_words(inputs),
            "scale_words": self._scales(node).size,
            "form": self.form(node),
            "inputs": inputs,
            "outputs": channels,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
        }

    def _scales(self, node: Node) -> np.ndarray:
        """int32 [channels, PACKED_WORDS], or [1, PACKED_WORDS] if all channels are requantized alike."""
        scales = self.scales(node)
        return scales[:1] if (scales == scales[0]).all() else scales

    def why_inexact(self, node: Node) -> str:
        """Returns why no form of requantization is exact, "" if one is."""
        return requantization.why_none(node, node.inputs[1].constant)

    def form(self, node: Node) -> Form:
        return requantization.form(node, node.inputs[1].constant)

    def scales(self, node: Node) -> np.ndarray:
        """Returns what requantizes the channels, int32 [channels, PACKED_WORDS]."""
        return requantization.packed(node, self.form(node))

    def weights(self, node: Node) -> np.ndarray:
        """Returns int8 [channels, inputs], in the order in which the kernel reads them."""
        return node.inputs[1].constant

    def sums(self, node: Node) -> np.ndarray:
        """Returns int32 [blocks, words]: sums for inputs of 0 and weights."""
        return pair_table.sums(node, self.weights(node), CHANNELS)

    def sum_words(self, inputs: int) -> int:
        """Returns the size of a block of `sums` in words."""
        return pair_table.sum_words(inputs, CHANNELS)
