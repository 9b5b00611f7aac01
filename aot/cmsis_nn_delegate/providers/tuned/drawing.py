"""What the random cases of several kernels share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ...graph.ir import Value
from ...graph.tensor_type import Element, Quant
from ...ops.case import Case
from ...ops.op import Draw


def typed(draws: Sequence[Callable[..., Value]], **types: Element) -> tuple[Draw, ...]:
    """Returns `draws` for other types of tensors: `element` is that of inputs, `weights` that of weights."""
    return tuple(functools.partial(draw, **types) for draw in draws)


def finer_steps(d: Case, most: int) -> None:
    """Gives the last layer's sums up to 2^`most` times larger steps, so that those of outputs may be finer."""
    weight = d.nodes[-1].inputs[1]
    assert weight.quant is not None
    scales = (scale * float(2.0 ** d.random.uniform(0, most)) for scale in weight.quant.scale)
    weight.retype(quant=Quant(tuple(scales), 0, weight.quant.axis))
