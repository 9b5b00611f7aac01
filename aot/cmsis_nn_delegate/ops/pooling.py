"""What average and maximum pooling share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from ..edge.nodes import pair
from ..edge.refusal import Reason, Refusal
from ..graph.ir import Node
from ..payload.schema import MAX_DIM
from . import per_channel, storage


def arguments(node: Node) -> Mapping[str, Any]:
    """The fields of the argument block that both pools have, without references."""
    attrs = node.attrs
    if attrs.padding.top >= attrs.kernel[0] or attrs.padding.left >= attrs.kernel[1]:
        raise ValueError(f"{node.name}: padding {attrs.padding} leaves windows {attrs.kernel} empty")
    return {
        "params": {
            "stride": per_channel.tile(*attrs.stride),
            "padding": per_channel.tile(attrs.padding.top, attrs.padding.left),
            "activation": per_channel.activation(attrs.clamp, node.output.quant),
        },
        "input_dims": storage.dims(*storage.nhwc(node.inputs[0])),
        "filter_dims": storage.dims(1, *attrs.kernel, 1),
        "output_dims": storage.dims(*storage.nhwc(node.output)),
    }


def refuse_stride(node: Any, context: Any) -> Optional[Refusal]:
    """A window or a stride beyond the kernels' range; `node` is aten.avg_pool2d or max_pool2d."""
    _, kernel, stride = context.arguments(node)[:3]
    if max(*pair(kernel), *pair(stride or kernel)) <= MAX_DIM:
        return None
    return Refusal(
        Reason.TOO_LARGE,
        f"window {list(pair(kernel))} or stride {list(pair(stride or kernel))} is too large; CMSIS-NN"
        f" keeps them in 16 bits, at most {MAX_DIM}",
    )
