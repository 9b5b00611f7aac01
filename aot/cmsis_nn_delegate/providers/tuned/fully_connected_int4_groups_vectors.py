"""The linear layer of `fully_connected_int4_groups_pairs` for cores with MVE."""

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
from ...ops.kernel import KernelSpec
from ...ops.registry import OPS
from ..implementation import OwnImplementation, Symbol
from . import fully_connected_int4_groups_pairs

_CHANNELS = 8  # of a block
_PART = 4  # channels that are requantized together
_VECTOR = 16  # inputs
_QUAD = 4  # groups
_SCALE_WORDS = 20  # of a block: biases, multipliers and shifts

KERNEL = KernelSpec(
    "fully_connected_int4_groups_vectors",
    Struct(
        "FullyConnectedInt4GroupsVectorsArgs",
        "int8 linear layer, as fully_connected_int4_groups computes it, from weights in the order of products.",
        (
            blocks.input("input", I8, "batch", "groups", "group", doc="int8 [batch, groups, group]"),
            blocks.weight_table(
                "blocks",
                "block_words",
                doc="for each 8 channels: for each 16 inputs, 16 bytes for each even channel, each of which is its "
                "weight plus 8 plus 16 times that of the next channel; for each 4 channels: for each 4 groups, 4 int16 "
                "factors of each; 4 int32 biases; 4 int32 multipliers; 4 int8 shifts to the right, and 4 to the left",
            ),
            blocks.output(I8, "batch", "outputs", doc="int8 [batch, out]"),
            blocks.scratch(),
            Field("scratch_bytes", I32),
            Field("blocks", I32, "outputs / 8, rounded up"),
            Field("block_words", I32, "20, the inputs, and 4 times the groups rounded up to 4"),
            *fully_connected_int4_groups_pairs.numbers(_VECTOR),
        ),
    ),
)


def _draw(d: Case) -> Value:
    return fully_connected_int4_groups_pairs.draw(d, _VECTOR)


def _draw_largest(d: Case) -> Value:
    return fully_connected_int4_groups_pairs.draw_largest(d, _VECTOR)


class FullyConnectedInt4GroupsVectors(OwnImplementation):
    """Like fully_connected_int4_vectors in each group, whose sums go to scratch memory. There they are multiplied with
    their factors, four groups at a time, and added up in 64 bits."""

    name = "fully_connected_int4_groups_vectors"
    op = fully_connected_groups.FullyConnectedGroups.name
    like = fully_connected_groups.KERNEL
    isas = frozenset({Isa.MVE})
    assumes = "groups of 16 inputs, or a multiple, and outputs that leave little of their blocks of 8 empty"
    draws = (_draw, _draw_largest)
    symbol = Symbol(KERNEL, helpers=("runtime/kernels/fully_connected_groups/group_vectors_{isa}.S",))

    def why_not(self, node: Node) -> str:
        outputs, inputs = node.inputs[1].shape
        group = inputs // node.inputs[2].shape[1]
        if group % _VECTOR:
            return f"it computes groups of a multiple of {_VECTOR} inputs, not of {group}"
        return fully_connected_int4_groups_pairs.why_empty(outputs, inputs)

    def scratch_bytes(self, node: Node) -> int:
        """For each group the sums of a block, and that of its inputs."""
        return 4 * (_CHANNELS + 1) * _QUAD * blocks_of(node.inputs[2].shape[1], _QUAD)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        outputs, row_size = node.inputs[1].shape
        rows = storage.rows_of(node.inputs[0], row_size)
        done, groups, parts = rows * blocks_of(outputs, _CHANNELS), node.inputs[2].shape[1], blocks_of(outputs, _PART)
        return Features(
            {
                "groups": rows * groups,
                "groups of blocks": done * groups,
                "outputs by 4": rows * parts,
                "sums by 16": rows * parts * blocks_of(groups, _QUAD),
                "vectors": done * row_size // _VECTOR,
                "vectors of inputs": rows * row_size // _VECTOR,
            }
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights, factors = (value.constant for value in node.inputs[1:3])
        own = OPS[node.op].constants(node)
        outputs, groups = factors.shape
        count, quads, parts = blocks_of(outputs, _CHANNELS), blocks_of(groups, _QUAD), _CHANNELS // _PART
        padded = np.zeros((count * _CHANNELS, weights.shape[1]), np.int8)
        padded[:outputs] = weights
        vectors = padded.reshape(count, _CHANNELS, -1, _VECTOR).transpose(0, 2, 1, 3)
        # [block, vector, channel / 2, input]
        pairs = 16 * vectors[:, :, 1::2] + vectors[:, :, 0::2] + np.int8(8)
        filled = np.zeros((count * _CHANNELS, quads * _QUAD), "<i2")
        filled[:outputs, :groups] = factors
        # [block, part, quad, channel, group]
        of_parts = filled.reshape(count, parts, _PART, quads, _QUAD).transpose(0, 1, 3, 2, 4)
        scales = np.zeros((3, count * _CHANNELS), np.int32)
        scales[:, :outputs] = own["bias"], own["multiplier"], own["shift"]
        bias, multiplier, shift = scales.reshape(3, count, parts, _PART)
        shifts = np.concatenate([np.minimum(shift, 0), np.maximum(shift, 0)], axis=2).astype(np.int8)
        ends = [_words(of_parts.reshape(count, parts, -1)), bias, multiplier, _words(shifts)]
        table = [_words(pairs.reshape(count, -1)), np.concatenate(ends, axis=2).reshape(count, -1)]
        return {"table": np.concatenate(table, axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        outputs, groups = node.inputs[2].shape
        return {
            **OPS[node.op].encode(node, refs, scratch_bytes),
            "scratch_bytes": scratch_bytes,
            "blocks": blocks_of(outputs, _CHANNELS),
            "block_words": _SCALE_WORDS + node.inputs[1].shape[1] + 4 * _QUAD * blocks_of(groups, _QUAD),
        }


def _words(array: np.ndarray) -> np.ndarray:
    """Returns int32 of an array whose last axis is a whole number of words."""
    return np.ascontiguousarray(array).view("<i4")
