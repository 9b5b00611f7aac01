"""Turns quotients of vectors and their lengths, such as `torch.nn.functional.normalize`, into RMS norms:

    x / max(|x|, eps) = rms_norm(x) / sqrt(n),    |x| = sqrt(n * mean(x^2))

for vectors of n elements along one dimension. The norm is one kernel with the error of one rounding. The length alone
would have a scale, and an error, of its own, and a quotient of two activations has no kernel.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .rewriting import arguments_of, call_for, constant_for, finish

aten = torch.ops.aten

_EXPANDS = {aten.expand_as.default, aten.expand.default}
_LEAST = {aten.clamp_min.default, aten.clamp.default}
_LENGTHS = {aten.linalg_vector_norm.default, aten.linalg_norm.default, aten.norm.ScalarOpt_dim}
# Up to here the root of the sum of squares is the larger of both numbers, next to which the other vanishes, for all
# vectors that are not zero in int8.
_MOST_EPSILON = 1e-6


def unit_vectors_to_norms(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    for node in list(model.graph.nodes):
        if node.target is aten.div.Tensor and node.args[0] is not node.args[1]:
            found = _length(*node.args)
            if found is not None:
                _rewrite(model, node, *found)
    finish(model)


def _length(vectors: Any, divisor: Any) -> Optional[tuple[int, float]]:
    """Returns (dimension, epsilon) if `divisor` is the length of each of `vectors`, which lie along that dimension."""
    if not isinstance(vectors, Node) or not isinstance(divisor, Node):
        return None
    if divisor.target in _EXPANDS:
        divisor = divisor.all_input_nodes[0]
    epsilon: Any = 0.0
    if divisor.target in _LEAST and len(divisor.args) == 2 and not divisor.kwargs:
        divisor, epsilon = divisor.args
    if not isinstance(divisor, Node) or divisor.target not in _LENGTHS or divisor.args[0] is not vectors:
        return None
    given = arguments_of(divisor)
    power, dims, keeps = given[1:4]
    if power not in (2, None) or not dims or len(dims) != 1 or not keeps:
        return None
    if not isinstance(epsilon, (int, float)) or not 0 <= epsilon <= _MOST_EPSILON:
        return None
    return dims[0] % vectors.meta["val"].dim(), float(epsilon)


def _rewrite(model: GraphModule, node: Node, dim: int, epsilon: float) -> None:
    vectors: Any = node.args[0]
    value = vectors.meta["val"]
    size = value.shape[dim]
    last = [*(d for d in range(value.dim()) if d != dim), dim]
    back = [last.index(d) for d in range(value.dim())]
    with model.graph.inserting_before(node):
        moved = dim != value.dim() - 1
        source = call_for(node, aten.permute.default, value.permute(last), vectors, last) if moved else vectors
        factors = constant_for(model, node, "length", torch.full((size,), size**-0.5))
        result = call_for(
            node, aten.rms_norm.default, source.meta["val"], source, [size], factors, epsilon * epsilon / size
        )
        if moved:
            result = call_for(node, aten.permute.default, value, result, back)
    node.replace_all_uses_with(result)
