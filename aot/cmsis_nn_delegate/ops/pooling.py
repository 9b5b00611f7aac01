"""Code shared by average and maximum pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..edge.nodes import pair
from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import Field, Struct
from ..format.schema import MAX_DIM
from ..graph.ir import Node, Value
from . import block_values, storage
from .attrs import PoolAttrs
from .random_case import RandomCase

POOL_PARAMS = Struct(
    "PoolParams",
    "= cmsis_nn_pool_params",
    (
        Field("stride", blocks.TILE, ">= 1"),
        Field("padding", blocks.TILE, "top and left, in [0, kernel)"),
        Field("activation", blocks.ACTIVATION),
    ),
)


def output_shape(inputs: Sequence[Value], attrs: PoolAttrs) -> tuple[int, ...]:
    """[n, c, h, w] with as many windows as fit the padded image."""
    n, c, *size = inputs[0].shape
    padding = attrs.padding
    padded = size[0] + padding.top + padding.bottom, size[1] + padding.left + padding.right
    return (n, c, *((i - k) // s + 1 for i, k, s in zip(padded, attrs.kernel, attrs.stride)))


def draw_image(d: RandomCase) -> tuple[Value, PoolAttrs]:
    """An image and windows each of which sees some of it."""
    kernel = d.pair(1, 5)
    x = d.image(d.batch(), d.channels(), kernel)
    # With a stride of at most the kernel, less what is padded, no window lies beyond the image.
    padding = d.padding(kernel)
    far = padding.bottom, padding.right
    stride = pair([d.integer(1, max(1, k - f)) for k, f in zip(kernel, far)])
    return x, PoolAttrs(kernel, stride, padding, d.clamp())


def arguments(node: Node) -> Mapping[str, Any]:
    """The fields of the argument block that both pools have, without references."""
    attrs = node.attrs
    if attrs.padding.top >= attrs.kernel[0] or attrs.padding.left >= attrs.kernel[1]:
        raise ValueError(f"{node.name}: padding {attrs.padding} leaves windows {attrs.kernel} empty")
    height, width = attrs.kernel
    return {
        "params": {
            "stride": block_values.tile(*attrs.stride),
            "padding": block_values.tile(attrs.padding.top, attrs.padding.left),
            "activation": block_values.activation(attrs.clamp, node.output.type),
        },
        "input_dims": block_values.dims(*storage.nhwc(node.inputs[0])),
        "filter_dims": block_values.dims(1, height, width, 1),
        "output_dims": block_values.dims(*storage.nhwc(node.output)),
    }


def refuse_stride(node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
    """Refuses a window or stride outside the kernels' range; `node` is aten.avg_pool2d or max_pool2d."""
    _, kernel, stride = context.arguments(node)[:3]
    if max(*pair(kernel), *pair(stride or kernel)) <= MAX_DIM:
        return None
    return Refusal(
        Reason.TOO_LARGE,
        f"window {list(pair(kernel))} or stride {list(pair(stride or kernel))} is too large; CMSIS-NN"
        f" keeps them in 16 bits, at most {MAX_DIM}",
    )
