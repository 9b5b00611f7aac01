"""A function of one number for each element, before it becomes a look-up table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..graph.ir import Node
from .annotation import Unary
from .attrs import Clamp
from .function_table import BY_TARGET, reals
from .op import Op

_TARGETS = tuple(sorted(BY_TARGET))
_JUMPING = frozenset(target for target, function in BY_TARGET.items() if function.jumps)


@dataclass(frozen=True)
class FunctionAttrs:
    """function. `name` is that of `FUNCTIONS`; `arguments` are those of PyTorch's operator, with None for the
    activation, at `position`."""

    name: str
    arguments: tuple[Any, ...]
    position: int
    clamp: Clamp = Clamp()


class Function(Op):
    """y = f(x) for one of the functions in `FUNCTIONS`; further operands are plain numbers.

    A pass turns it into a look-up or a rescaling, once the scales are known (`functions_to_lookups`).
    """

    name = "function"
    becomes = ("lookup", "rescale")
    targets = _TARGETS
    # ExecuTorch cannot keep floor_divide, which is called with numbers that its schema does not have; that becomes a
    # division, which is a function, too.
    whole = tuple(target for target in _TARGETS if target != "aten.floor_divide.default")
    annotation = Unary(
        _TARGETS,
        {target: (f.output.scale[0], f.output.zero_point) for target, f in BY_TARGET.items() if f.output is not None},
        _JUMPING,
    )
    attrs = FunctionAttrs
    elements = KERNEL_ELEMENTS
    limits = (
        "one activation; every other operand is a plain number or a constant with one element",
        "results within one step of PyTorch's, and only where its float32 error decides the rounding",
        "a number without a result (the logarithm of -1) has that of the nearest number with one; infinity saturates",
        "int16: infinity counts as no result; a line between two limits, such as a product with a number, is a "
        "rescaling; functions with jumps, such as floor, compute in int8; others are interpolated between 513 results, "
        "or up to 2049",
    )

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return context.is_unary(node)

    def refuse(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        jumps = target_name(node) in _JUMPING
        refusal: Optional[Refusal] = context.refuse_elements(node, (COMMON_ELEMENT,)) if jumps else None
        return refusal or super().refuse(node, context)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        (source,) = context.activations(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_numbers(node, context),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_domain(node, context),
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return self._refuse_numbers(node, context) or self._refuse_domain(node, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        (source,) = context.activations(node)
        return [context.node(node, self.name, [context.value(source)], self._attrs(node, context))]

    def _attrs(self, node: EdgeNode, context: EdgeContext) -> FunctionAttrs:
        (source,) = context.activations(node)
        given = context.arguments(node)
        position = next(i for i, argument in enumerate(given) if argument is source)
        numbers = [None if i == position else _plain(argument, context) for i, argument in enumerate(given)]
        return FunctionAttrs(BY_TARGET[target_name(node)].name, tuple(numbers), position)

    def _refuse_numbers(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        for number in self._attrs(node, context).arguments:
            if isinstance(number, float) and not math.isfinite(np.float32(number)):
                return Refusal(
                    Reason.UNSUPPORTED_PARAMETER,
                    f"its operand {number} is not a finite number in float32; use one that is",
                )
        return None

    def _refuse_domain(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        """Refuses a function that has no finite result for anything that its input can be."""
        if not self._numbers_known(node, context):
            return None  # `check_data` asks again
        (source,) = context.activations(node)
        quant = context.input_quant(source)
        attrs = self._attrs(node, context)
        if quant is None or np.isfinite(reals(attrs.name, attrs.arguments, attrs.position, quant)).any():
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            f"{attrs.name} has no finite result for any number of its input's range; check its operands, or calibrate "
            "with data that it is defined for",
        )

    def _numbers_known(self, node: EdgeNode, context: EdgeContext) -> bool:
        return all(context.number(a) is not None for a in context.arguments(node) if context.is_number(a))


def _plain(argument: Any, context: EdgeContext) -> Any:
    """Returns a number as a float, None if its value is not known yet, and other arguments unchanged."""
    return context.number(argument) if context.is_number(argument) else argument
