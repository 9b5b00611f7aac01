"""The shape rules of all operators, for what builds graphs and is imported by operators themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..graph.ir import Value


class ShapeRule(Protocol):
    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        """Returns the logical shape of the output; see `Op.output_shape`."""


# By operator. `registry` fills it: whoever builds graphs imports that, too.
SHAPE_RULES: dict[str, ShapeRule] = {}
