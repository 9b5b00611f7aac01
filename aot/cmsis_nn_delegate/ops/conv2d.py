"""int8 two-dimensional convolution, grouped and dilated."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class Conv2d(Op):
    """See the module docstring."""

    name = "conv2d"
    opcode = Opcode.CONV2D
