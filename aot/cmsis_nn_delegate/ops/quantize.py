"""float32 to int8 at the border of the graph, with the change to channels-last."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class Quantize(Op):
    """See the module docstring."""

    name = "quantize"
    opcode = Opcode.QUANTIZE
