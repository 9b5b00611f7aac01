"""int8 softmax along one dimension."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class Softmax(Op):
    """See the module docstring."""

    name = "softmax"
    opcode = Opcode.SOFTMAX
