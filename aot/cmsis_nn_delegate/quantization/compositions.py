"""Spells out functions that stand for products, sums and what moves values around them, such as einsum and glu.

PyTorch and ExecuTorch would do the same later, when the parts can no longer be quantized.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from .rewriting import finish, inline

aten = torch.ops.aten

_COMPOSED = {
    aten.einsum.default,
    aten.tensordot.default,
    aten.inner.default,
    aten.outer.default,
    aten.ger.default,
    aten.chain_matmul.default,
    aten.linalg_multi_dot.default,
    aten.linalg_matmul.default,
    aten.addbmm.default,
    aten.mv.default,
    aten.addmv.default,
    aten.bilinear.default,
    aten.glu.default,
    aten.addcmul.default,
    aten.addcdiv.default,
    aten.lerp.Scalar,
    aten.lerp.Tensor,
    aten.rot90.default,
}


def _addbmm(addend: Any, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> Any:
    """The sum over all batches is one product of longer rows."""
    rows = a.permute(1, 0, 2).reshape(a.shape[1], -1)
    return torch.addmm(addend, rows, b.reshape(-1, b.shape[2]), beta=beta, alpha=alpha)


def _mv(matrix: Any, vector: Any) -> Any:
    return torch.mm(matrix, vector.reshape(-1, 1)).reshape(-1)


def _addmv(addend: Any, matrix: Any, vector: Any, beta: float = 1, alpha: float = 1) -> Any:
    column = addend.expand(matrix.shape[0]).reshape(-1, 1)
    return torch.addmm(column, matrix, vector.reshape(-1, 1), beta=beta, alpha=alpha).reshape(-1)


def _ger(a: Any, b: Any) -> Any:
    return a.reshape(-1, 1) * b


def _bilinear(a: Any, b: Any, weight: Any, bias: Any = None) -> Any:
    outputs, rows, columns = weight.shape
    left = a.reshape(-1, rows) @ weight.permute(1, 0, 2).reshape(rows, outputs * columns)
    result = (left.reshape(-1, outputs, columns) @ b.reshape(-1, columns, 1)).reshape(*a.shape[:-1], outputs)
    return result if bias is None else result + bias


def _glu(x: Any, dim: int = -1) -> Any:
    half = x.shape[dim] // 2
    return x.narrow(dim, 0, half) * torch.sigmoid(x.narrow(dim, half, half))


def _addcmul(addend: Any, a: Any, b: Any, value: float = 1) -> Any:
    return torch.add(addend, a * b, alpha=value)


def _addcdiv(addend: Any, a: Any, b: Any, value: float = 1) -> Any:
    return torch.add(addend, a / b, alpha=value)


def _lerp(start: Any, end: Any, weight: float) -> Any:
    # The difference of both would have a range, and an error, of its own.
    return torch.add(start * (1 - weight), end, alpha=weight)


def _lerp_by(start: Any, end: Any, weight: Any) -> Any:
    return start + weight * (end - start)


def _rot90(x: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    first, second = dims
    if k % 2 == 0:
        return x.flip((first, second)) if k % 4 else x.clone()
    return x.flip((second if k % 4 == 1 else first,)).transpose(first, second)


# Those that PyTorch does not spell out itself, or not in products.
_PARTS: dict[Any, Callable[..., Any]] = {
    aten.addbmm.default: _addbmm,
    aten.mv.default: _mv,
    aten.addmv.default: _addmv,
    aten.ger.default: _ger,
    aten.bilinear.default: _bilinear,
    aten.glu.default: _glu,
    aten.addcmul.default: _addcmul,
    aten.addcdiv.default: _addcdiv,
    aten.lerp.Scalar: _lerp,
    aten.lerp.Tensor: _lerp_by,
    aten.rot90.default: _rot90,
}


def spell_out_products(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    for node in list(model.graph.nodes):
        if node.op == "call_function" and (node.target in _COMPOSED or _has_vector(node)):
            target: Any = node.target
            spell_out(node, _PARTS.get(target, target))
    finish(model)


def _has_vector(node: Node) -> bool:
    """Returns whether `node` is the product of a matrix and a vector."""
    if node.target is not aten.matmul.default:
        return False
    ranks: list[int] = [source.meta["val"].dim() for source in node.all_input_nodes]
    return min(ranks) == 1 < max(ranks)


def spell_out(node: Node, parts_of: Callable[..., Any]) -> None:
    """Replaces a call by the calls that the function `parts_of` makes with its arguments."""

    def function(*tensors: torch.Tensor) -> Any:
        values = dict(zip(node.all_input_nodes, tensors))
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
        return parts_of(*args, **kwargs)

    tensors = [torch.empty(source.meta["val"].shape) for source in node.all_input_nodes]
    parts = make_fx(function, decomposition_table=_PARTS, tracing_mode="fake")(*tensors).graph
    for part in parts.nodes:
        if part.target is aten.view.default:
            part.target = aten.reshape.default  # what is not quantized on the way can have other strides
    (result,) = inline(node, parts)
    node.replace_all_uses_with(result)
