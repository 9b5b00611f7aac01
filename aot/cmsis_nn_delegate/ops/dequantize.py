"""int8 to float32 at the border of the graph, with the change back to row-major."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class Dequantize(Op):
    """See the module docstring."""

    name = "dequantize"
    opcode = Opcode.DEQUANTIZE
