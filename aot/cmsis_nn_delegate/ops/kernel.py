"""The interface between operators and kernels: `KernelSpec`, which each provider implements in one C++ file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from ..format.opcodes import Opcode
from ..format.record import Role, Struct
from ..format.schema import Isa, ReadsPast
from ..graph.tensor_type import Element

# The elements of these tensors tell kernels apart.
_TENSORS = (Role.INPUT, Role.FILTER, Role.STATE, Role.OUTPUT)


@dataclass(frozen=True)
class Workspace:
    """The memory with which a kernel computes a node, beside its inputs and outputs."""

    scratch_bytes: int
    # How many bytes before its first input the output may start although the two overlap; None: nowhere.
    distance: Optional[int] = None


@dataclass(frozen=True)
class Function:
    """A kernel for some calls of another one: one of the functions among which a wrapper of CMSIS-NN chooses, or a
    tuned kernel without the inner loops of other calls. An image whose calls are all of these links it instead."""

    name: str
    computes: str  # CMSIS-NN's function, or for a tuned kernel, what its calls are
    takes: Callable[[Mapping[str, Any], Isa], bool]  # whether a call with this argument block is one of them
    # The files of CMSIS-NN that it needs, as in KernelSpec; () for a part of a tuned kernel.
    cmsis_nn_sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelSpec:
    """A kernel as the payload calls it.

    Its C++ file, its opcode and, in CamelCase, its C++ constant are called `name`: "max_pool2d" has max_pool2d.cc,
    Opcode.MAX_POOL2D and kMaxPool2d.
    """

    name: str
    # Its argument block, from which the C++ struct and the checks of a call are generated.
    args: Struct
    # The CMSIS-NN function that computes it; "" if every core uses the portable kernel.
    cmsis_nn: str
    # The files of CMSIS-NN that it needs, in Source/, with those that these need in turn. A missing file is an
    # undefined symbol at link time.
    cmsis_nn_sources: tuple[str, ...] = ()
    # Those of the functions behind `cmsis_nn`, or parts of a tuned kernel, that are kernels of their own.
    functions: tuple[Function, ...] = ()
    # Tells several kernels for the same elements apart; Op.variant says which one a node uses.
    variant: str = ""
    # Why there is no usable CMSIS-NN function.
    why_portable: str = ""
    # What CMSIS-NN's kernel loads past the end of its constants; runtime/kernels/cmsis_nn/README.md says why.
    reads_past: Mapping[Isa, ReadsPast] = field(default_factory=dict)

    @property
    def elements(self) -> Mapping[str, Element]:
        """Returns the elements of its operands, by field of the argument block."""
        return {
            field.name: Element(field.operand.element.element)
            for field in self.args.fields
            if field.operand and field.operand.role in _TENSORS
        }

    def __str__(self) -> str:
        """Returns its name and elements, such as "add of input1 int8, input2 int8, output int8"."""
        elements = ", ".join(f"{name} {element.value}" for name, element in self.elements.items())
        return f"{self.name} of {elements}"

    def function_for(self, args: Mapping[str, Any], isa: Isa) -> Optional[Function]:
        """Returns which of `functions` computes a call for CMSIS-NN, or of the tuned kernel; None if only the kernel
        itself does."""
        return next((function for function in self.functions if function.takes(args, isa)), None)

    @property
    def opcode(self) -> Opcode:
        """Returns its opcode. KeyError for a new kernel, to which `bazel run //:generate` gives a number."""
        try:
            return Opcode[self.name.upper()]
        except KeyError:
            raise KeyError(f"kernel {self.name} has no opcode yet: run `bazel run //:generate`") from None
