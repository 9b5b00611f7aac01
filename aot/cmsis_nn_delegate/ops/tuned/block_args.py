"""The argument block of convolutions whose weights lie in blocks of a few channels."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from ...format import blocks
from ...format.record import I8, I32, Field, Struct
from ...graph.ir import Node
from .. import conv_args
from ..geometry import Geometry


def struct(name: str, doc: str, *, table: str, block_count: str, block_words: str, forms: type[enum.IntEnum]) -> Struct:
    """Returns the block called `name`; `table`, `block_count` and `block_words` are docs of fields, and `forms` has the
    ways to requantize."""
    return Struct(
        name,
        doc,
        (
            blocks.input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
            blocks.weight_table("blocks", "block_words", doc=table),
            blocks.scratch(),
            conv_args.OUTPUT,
            Field("scratch_bytes", I32),
            Field("blocks", I32, block_count),
            Field("block_words", I32, block_words),
            Field("form", I32, f"of the requantization, see {forms.__name__}", low=0, high=max(forms)),
            Field("params", conv_args.CONV_PARAMS),
            Field("input_dims", blocks.DIMS),
            Field("filter_dims", blocks.DIMS, "of the weights before they were put into the table"),
            Field("output_dims", blocks.DIMS),
        ),
        geometry="convolution",
    )


def encode(
    node: Node, refs: Mapping[str, int], scratch_bytes: int, *, blocks: int, block_words: int, form: int
) -> Mapping[str, Any]:
    """Returns the fields of the argument block."""
    geometry = Geometry.plain(node)
    channels, inputs = node.inputs[1].shape[:2]
    dims = conv_args.CallDims(
        (geometry.batch, *geometry.input, node.inputs[0].shape[1]),
        (channels, *geometry.kernel, inputs),
        (geometry.batch, *geometry.output, channels),
    )
    return {
        **conv_args.encode(node, refs, scratch_bytes, geometry, dims),
        "blocks": blocks,
        "block_words": block_words,
        "form": form,
    }
