"""Convolutions in several groups: the products of those of one group, one group after the other."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Optional

from ...format.element import Element
from ...format.record import Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import Symbol
from . import block_args, conv2d_pairs, conv2d_pairs_int16, conv2d_vectors, conv2d_vectors_int16, vector_table
from .conv2d_pairs import Conv2dPairs
from .conv2d_pairs_int16 import Conv2dPairsInt16
from .conv2d_vectors import Conv2dVectors
from .conv2d_vectors_int16 import INT16_HELPERS, Conv2dVectorsInt16
from .drawing import typed
from .requantization import Form
from .vector_requantization import VectorForm

# Of a group, for kernels with DSP: the places of fewer in the padding take longer than their products save.
_LEAST_INPUTS_OF_PAIRS = 4


def _draw_windows(d: Case, element: Element = Element.INT8) -> Value:
    """`element` is the type of inputs, here and below."""
    kernel, groups = d.pair(1, 4), d.integer(2, 4)
    x = d.image(d.batch(), groups * d.integer(_LEAST_INPUTS_OF_PAIRS, 9), kernel, element=element)
    channels = groups * 4 * d.integer(1, 3)
    strides = d.pair(1, 3), d.padding(kernel)
    return d.maybe_relu(d.conv2d(x, channels, kernel, *strides, groups=groups, clamp=d.clamp()))


def _draw_wide(d: Case, element: Element = Element.INT8) -> Value:
    """Windows of several vectors, in rows of several tiles or tiles of several rows."""
    groups = d.integer(2, 5)
    size = d.integer(3, 9), d.pick(d.integer(3, 6), d.integer(10, 40))
    x = d.input(d.batch(), groups * d.pick(4, 8, 16, d.integer(_LEAST_INPUTS_OF_PAIRS, 20)), *size, element=element)
    channels = groups * 4 * d.integer(1, 3)
    return d.maybe_relu(d.conv2d(x, channels, (3, 3), d.pair(1, 2), d.padding((3, 3)), groups=groups, clamp=d.clamp()))


def _draw_pointwise(d: Case, element: Element = Element.INT8) -> Value:
    groups = d.integer(2, 5)
    inputs = d.pick(d.integer(_LEAST_INPUTS_OF_PAIRS, 20), 16 * d.integer(1, 4))
    x = d.input(d.batch(), groups * inputs, *d.pair(1, 7), element=element)
    channels, stride = groups * 4 * d.integer(1, 3), d.pick((1, 1), (1, 1), d.pair(1, 3))
    return d.maybe_relu(d.conv2d(x, channels, (1, 1), stride, groups=groups, clamp=d.clamp()))


def _draw_dilated(d: Case, element: Element = Element.INT8) -> Value:
    kernel, dilation, groups = d.pair(1, 3), d.pair(1, 3), d.integer(2, 3)
    x = d.image(d.batch(), groups * d.integer(_LEAST_INPUTS_OF_PAIRS, 9), kernel, dilation, element=element)
    strides = d.pair(1, 2), d.padding(kernel, dilation), dilation
    return d.maybe_relu(d.conv2d(x, groups * 4, kernel, *strides, groups=groups, clamp=d.clamp()))


def _draw_few_inputs(d: Case, element: Element = Element.INT8) -> Value:
    """For kernels with MVE."""
    kernel, groups = d.pair(1, 3), d.integer(2, 4)
    x = d.image(d.batch(), groups * d.integer(2, 3), kernel, element=element)
    return d.maybe_relu(
        d.conv2d(x, groups * 4, kernel, d.pair(1, 2), d.padding(kernel), groups=groups, clamp=d.clamp())
    )


_DRAWS_OF_PAIRS: tuple[Draw, ...] = (_draw_windows, _draw_wide, _draw_pointwise, _draw_dilated)
_DRAWS: tuple[Draw, ...] = (_draw_windows, _draw_wide, _draw_pointwise, _draw_few_inputs)


def _struct(
    name: str, single: str, kernel: KernelSpec, block: int, forms: type[enum.IntEnum], element: Element
) -> Struct:
    """Returns the argument block called `name`, for several of the groups that `single` computes one of by `kernel`."""
    words = {field.name: field.doc for field in kernel.args.fields}
    return block_args.struct(
        name,
        f"{element.value} convolution of several groups, as {single} computes it, from weights in the order of the "
        "products. A group has filter_dims.c inputs.",
        table=f"as of {kernel.name}, one group after the other; a group has a multiple of {block} output channels",
        block_count=f"output_dims.c / {block}",
        block_words=words["block_words"],
        forms=forms,
        element=element,
    )


PAIRS = KernelSpec(
    "conv2d_grouped_pairs",
    _struct("Conv2dGroupedPairsArgs", "conv2d", conv2d_pairs.KERNEL, 4, Form, Element.INT8),
)
PAIRS_INT16 = KernelSpec(
    "conv2d_grouped_pairs_int16",
    _struct("Conv2dGroupedPairsInt16Args", "conv2d_large_int16", conv2d_pairs_int16.KERNEL, 4, Form, Element.INT16),
)
VECTORS = KernelSpec(
    "conv2d_grouped_vectors",
    _struct("Conv2dGroupedVectorsArgs", "conv2d", conv2d_vectors.KERNEL, 2, VectorForm, Element.INT8),
)
VECTORS_INT16 = KernelSpec(
    "conv2d_grouped_vectors_int16",
    _struct(
        "Conv2dGroupedVectorsInt16Args", "conv2d_large_int16", conv2d_vectors_int16.KERNEL, 2, VectorForm, Element.INT16
    ),
    priced_as="conv2d_grouped_vectors",
)


def _why_not(node: Node, block: int, least: int) -> str:
    """Returns why the groups of `node` are not computed one after the other, "" if they can be. Blocks of the table
    have `block` channels of one group, so that the table of all channels is that of the groups, one after the other.
    `least` is how many inputs a group must have."""
    groups, (outputs, inputs) = node.attrs.groups, node.inputs[1].shape[:2]
    if groups == 1:
        return "it computes several groups"
    if inputs < least:
        return f"it computes groups of {least} input channels and more, not {inputs}"
    if outputs // groups % block:
        return f"a group has {outputs // groups} output channels, not a multiple of {block}"
    return ""


def _as_one(node: Node) -> Node:
    """Returns `node` with one group, for what is not about inputs."""
    return replace(node, attrs=replace(node.attrs, groups=1))


class Conv2dGroupedPairs(Conv2dPairs):
    """The windows of a group have a few channels of each pixel."""

    name = "conv2d_grouped_pairs"
    isas = frozenset({Isa.DSP})
    assumes = (
        f"several groups with {_LEAST_INPUTS_OF_PAIRS} inputs or more, a multiple of 4 output channels each, and "
        "sums that fit one of the forms of requantization"
    )
    draws = _DRAWS_OF_PAIRS
    symbol = Symbol(PAIRS, helpers=conv2d_pairs.HELPERS)

    def why_not(self, node: Node) -> str:
        return _why_not(node, conv2d_pairs.CHANNELS, _LEAST_INPUTS_OF_PAIRS) or super().why_not(_as_one(node))

    def distance(self, node: Node) -> Optional[int]:
        return None


class Conv2dGroupedPairsInt16(Conv2dPairsInt16):
    """The same of int16."""

    name = "conv2d_grouped_pairs_int16"
    like = conv2d.LARGE_INT16
    assumes = (
        f"several groups with {_LEAST_INPUTS_OF_PAIRS} inputs or more, a multiple of 4 output channels each, and "
        "outputs whose steps are at least four times those of sums"
    )
    draws = typed(_DRAWS_OF_PAIRS, element=Element.INT16)
    symbol = Symbol(PAIRS_INT16, helpers=conv2d_pairs_int16.HELPERS)

    def why_not(self, node: Node) -> str:
        return _why_not(node, conv2d_pairs.CHANNELS, _LEAST_INPUTS_OF_PAIRS) or super().why_not(_as_one(node))

    def distance(self, node: Node) -> Optional[int]:
        return None


class Conv2dGroupedVectors(Conv2dVectors):
    """The windows of a group have a few channels of each pixel."""

    name = "conv2d_grouped_vectors"
    assumes = (
        "several groups with two input channels or more, an even number of output channels each, two or more output "
        "pixels, windows without gaps, and shifts to the right"
    )
    draws = _DRAWS
    symbol = Symbol(VECTORS, helpers=conv2d_vectors.HELPERS)

    def why_not(self, node: Node) -> str:
        return _why_not(node, vector_table.CHANNELS, 2) or super().why_not(_as_one(node))

    def distance(self, node: Node) -> Optional[int]:
        return None


class Conv2dGroupedVectorsInt16(Conv2dVectorsInt16):
    """The same of int16."""

    name = "conv2d_grouped_vectors_int16"
    like = conv2d.LARGE_INT16
    assumes = Conv2dGroupedVectors.assumes
    draws = typed(_DRAWS, element=Element.INT16)
    symbol = Symbol(VECTORS_INT16, helpers=INT16_HELPERS)

    def why_not(self, node: Node) -> str:
        return _why_not(node, vector_table.CHANNELS, 2) or super().why_not(_as_one(node))

    def distance(self, node: Node) -> Optional[int]:
        return None
