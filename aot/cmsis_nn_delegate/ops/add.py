"""int8 elementwise sum of two tensors of one shape."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class Add(Op):
    """See the module docstring."""

    name = "add"
    opcode = Opcode.ADD
