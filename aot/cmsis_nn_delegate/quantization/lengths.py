"""Computes lengths of vectors, and what follows from them, of products with unit vectors:

    |x| = x . x / |x|,    cosine(a, b) = a / |a| . b / |b|,    distance(a, b) = |a - b|.

A sum of squares has the square of the length's range, in which 8 bits leave few steps to small lengths. A unit vector
has a scale that fits it (`unit_vectors`), and a product of two vectors is rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node
from torch.nn import functional as F

from .compositions import spell_out
from .rewriting import arguments_of, finish
from .unit_vectors import unit_vectors_to_norms

aten = torch.ops.aten

# Up to here, what pairwise_distance adds to each difference, so that gradients exist, vanishes next to steps of int8.
_MOST_EPSILON = 1e-6
_POWERS = (1, 2, math.inf)


def _dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """[..., n] and [..., n] -> [...]"""
    rows, size = a.shape[:-1], a.shape[-1]
    return (a.reshape(-1, 1, size) @ b.reshape(-1, size, 1)).reshape(rows)


def _length(x: torch.Tensor, power: float, dim: int, keepdim: bool = False) -> torch.Tensor:
    if power == 1:
        return x.abs().sum(dim, keepdim=keepdim)
    if power == math.inf:
        return x.abs().amax(dim, keepdim=keepdim)
    rows = x.movedim(dim, -1)
    result = _dot(rows, F.normalize(rows, dim=-1))
    return result.unsqueeze(dim) if keepdim else result


def _cosine(a: torch.Tensor, b: torch.Tensor, dim: int = 1, eps: float = 1e-8) -> torch.Tensor:
    a, b = torch.broadcast_tensors(a, b)  # type: ignore[no-untyped-call]  # of torch
    rows = (F.normalize(x.movedim(dim, -1), dim=-1, eps=eps) for x in (a, b))
    return _dot(*rows)


def _distance(a: torch.Tensor, b: torch.Tensor, p: float = 2, eps: float = 1e-6, keepdim: bool = False) -> torch.Tensor:
    difference = a - b if eps <= _MOST_EPSILON else a - b + eps
    return _length(difference, p, -1, keepdim)


def _distances(a: torch.Tensor, b: torch.Tensor, p: float = 2, compute_mode: Any = None) -> torch.Tensor:
    return _length(a.unsqueeze(-2) - b.unsqueeze(-3), p, -1)


def _vector_norm(
    x: torch.Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> torch.Tensor:
    return _length(x, ord, dim[0], keepdim)


_COSINES: dict[Any, Callable[..., Any]] = {aten.cosine_similarity.default: _cosine}
_LENGTHS: dict[Any, Callable[..., Any]] = {
    aten.pairwise_distance.default: _distance,
    aten.cdist.default: _distances,
    aten.linalg_vector_norm.default: _vector_norm,
}


def lengths_to_products(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    unit_vectors_to_norms(model)  # their lengths are no results
    for node in list(model.graph.nodes):
        parts = _COSINES.get(node.target) or _LENGTHS.get(node.target)
        if parts is not None and _applies(node):
            spell_out(node, parts)
    finish(model)
    unit_vectors_to_norms(model)


def _applies(node: Node) -> bool:
    if any(source.meta["val"].dtype != torch.float32 for source in node.all_input_nodes):
        return False
    if node.target in _COSINES:
        return True
    power: Optional[float] = arguments_of(node)[1 if node.target is aten.linalg_vector_norm.default else 2]
    if power not in _POWERS:
        return False
    if node.target is not aten.linalg_vector_norm.default:
        return True
    dims: Any = arguments_of(node)[2]
    return dims is not None and len(dims) == 1 and bool(node.users)
