"""How a provider computes an operator: what each kernel of each provider declares."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Optional

import numpy as np

from ..format.element import COMMON_ELEMENT
from ..format.schema import Isa, ReadsPast
from ..graph.ir import Node
from ..ops.features import Features
from ..ops.kernel import KernelSpec
from ..ops.op import Draw, mismatch
from ..ops.registry import OPS
from ..targets.target import Target


@dataclass(frozen=True)
class Workspace:
    """The memory with which a kernel computes a node, beside its inputs and outputs."""

    scratch_bytes: int
    # How many bytes before its first input the output may start although the two overlap; None: nowhere.
    distance: Optional[int] = None


@dataclass(frozen=True)
class Function:
    """A function for some calls of a kernel: one of those among which a wrapper of CMSIS-NN chooses, or a kernel
    without the inner loops of other calls. An image whose calls are all of these links it instead."""

    name: str
    computes: str  # the library's function, or what its calls are
    takes: Callable[[Mapping[str, Any], Isa], bool]  # whether a call with this argument block is one of them
    # As in Symbol.
    sources: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Symbol:
    """What an image links of a provider for a kernel. Its function and, in CamelCase, its C++ constant are called as
    the kernel: "max_pool2d" has max_pool2d() and kMaxPool2d, in the provider's namespace. `Provider.file_of` says in
    which file."""

    kernel: KernelSpec
    # The function of the provider's library that computes it; "" for a provider without a library.
    computes: str = ""
    # The files of the library that it needs, relative to the library's folder of sources, with those that these need in
    # turn. A missing file is an undefined symbol at link time.
    sources: tuple[str, ...] = ()
    # Files below the provider's root that it needs besides its own. "{isa}" stands for the instruction set.
    helpers: tuple[str, ...] = ()
    # Those that compute some of its calls alone.
    functions: tuple[Function, ...] = ()
    # How far it loads past the end of its constants without using what it finds.
    reads_past: Mapping[Isa, ReadsPast] = field(default_factory=dict)

    def function_for(self, args: Mapping[str, Any], isa: Isa) -> Optional[Function]:
        """Returns which of `functions` computes the call with this argument block; None if only the kernel itself
        does."""
        return next((function for function in self.functions if function.takes(args, isa)), None)


class Implementation:
    """Computes nodes of operator `op` by the kernel `symbol`. By default it computes them by the argument block and the
    constants that the operator itself declares, on all instruction sets, without scratch memory."""

    # Tells it from others of its provider: that of its kernel, unless several call one.
    name: str
    # The operator whose nodes it computes.
    op: str
    symbol: Symbol
    # The instruction sets for which it is worth its flash.
    isas: ClassVar[frozenset[Isa]] = frozenset(Isa)
    # Whether it has larger constants than the other kernels for its nodes, for fewer instructions. Then it is only
    # chosen within a limit of flash, where the costs of both kernels are known.
    grows: ClassVar[bool] = False
    # Whether the portable kernel takes fewer instructions for all its nodes, on every core. Beside a provider that is
    # there for speed (`Provider.for_speed`), it only computes what no other provider can.
    outdone: ClassVar[bool] = False

    def __init__(self, op: str, symbol: Symbol) -> None:
        self.name, self.op, self.symbol = symbol.kernel.name, op, symbol

    @property
    def kernel(self) -> KernelSpec:
        """Returns the kernel that it calls. Several implementations may call one."""
        return self.symbol.kernel

    @property
    def everywhere(self) -> bool:
        """Returns whether a node can be given to it before the target is known."""
        return self.isas == frozenset(Isa) and not self.grows

    def why_not(self, node: Node) -> str:
        """Returns why it does not compute `node`, a node of `op` whose tensors have the elements of `kernel`, or not
        faster than others; "" if it does."""
        return ""

    def legal(self, node: Node) -> Node:
        """Returns an equivalent of `node` that the kernel computes, by default `node` itself."""
        return node

    def workspace(self, node: Node, target: Target) -> Workspace:
        """Returns the memory with which it is fastest, by default what every kernel needs."""
        return Workspace(OPS[self.op].scratch_bytes(node))

    def smaller_workspaces(self, node: Node) -> Sequence[Workspace]:
        """Returns with how much less scratch memory it also computes `node`, in more instructions the less it is."""
        return ()

    def features(self, node: Node, scratch_bytes: int) -> Features:
        """Returns what the instructions of a call with `scratch_bytes` of scratch memory depend on."""
        return OPS[self.op].features(node)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        """Returns the arrays to put into the payload, by the reference field that names them."""
        return OPS[self.op].constants(node)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        """Returns the fields of the argument block; `refs` are as for `Op.encode`. `scratch_bytes` is that of
        `workspace` or of one of the smaller ones."""
        return OPS[self.op].encode(node, refs, scratch_bytes)

    def takes(self, node: Node) -> bool:
        """Returns whether it is for the variant of `node`, a node of `op`, and for the elements of its tensors."""
        return OPS[self.op].kernel_of(node) is self.kernel


class OwnImplementation(Implementation):
    """Computes nodes in another way than the operator's own kernels: by a kernel with an argument block and constants
    of its own, in the order in which it needs them. It may only take nodes for which the compiler has proved that the
    result is the same."""

    # The operator's kernel whose elements a node must have.
    like: ClassVar[KernelSpec]
    # What it assumes, for the docs.
    assumes: ClassVar[str]
    # Random nodes that it computes.
    draws: ClassVar[tuple[Draw, ...]]

    def __init__(self) -> None:
        """The class declares `name`, `op` and `symbol`."""

    def workspace(self, node: Node, target: Target) -> Workspace:
        return Workspace(self.scratch_bytes(node), self.distance(node))

    def scratch_bytes(self, node: Node) -> int:
        """Returns how many bytes of scratch memory it takes at its fastest, a multiple of 16; 0 for none."""
        return 0

    def distance(self, node: Node) -> Optional[int]:
        """Returns how many bytes before its first input the output has to start if the two overlap, so that what the
        kernel writes is no longer read; 0: exactly over it is possible. None if they must lie apart."""
        return None

    def takes(self, node: Node) -> bool:
        return mismatch(self.like, node) is None


def in_int8(node: Node) -> Node:
    """Returns `node` with its weights, of 4 bits, in 8."""
    widened = copy_of(node)
    widened.inputs[1] = dataclasses.replace(node.inputs[1], type=node.inputs[1].type.of(element=COMMON_ELEMENT))
    return widened


def copy_of(node: Node) -> Node:
    """Returns a node with the same operands, for `legal` to change."""
    return dataclasses.replace(node, inputs=list(node.inputs), outputs=list(node.outputs), states=list(node.states))
