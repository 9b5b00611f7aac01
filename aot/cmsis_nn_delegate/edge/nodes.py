"""Facts about a node of an edge or ATen program, read from the node itself.

Nothing here imports torch: operators use it to describe themselves, and much that works with them needs no
PyTorch, such as the integer reference, the planner and the payload.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, TypeVar

from ..graph.tensor_type import Element, Quant

if TYPE_CHECKING:
    from torch.fx import Node

T = TypeVar("T")

GETITEM = "getitem"
QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"
DEQUANTIZE_CHANNEL = "quantized_decomposed.dequantize_per_channel.default"
# With a scale for each group of a channel's inputs.
DEQUANTIZE_BLOCKS = "torchao.dequantize_affine.default"
DEQUANTIZE_GROUPS = "quantized_decomposed.dequantize_per_channel_group.default"
DEQUANTIZE_DYNAMIC = "quantized_decomposed.dequantize_per_tensor.tensor"

# Operators that only change the shape (clone not even that); row-major order stays. These are the targets of
# the operator `reshape`, and are here because `EdgeContext` looks through them and may not import operators.
RESHAPES = frozenset(
    {
        "aten.view_copy.default",
        "aten.view.default",
        "aten._unsafe_view.default",
        "aten.reshape.default",
        "aten.flatten.using_ints",
        "aten.unflatten.int",
        "aten.squeeze_copy.default",
        "aten.squeeze_copy.dim",
        "aten.squeeze_copy.dims",
        "aten.squeeze.default",
        "aten.squeeze.dim",
        "aten.squeeze.dims",
        "aten.unsqueeze_copy.default",
        "aten.unsqueeze.default",
        "aten.clone.default",
        "aten.contiguous.default",
        "aten._to_copy.default",
        "dim_order_ops._clone_dim_order.default",
        "dim_order_ops._to_dim_order_copy.default",
    }
)
# Operators that at most repeat and leave out what they move.
MOVES = RESHAPES | {
    "aten.slice_copy.Tensor",
    "aten.slice.Tensor",
    "aten.select_copy.int",
    "aten.select.int",
    "aten.narrow.default",
    "aten.permute_copy.default",
    "aten.permute.default",
    "aten.transpose_copy.int",
    "aten.transpose.int",
    "aten.t_copy.default",
    "aten.t.default",
    "aten.expand_copy.default",
    "aten.expand.default",
    "aten.to.dtype",
}
ACTIVATIONS = frozenset(
    {
        "aten.relu.default",
        "aten.relu6.default",
        "aten.hardtanh.default",
        "aten.clamp.default",
        "aten.clamp_min.default",
        "aten.clamp_max.default",
    }
)


def target_name(node: Node) -> str:
    """Returns the overload that `node` calls, spelled alike for both dialects; "" if it calls none."""
    if node.op != "call_function":
        return ""
    if node.target is operator.getitem:
        return GETITEM
    schema = getattr(node.target, "_schema", None)  # that ATen's and edge's overloads have
    if schema is None:
        return str(node.target)
    return f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"


def argument(node: Node, index: int) -> Any:
    """An argument of a node by position. Its type depends on the operator; torch.fx has a union of all."""
    return node.args[index]


def operand(node: Node, index: int = 0) -> Node:
    """An argument that is another node."""
    found: Node = argument(node, index)
    return found


def tensor(node: Node) -> Any:
    """Returns the fake tensor that stands for the node's result."""
    return node.meta.get("val")


def shape_of(node: Node) -> tuple[int, ...]:
    return tuple(int(size) for size in tensor(node).shape)


def is_dynamic(node: Node) -> bool:
    return any(not isinstance(size, int) for size in tensor(node).shape)


def element_type(dtype: Any) -> str:
    """The name of a torch.dtype: "int8"."""
    return str(dtype).removeprefix("torch.")


def quantized_element(node: Node) -> Optional[Element]:
    """Returns the element that a quantize writes or a dequantize reads; None unless all of its range is used."""
    low, high, dtype = node.args[3:6]
    element = next((e for e in Element if e.is_integer and e.value == element_type(dtype)), None)
    return element if element is not None and (low, high) == (element.low, element.high) else None


def quant_of(node: Node) -> Optional[Quant]:
    """Returns the parameters of a quantize or dequantize per tensor; None for elements that kernels do not take."""
    scale, zero_point = node.args[1:3]
    element = quantized_element(node)
    if element is None or not element.is_activation:
        return None
    if not (isinstance(scale, (int, float)) and isinstance(zero_point, int)):
        return None
    if not (scale > 0 and math.isfinite(scale) and zero_point in element.zero_points):
        return None
    return Quant((float(scale),), int(zero_point))


def first(*questions: Callable[[], Optional[T]]) -> Optional[T]:
    """Returns the first result that is not None, without calling the functions after it."""
    return next((answer for question in questions if (answer := question()) is not None), None)


def pair(value: Any) -> tuple[int, int]:
    """(v, v) for v or [v], as PyTorch expands sizes."""
    if isinstance(value, int):
        return value, value
    return (value[0], value[0]) if len(value) == 1 else (value[0], value[1])
