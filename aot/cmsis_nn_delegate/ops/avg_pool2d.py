"""int8 average pooling; padding does not count."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class AvgPool2d(Op):
    """See the module docstring."""

    name = "avg_pool2d"
    opcode = Opcode.AVG_POOL2D
