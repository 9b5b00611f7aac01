"""What a kernel of provider `tuned` declares. Each is one file in this folder.

A tuned kernel computes nodes of an operator in another way than the kernel that CMSIS-NN or plain C++ has for it: it
reads constants that the compiler has put in the order in which it needs them, and it may only compute the nodes for
which the compiler has proved that the result is the same. It has an opcode and an argument block of its own, so that
one image may have both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Optional

import numpy as np

from ...format.schema import Isa
from ...graph.ir import Node, Value
from ..features import Features
from ..kernel import KernelSpec, Workspace
from ..random_case import RandomCase


class TunedKernel(ABC):
    """Another way to compute nodes of the operator `op`."""

    name: ClassVar[str]
    # The kernel that is called. Several may call one.
    spec: ClassVar[KernelSpec]
    # The operator whose nodes it computes.
    op: ClassVar[str]
    # The instruction sets for which it is worth its flash.
    isas: ClassVar[frozenset[Isa]]
    # Whether it has larger constants than the other kernels for its nodes, for fewer instructions. Then it is only
    # chosen within a limit of flash, where the costs of both kernels are known.
    grows: ClassVar[bool] = False
    # What it assumes, for the docs.
    assumes: ClassVar[str]
    # Random nodes that it computes.
    draws: ClassVar[tuple[Callable[[RandomCase], Value], ...]]

    @abstractmethod
    def why_not(self, node: Node) -> str:
        """Returns why it does not compute `node`, a node of `op`, or not faster; "" if it does."""

    @abstractmethod
    def scratch_bytes(self, node: Node) -> int:
        """Returns how many bytes of scratch memory it takes at its fastest, a multiple of 16; 0 for none."""

    def workspace(self, node: Node) -> Workspace:
        """Returns the memory with which it is fastest."""
        return Workspace(self.scratch_bytes(node), self.distance(node))

    def smaller_workspaces(self, node: Node) -> Sequence[Workspace]:
        """Returns with how much less scratch memory it also computes `node`, in more instructions the less it is."""
        return ()

    def distance(self, node: Node) -> Optional[int]:
        """Returns how many bytes before its first input the output has to start if the two overlap, so that what the
        kernel writes is no longer read; 0: exactly over it is possible. None if they must lie apart."""
        return None

    @abstractmethod
    def features(self, node: Node, scratch_bytes: int) -> Features:
        """Returns what the instructions of a call with `scratch_bytes` of scratch memory depend on."""

    @abstractmethod
    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        """Returns the arrays to put into the payload, by the reference field that names them."""

    @abstractmethod
    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        """Returns the fields of the argument block; `refs` are as for `Op.encode`. `scratch_bytes` is `scratch_bytes`
        of the node or that of one of its smaller workspaces."""
