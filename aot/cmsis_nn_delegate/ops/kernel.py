"""What an operator hands to a kernel: `KernelSpec`, which each provider implements in one C++ file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..format.opcodes import Opcode
from ..format.record import Struct
from ..format.schema import Isa, ReadsBehind


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
    # Why CMSIS-NN has no such function, or not one to use.
    why_portable: str = ""
    # What CMSIS-NN's kernel loads past its constants; where that comes from: runtime/kernels/cmsis_nn/README.md.
    reads_behind: Mapping[Isa, ReadsBehind] = field(default_factory=dict)

    @property
    def opcode(self) -> Opcode:
        """KeyError for a kernel that is new: `bazel run //:generate` gives it a number."""
        try:
            return Opcode[self.name.upper()]
        except KeyError:
            raise KeyError(f"kernel {self.name} has no opcode yet: run `bazel run //:generate`") from None

    def reads_behind_on(self, isa: Isa) -> ReadsBehind:
        """Bytes that have to follow its constants in a payload for `isa`."""
        return self.reads_behind.get(isa, ReadsBehind())
