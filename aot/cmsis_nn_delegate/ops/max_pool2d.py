"""int8 maximum pooling; padding does not count."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class MaxPool2d(Op):
    """See the module docstring."""

    name = "max_pool2d"
    opcode = Opcode.MAX_POOL2D
