"""The interface between operators and kernels: `KernelSpec`, which providers implement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..format.opcodes import Opcode
from ..format.record import BYTES, I8, Role, Scalar, Struct
from ..graph.tensor_type import Element

# The elements of these tensors tell kernels apart.
_TENSORS = (Role.INPUT, Role.FILTER, Role.STATE, Role.OUTPUT)


@dataclass(frozen=True)
class KernelSpec:
    """A kernel as the payload calls it.

    Its opcode, its C++ files and functions and, in CamelCase, its C++ constants are called as `name`: "max_pool2d" has
    Opcode.MAX_POOL2D, max_pool2d_portable.cc and kMaxPool2d. What each provider links for it is a `Symbol`.
    """

    name: str
    # Its argument block, from which the C++ struct and the checks of a call are generated.
    args: Struct
    # Tells several kernels for the same elements apart; Op.variant says which one a node uses.
    variant: str = ""
    # The kernel whose models predict its instructions, if the table of costs has none of its own: one that does the
    # same work for the same features.
    priced_as: str = ""

    @cached_property
    def elements(self) -> Mapping[str, Element]:
        """Returns the elements of its operands, by field of the argument block; not of those that it takes as bytes."""
        return {
            field.name: Element(field.operand.element.element)
            for field in self.args.fields
            if field.operand and field.operand.role in _TENSORS and field.operand.element is not BYTES
        }

    def __str__(self) -> str:
        """Returns its name and elements, such as "add of input1 int8, input2 int8, output int8"."""
        elements = ", ".join(f"{name} {element.value}" for name, element in self.elements.items())
        return f"{self.name} of {elements}"

    @property
    def opcode(self) -> Opcode:
        """Returns its opcode. KeyError for a new kernel, to which `bazel run //:generate` gives a number."""
        try:
            return Opcode[self.name.upper()]
        except KeyError:
            raise KeyError(f"kernel {self.name} has no opcode yet: run `bazel run //:generate`") from None


def named_for(what: str, element: Scalar) -> str:
    """Returns the name of a kernel that computes `what` of `element`: "maximum", or "maximum_int16"."""
    return what if element is I8 else f"{what}_{element.element}"
