"""What random cases of kernels for weights of 4 bits share."""

from __future__ import annotations

from ...graph.tensor_type import Quant
from ...ops.case import Case


def finer_steps(d: Case, most: int) -> None:
    """Gives the last layer's sums up to 2^`most` times larger steps, so that those of outputs may be finer."""
    weight = d.nodes[-1].inputs[1]
    assert weight.quant is not None
    scales = (scale * float(2.0 ** d.random.uniform(0, most)) for scale in weight.quant.scale)
    weight.retype(quant=Quant(tuple(scales), 0, weight.quant.axis))
