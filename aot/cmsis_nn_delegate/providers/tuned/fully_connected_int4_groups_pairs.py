"""Linear layer with weights of 4 bits and a factor for each group of inputs, as products of 8 channels, for cores with
DSP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...format import blocks
from ...format.record import I8, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import fully_connected_groups, storage
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.group_factors import MAX_NARROWING, by_group
from ...ops.kernel import KernelSpec
from ...ops.registry import OPS
from ..implementation import OwnImplementation, Symbol
from . import nibble_table, pair_table

_CHANNELS = 8  # of a block
_DEPTH = pair_table.DEPTH
_MOST_EMPTY = 1024  # weights of channels that are not there


def numbers(step: int) -> tuple[Field, ...]:
    """Returns those of the argument block of a kernel for groups of a multiple of `step` inputs."""
    return (
        Field("batch", I32, "at least 1"),
        blocks.output_offset(),
        Field("groups", I32, "of a row, at least 1"),
        Field("group", I32, f"inputs of a group, a multiple of {step}, at least that"),
        Field("outputs", I32, "out, at least 1"),
        Field("narrowing", I32, "bits that the sum over groups loses", low=0, high=MAX_NARROWING),
        Field("activation", blocks.ACTIVATION),
    )


KERNEL = KernelSpec(
    "fully_connected_int4_groups_pairs",
    Struct(
        "FullyConnectedInt4GroupsPairsArgs",
        "int8 linear layer, as fully_connected_int4_groups computes it, from weights in the order of the products.",
        (
            blocks.input("input", I8, "batch", "groups", "group", doc="int8 [batch, groups, group]"),
            blocks.weight_table(
                "blocks",
                "block_words",
                doc="for each 8 channels and each group: the weights of 4 channels and 2 inputs per word, 8 more than "
                "they are but for the last of 4 channels, the first input in the lower half, the first channel in its "
                "lowest bits; 8 int16 factors",
            ),
            blocks.bias("outputs", doc="int32 [out], effective bias"),
            blocks.multipliers("outputs", doc="int32 [out], Q31, >= 0"),
            blocks.shifts("outputs", doc="int32 [out], left if positive, [-31, 30]"),
            blocks.output(I8, "batch", "outputs", doc="int8 [batch, out]"),
            blocks.scratch(),
            Field("scratch_bytes", I32),
            Field("blocks", I32, "outputs / 8, rounded up"),
            Field("block_words", I32, "groups * (group + 4)"),
            *numbers(_DEPTH),
        ),
    ),
)
# Of the operator's argument block, in the place of which there is a table.
_IN_TABLE = ("filter", "factors")


def draw(d: Case, step: int = _DEPTH) -> Value:
    """Groups of few inputs, a multiple of `step`, or as tools make them, and blocks that channels do not fill."""
    group = d.pick(step * d.integer(1, 9), 32, 64, 128)
    return fully_connected_groups.grouped(d, group, d.integer(1, 9), d.integer(4, 40))


def draw_largest(d: Case, step: int = _DEPTH) -> Value:
    """Groups of about as many inputs as the sums of the kernel for DSP have room for. Some channels have the largest
    weights."""
    group = step * d.integer(400 // step, 504 // step)
    output = fully_connected_groups.grouped(d, group, d.integer(1, 3), d.integer(4, 20))
    weight = d.nodes[-1].inputs[1]
    for channel in range(0, len(weight.constant), 3):
        weight.constant[channel] = d.pick(-8, 7)
    return output


def why_empty(outputs: int, inputs: int) -> str:
    """Returns why blocks of 8 channels are no gain for `outputs` channels, "" if they are."""
    spare = blocks_of(outputs, _CHANNELS) * _CHANNELS - outputs
    if spare > outputs or spare * inputs > max(_MOST_EMPTY, outputs * inputs // 4):
        return f"its weights come in blocks of {_CHANNELS} channels, of which {spare} would be empty"
    return ""


class FullyConnectedInt4GroupsPairs(OwnImplementation):
    """Inputs are widened once for all channels. 16 bits are the weights of four channels for an input, as in
    conv2d_int4_pairs, so that 16 products take 15 instructions. The sums of a group start with what the 8 that weights
    are too much would add, and are multiplied with their factors into sums of 64 bits.
    """

    name = "fully_connected_int4_groups_pairs"
    op = fully_connected_groups.FullyConnectedGroups.name
    like = fully_connected_groups.KERNEL
    isas = frozenset({Isa.DSP})
    assumes = "groups of 8 inputs, or a multiple, whose sums fit 19 bits, and outputs that nearly fill blocks of 8"
    draws = (draw, draw_largest)
    symbol = Symbol(KERNEL, helpers=("runtime/kernels/fully_connected_groups/group_pairs_{isa}.S",))

    def why_not(self, node: Node) -> str:
        weights, factors = (value.constant for value in node.inputs[1:3])
        outputs, groups = factors.shape
        inputs = weights.shape[1]
        if (inputs // groups) % _DEPTH:
            return f"it computes groups of a multiple of {_DEPTH} inputs, not of {inputs // groups}"
        if found := why_empty(outputs, inputs):
            return found
        products = -node.inputs[0].element.low * by_group(np.abs(weights.astype(np.int64)), groups)
        if (products >= 1 << (31 - nibble_table.BITS)).any():
            return f"the sum of a group may exceed {31 - nibble_table.BITS} bits"
        return ""

    def scratch_bytes(self, node: Node) -> int:
        """For each group a sum, and all inputs of a row in 16 bits."""
        return blocks_of(4 * node.inputs[2].shape[1] + 2 * node.inputs[1].shape[1], 16) * 16

    def features(self, node: Node, scratch_bytes: int) -> Features:
        outputs, row_size = node.inputs[1].shape
        rows = storage.rows_of(node.inputs[0], row_size)
        done, groups = rows * blocks_of(outputs, _CHANNELS), node.inputs[2].shape[1]
        return Features(
            {
                "blocks": done,
                "groups": rows * groups,
                "groups of blocks": done * groups,
                "inputs": rows * row_size,
                "outputs": rows * outputs,
                "steps": done * row_size // _DEPTH,
            }
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        own = OPS[node.op].constants(node)
        return {"table": _table(node), **{name: own[name] for name in own if name not in _IN_TABLE}}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        outputs, groups = node.inputs[2].shape
        return {
            **OPS[node.op].encode(node, refs, scratch_bytes),
            "scratch_bytes": scratch_bytes,
            "blocks": blocks_of(outputs, _CHANNELS),
            "block_words": node.inputs[1].shape[1] + groups * _CHANNELS // 2,
        }


def _table(node: Node) -> np.ndarray:
    """Returns int32 [blocks, words]."""
    weights, factors = (value.constant for value in node.inputs[1:3])
    outputs, groups = factors.shape
    words = nibble_table.joint(weights, _CHANNELS)
    count = len(words)
    padded = np.zeros((count * _CHANNELS, groups), "<i2")
    padded[:outputs] = factors
    of_groups = np.ascontiguousarray(padded.reshape(count, _CHANNELS, groups).transpose(0, 2, 1)).view("<i4")
    found: np.ndarray = np.concatenate([words.reshape(count, groups, -1), of_groups], axis=2)
    return found.reshape(count, -1)
