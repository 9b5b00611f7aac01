"""Maximum pooling of several channels at a time, for cores with DSP or MVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...format.record import Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...graph.tensor_type import Element
from ...ops import max_pool2d, pooling
from ...ops.case import Case
from ...ops.features import Features
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol
from . import pooled_channels
from .drawing import typed

KERNEL = KernelSpec(
    "max_pool2d_channels",
    Struct(
        "MaxPool2dChannelsArgs",
        f"max_pool2d of {pooled_channels.LEAST_CHANNELS} channels and more.",
        max_pool2d.KERNEL.args.fields,
        geometry="pooling",
    ),
)
INT16_KERNEL = KernelSpec(
    "max_pool2d_channels_int16",
    Struct(
        "MaxPool2dChannelsInt16Args",
        "The same of int16.",
        max_pool2d.INT16.args.fields,
        geometry="pooling",
    ),
)


def _draw(d: Case, element: Element = Element.INT8) -> Value:
    x, attrs = pooled_channels.draw_image(d, element)
    return d.node("max_pool2d", [x], attrs, x.quant)


class MaxPool2dChannels(OwnImplementation):
    """The channels of a pixel lie together: 16 bytes of them, or 32 with MVE, stay in registers while the pixels of a
    window are compared."""

    name = "max_pool2d_channels"
    op = "max_pool2d"
    like = max_pool2d.KERNEL
    isas = frozenset({Isa.DSP, Isa.MVE})
    assumes = f"{pooled_channels.LEAST_CHANNELS} channels and more"
    draws: ClassVar[tuple[Draw, ...]] = (_draw,)

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/max_pool2d/max_pool2d_channels_{isa}.S",))

    def why_not(self, node: Node) -> str:
        if node.attrs.dilation != (1, 1):
            return "it takes windows without gaps"
        return pooled_channels.why_not(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        return pooled_channels.features(node, words=4, lanes=16)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **pooling.arguments(node)}


class MaxPool2dChannelsInt16(MaxPool2dChannels):
    """The same of int16."""

    name = "max_pool2d_channels_int16"
    like = max_pool2d.INT16
    draws = typed((_draw,), element=Element.INT16)

    symbol = Symbol(INT16_KERNEL, helpers=("runtime/kernels/max_pool2d/max_pool2d_channels_{isa}.S",))
