"""Linear layer with weights of 4 bits and a scale for each group of inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import I4, I8, I16, I32, Field, Role, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant
from . import block_values, per_channel_requantize, storage
from .annotation import NotAnnotated
from .attrs import GroupedAttrs
from .case import Case
from .features import Features
from .group_factors import LARGEST_FACTOR, MAX_NARROWING, by_group
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op
from .quantized_math import wrap32

KERNEL = KernelSpec(
    "fully_connected_int4_groups",
    Struct(
        "FullyConnectedInt4GroupsArgs",
        "int8 linear layer with weights of 4 bits, packed as in FullyConnectedInt4Args, and a factor for each group of "
        "inputs of each output. acc = bias + ((sum over groups (factor * (filter @ input of the group)) + half) >> "
        "narrowing), with half = 2^narrowing / 2, rounded down; the sum of a group has 32 bits, that over groups 64, "
        "and acc 32. The bias already contains what the zero point of the input adds.",
        (
            blocks.input("input", I8, "batch", "groups", "group", doc="int8 [batch, groups, group]"),
            blocks.filter("outputs", "groups", "group", doc="int4 [out, groups, group]", element=I4),
            blocks.operand(Role.FILTER, "factors", I16, ("outputs", "groups"), "int16 [out, groups], >= 0"),
            blocks.bias("outputs", doc="int32 [out], effective bias"),
            blocks.multipliers("outputs", doc="int32 [out], Q31, >= 0"),
            blocks.shifts("outputs", doc="int32 [out], left if positive, [-31, 30]"),
            blocks.output(I8, "batch", "outputs", doc="int8 [batch, out]"),
            Field("batch", I32, "at least 1"),
            blocks.output_offset(),
            Field("groups", I32, "of a row, at least 1"),
            Field("group", I32, "inputs of a group, at least 1"),
            Field("outputs", I32, "out, at least 1"),
            Field("narrowing", I32, "bits that the sum over groups loses", low=0, high=MAX_NARROWING),
            Field("activation", blocks.ACTIVATION),
        ),
    ),
)


def _draw(d: Case) -> Value:
    """Also groups of odd length, which begin within a byte."""
    return grouped(d, d.pick(d.integer(1, 9), 2 * d.integer(1, 9), 16, 32), d.integer(1, 9), d.integer(1, 20))


def _draw_wide(d: Case) -> Value:
    """Groups as tools make them."""
    return grouped(d, d.pick(32, 64, 128), d.integer(2, 5), d.integer(1, 12))


def grouped(d: Case, group: int, groups: int, outputs: int) -> Value:
    """Returns the output of a random node with `groups` groups of `group` inputs."""
    x = d.input(d.batch(), groups * group)
    (weight, bias), quant = d.weights(x, (outputs, groups * group), Element.INT4)
    # With a narrowing of more bits than the factors have, most of them do not matter.
    narrowing = d.pick(0, d.integer(0, 12), d.integer(0, MAX_NARROWING))
    ratio = LARGEST_FACTOR / 2.0**narrowing
    assert weight.quant is not None
    weight.retype(quant=Quant(tuple(scale / ratio for scale in weight.quant.scale), 0, axis=0))
    factors = d.constant((outputs, groups), Element.INT16, 0, LARGEST_FACTOR)
    bias = replace(bias, data=np.clip(bias.constant * ratio, -(2**30), 2**30).astype(np.int32))
    return d.node("fully_connected_groups", [x, weight, factors, bias], GroupedAttrs(narrowing, d.clamp()), quant)


class FullyConnectedGroups(Op):
    """acc = bias + sum over groups (factor * (weight @ (x - zero point))), requantized per output.

    Each group of inputs has a scale for each output, which is the output's scale times an integer of 15 bits, the
    factor: see `group_factors`. As in `fully_connected`, what the zero point adds is in the bias.
    """

    name = "fully_connected_groups"
    annotation = NotAnnotated("it computes what fully_connected is, which is annotated")
    attrs = GroupedAttrs
    kernels = (KERNEL,)
    draws = (_draw, _draw_wide)
    shapeless_input = True
    shapeless_output = True
    layouts = Layouts.ROW_MAJOR

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        """[rows, out]; the importer gives the rows the dimensions that they have in PyTorch."""
        outputs, row_size = inputs[1].shape
        return storage.rows_of(inputs[0], row_size), outputs

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        _, weight, factors, bias = node.inputs
        outputs, groups = factors.shape
        rows = inputs[0].reshape(-1, groups, weight.shape[1] // groups)
        by_outputs = weight.constant.reshape(outputs, groups, -1).astype(np.int64)
        sums = wrap32(np.einsum("ngk,ogk->nog", rows.astype(np.int64), by_outputs)).astype(np.int64)
        total = _narrowed((sums * factors.constant.astype(np.int64)).sum(axis=2), node.attrs.narrowing)
        return per_channel_requantize.finish(node, total, self._bias(node)).reshape(node.output.storage_shape)

    def macs(self, node: Node) -> int:
        return node.output.numel * node.inputs[1].shape[1]

    def features(self, node: Node) -> Features:
        """Two weights share a byte, and one of a group of odd length stands alone."""
        outputs, groups = node.inputs[2].shape
        row_size = node.inputs[1].shape[1]
        rows = storage.rows_of(node.inputs[0], row_size)
        pairs, single = divmod(row_size // groups, 2)
        done = rows * outputs * groups
        return Features(
            {
                "groups": done,
                "outputs": rows * outputs,
                "pairs of products": done * pairs,
                "rows": rows,
                "single products": done * single,
            }
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weight, factors = node.inputs[1:3]
        multiplier, shift = per_channel_requantize.output_multipliers(node)
        return {
            "filter": weight.type.packed(weight.constant),
            "factors": factors.constant,
            "bias": self._bias(node),
            "multiplier": multiplier,
            "shift": shift,
        }

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        outputs, groups = node.inputs[2].shape
        row_size = node.inputs[1].shape[1]
        sizes = block_values.dims(storage.rows_of(node.inputs[0], row_size), groups, outputs, row_size // groups)
        return {
            **refs,
            "batch": sizes["n"],
            "groups": sizes["h"],
            "group": sizes["c"],
            "outputs": sizes["w"],
            "narrowing": node.attrs.narrowing,
            "output_offset": node.output.zero_point,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
        }

    def _bias(self, node: Node) -> np.ndarray:
        """int32 [out]: the bias with what the input's zero point adds."""
        x, weight, factors, bias = node.inputs
        sums = by_group(weight.constant, factors.shape[1]) * factors.constant.astype(np.int64)
        zero = _narrowed(-x.zero_point * sums.sum(axis=1), node.attrs.narrowing)
        folded: np.ndarray = wrap32(bias.constant + zero).astype(np.int32)
        return folded


def _narrowed(sums: np.ndarray, bits: int) -> np.ndarray:
    """Sums / 2^bits, rounded half up."""
    narrowed: np.ndarray = (sums + ((1 << bits) >> 1)) >> bits
    return narrowed
