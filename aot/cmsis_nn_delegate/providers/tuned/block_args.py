"""The argument block of convolutions whose weights lie in blocks of a few channels."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from ...format import blocks
from ...format.element import Element
from ...format.record import I8, I16, I32, Field, Struct
from ...graph.ir import Node
from ...ops import conv_args
from ...ops.geometry import Geometry


def struct(
    name: str,
    doc: str,
    *,
    table: str,
    block_count: str,
    block_words: str,
    forms: type[enum.IntEnum],
    element: Element = Element.INT8,
    more: Sequence[Field] = (),
) -> Struct:
    """Returns the block called `name`; `table`, `block_count` and `block_words` are docs of fields, `forms` has the
    ways to requantize, `element` is that of inputs and outputs, int8 or int16, and `more` are fields of this block."""
    wide = element is Element.INT16
    return Struct(
        name,
        doc,
        (
            blocks.input("input", I16 if wide else I8, "input_dims", doc=f"{element.value} [n, h, w, c]"),
            blocks.weight_table("blocks", "block_words", doc=table),
            blocks.scratch(),
            conv_args.OUTPUT_INT16 if wide else conv_args.OUTPUT,
            Field("scratch_bytes", I32),
            Field("blocks", I32, block_count),
            Field("block_words", I32, block_words),
            Field("form", I32, f"of the requantization, see {forms.__name__}", low=0, high=max(forms)),
            *more,
            Field("params", conv_args.PACKED_CONV_INT16_PARAMS if wide else conv_args.PACKED_CONV_PARAMS),
            Field("input_dims", blocks.PACKED_DIMS),
            Field("filter_dims", blocks.PACKED_DIMS, "of the weights before they were put into the table"),
            Field("output_dims", blocks.PACKED_DIMS),
        ),
        geometry="convolution",
    )


def encode(
    node: Node, refs: Mapping[str, int], scratch_bytes: int, *, blocks: int, block_words: int, form: int, **more: Any
) -> Mapping[str, Any]:
    """Returns the fields of the argument block, of which `more` has those that other blocks lack."""
    return {
        **conv_args.encode(node, refs, scratch_bytes, Geometry.plain(node), dims(node)),
        "blocks": blocks,
        "block_words": block_words,
        "form": form,
        **more,
    }


def dims(node: Node) -> conv_args.CallDims:
    """Returns the sizes of a convolution, also a depthwise one, with those of its weights as PyTorch has them."""
    geometry = Geometry.plain(node)
    channels, inputs = node.inputs[1].shape[:2]
    return conv_args.CallDims(
        (geometry.batch, *geometry.input, node.inputs[0].shape[1]),
        (channels, *geometry.kernel, inputs),
        (geometry.batch, *geometry.output, channels),
    )


def why_not(node: Node) -> str:
    """Returns why the argument block does not hold the sizes of a convolution, "" if it does."""
    if conv_args.fits_packed(Geometry.plain(node), dims(node)):
        return ""
    return f"its arguments hold sizes of at most {conv_args.MAX_PACKED}"
