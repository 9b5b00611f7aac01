"""int8 linear layer with per-channel weights."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class FullyConnected(Op):
    """See the module docstring."""

    name = "fully_connected"
    opcode = Opcode.FULLY_CONNECTED
