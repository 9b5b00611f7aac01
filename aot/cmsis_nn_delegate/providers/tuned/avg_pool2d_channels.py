"""Average pooling of several channels at a time, for cores with DSP or MVE.

Sums have 16 bits, which those of 256 int8 fit. `runtime/kernels/common/reciprocal.h` has the proof that a
multiplication and a shift make their means of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...format import blocks
from ...format.record import I8, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import avg_pool2d, pooling
from ...ops.case import Case
from ...ops.features import Features
from ...ops.kernel import KernelSpec
from ..implementation import Function, OwnImplementation, Symbol
from . import pooled_channels

_MOST_PIXELS = 256
_HELPERS = ("runtime/kernels/avg_pool2d/avg_pool2d_channels_{isa}.S",)

KERNEL = KernelSpec(
    "avg_pool2d_channels",
    Struct(
        "AvgPool2dChannelsArgs",
        f"avg_pool2d of {pooled_channels.LEAST_CHANNELS} channels and more, in windows of at most {_MOST_PIXELS} "
        "pixels.",
        (
            blocks.input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
            blocks.output(I8, "output_dims", doc="int8 [n, h, w, c]"),
            *pooling.sizes(),
        ),
        geometry="pooling",
    ),
)


def _draw(d: Case) -> Value:
    x, attrs = pooled_channels.draw_image(d)
    return d.node("avg_pool2d", [x], attrs, x.quant)


def _draw_large(d: Case) -> Value:
    """Windows of up to as many pixels as there can be, one or two of them."""
    kernel = d.pair(1, 16)
    channels = d.integer(pooled_channels.LEAST_CHANNELS, 40)
    return d.avg_pool2d(d.input(d.batch(), channels, kernel[0] + d.integer(0, 1), kernel[1]), kernel, clamp=d.clamp())


def _is_whole(args: Mapping[str, Any], _isa: Isa) -> bool:
    sizes = {name: (args[name]["h"], args[name]["w"]) for name in ("input_dims", "filter_dims", "output_dims")}
    padding = args["params"]["padding"]
    return (
        sizes["output_dims"] == (1, 1)
        and sizes["filter_dims"] == sizes["input_dims"]
        and (padding["h"], padding["w"]) == (0, 0)
    )


class AvgPool2dChannels(OwnImplementation):
    """The channels of a pixel lie together: the sums of 8 of them, or of 32 with MVE, stay in registers while the
    pixels of a window are added up. It takes no scratch memory."""

    name = "avg_pool2d_channels"
    op = "avg_pool2d"
    like = avg_pool2d.KERNEL
    isas = frozenset({Isa.DSP, Isa.MVE})
    assumes = f"{pooled_channels.LEAST_CHANNELS} channels and more, in windows of at most {_MOST_PIXELS} pixels"
    draws = (_draw, _draw_large)

    symbol = Symbol(
        KERNEL,
        helpers=_HELPERS,
        functions=(
            Function("avg_pool2d_channels_whole", "a window as large as the image", _is_whole, helpers=_HELPERS),
        ),
    )

    def why_not(self, node: Node) -> str:
        height, width = node.attrs.kernel
        if height * width > _MOST_PIXELS:
            return f"the sum of a window of more than {_MOST_PIXELS} pixels may not fit into 16 bits"
        return pooled_channels.why_not(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        return pooled_channels.features(node, words=2, lanes=8)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **pooling.arguments(node)}
