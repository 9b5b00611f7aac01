"""Spells out functions that stand for products, sums and what moves values around them, such as einsum and glu.

PyTorch and ExecuTorch would do the same later, when the parts can no longer be quantized.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

from .constants import constant_values
from .cumulative import below, running_products, running_sums
from .rewriting import finish, inline
from .unfolding import image_of_windows, windows_of_image

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
    aten.diff.default,
    aten.tril.default,
    aten.triu.default,
    aten.diag_embed.default,
    aten.block_diag.default,
    aten.im2col.default,
    aten.col2im.default,
    aten.cumsum.default,
    aten.cumprod.default,
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


def _tril(x: Any, diagonal: int = 0) -> Any:
    rows, columns = x.shape[-2:]
    return x * below(rows, columns, diagonal)


def _triu(x: Any, diagonal: int = 0) -> Any:
    rows, columns = x.shape[-2:]
    return x * (1 - below(rows, columns, diagonal - 1))


def _diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    before, after = (0, offset) if offset > 0 else (-offset, 0)
    size = x.shape[-1] + before + after
    rows = F.pad(x, (before, after)).unsqueeze(-1) if before or after else x.unsqueeze(-1)
    diagonal = (torch.arange(size).unsqueeze(1) + offset == torch.arange(size)).float()
    return (rows * diagonal).movedim((-2, -1), (dim1, dim2))


def _block_diag(blocks: Sequence[Any]) -> Any:
    given = [x.reshape(1, -1) if x.dim() < 2 else x for x in blocks]
    width, before, rows = sum(x.shape[1] for x in given), 0, []
    for x in given:
        rows.append(F.pad(x, (before, width - before - x.shape[1])))
        before += x.shape[1]
    return torch.cat(rows)


# What traces have in the place of functions that the quantizer knows.
_NAMES: dict[Any, Any] = {
    aten.view.default: aten.reshape.default,  # what is not quantized on the way can have other strides
    aten._adaptive_avg_pool2d.default: aten.adaptive_avg_pool2d.default,
}


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
    aten.tril.default: _tril,
    aten.triu.default: _triu,
    aten.diag_embed.default: _diag_embed,
    aten.block_diag.default: _block_diag,
    aten.im2col.default: windows_of_image,
    aten.col2im.default: image_of_windows,
    aten.cumsum.default: running_sums,
    aten.cumprod.default: running_products,
}


def spell_out_products(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says. What `fold_constants` folds later stays: as a product, triu makes
    NaN of a mask with infinities."""
    constant = constant_values(model, trained=True)
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node in constant:
            continue
        if node.target in _COMPOSED and _is_of_floats(node) or _has_vector(node):
            target: Any = node.target
            spell_out(node, _PARTS.get(target, target))
    finish(model)


def _is_of_floats(node: Node) -> bool:
    values = [node.meta.get("val"), *(source.meta.get("val") for source in node.all_input_nodes)]
    return all(isinstance(value, torch.Tensor) and value.dtype == torch.float32 for value in values)


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

    replace_by(node, function, node.all_input_nodes)


def _name_convolution(part: Node) -> None:
    """Gives a convolution of images back the name that the quantizer knows."""
    source, weight, bias, stride, padding, dilation, transposed, output_padding, groups = part.args
    if transposed:
        part.target = aten.conv_transpose2d.input
        part.args = (source, weight, bias, stride, padding, output_padding, groups, dilation)
    else:
        part.target = aten.conv2d.default
        part.args = (source, weight, bias, stride, padding, dilation, groups)


def replace_by(node: Node, function: Callable[..., Any], sources: Sequence[Node]) -> Node:
    """Replaces a call by those that `function` makes with the values of `sources`, and returns the one that computes
    its result."""
    values = [source.meta["val"] for source in sources]
    tensors = [torch.empty(value.shape, dtype=value.dtype) for value in values]
    parts = make_fx(function, decomposition_table=_PARTS, tracing_mode="fake")(*tensors).graph
    for part in parts.nodes:
        if part.target in _NAMES:
            part.target = _NAMES[part.target]
        elif part.target is aten.convolution.default:
            _name_convolution(part)
    (result,) = inline(node, parts, sources)
    node.replace_all_uses_with(result)
    return result
