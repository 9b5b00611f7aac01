"""What an operator hands to a kernel: `KernelSpec`, which each provider implements in one C++ file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..format.opcodes import Opcode
from ..format.record import Role, Struct
from ..format.schema import Isa, ReadsPast
from ..graph.tensor_type import Element

# Their elements tell kernels apart.
_TENSORS = (Role.INPUT, Role.FILTER, Role.STATE, Role.OUTPUT)


@dataclass(frozen=True)
class KernelSpec:
    """A kernel as the payload calls it.

    `name` is that of its C++ file, of its opcode and, in CamelCase, of its constant in C++: "max_pool2d" is
    max_pool2d.cc, Opcode.MAX_POOL2D and kMaxPool2d.
    """

    name: str
    # Its argument block. The C++ struct and the checks of a call are generated from it.
    args: Struct
    # The function of CMSIS-NN that computes it, "" where the portable kernel does on every core.
    cmsis_nn: str
    # The files of CMSIS-NN that it needs, in Source/: a missing one is an undefined symbol at link time.
    cmsis_nn_sources: tuple[str, ...] = ()
    # Which of several kernels for the same elements: Op.variant says which one a node takes.
    variant: str = ""
    # Why CMSIS-NN has no such function, or not one to use.
    why_portable: str = ""
    # What CMSIS-NN's kernel loads past the end of its constants; where that comes from:
    # runtime/kernels/cmsis_nn/README.md.
    reads_past: Mapping[Isa, ReadsPast] = field(default_factory=dict)

    @property
    def elements(self) -> Mapping[str, Element]:
        """What it takes and gives, by field of the argument block."""
        return {
            field.name: Element(field.operand.element.element)
            for field in self.args.fields
            if field.operand and field.operand.role in _TENSORS
        }

    def __str__(self) -> str:
        """What tells kernels apart, such as "add of input1 int8, input2 int8, output int8"."""
        elements = ", ".join(f"{name} {element.value}" for name, element in self.elements.items())
        return f"{self.name} of {elements}"

    @property
    def opcode(self) -> Opcode:
        """KeyError for a kernel that is new: `bazel run //:generate` gives it a number."""
        try:
            return Opcode[self.name.upper()]
        except KeyError:
            raise KeyError(f"kernel {self.name} has no opcode yet: run `bazel run //:generate`") from None
