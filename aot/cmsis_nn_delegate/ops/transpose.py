"""int8 change of memory order; created by passes."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class Transpose(Op):
    """See the module docstring."""

    name = "transpose"
    opcode = Opcode.TRANSPOSE
