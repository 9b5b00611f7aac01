"""What a provider of kernels is to the compiler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ...format.schema import Isa, ProviderId, ReadsPast
from ...graph.ir import Node
from ...target import Target
from ..kernel import KernelSpec
from ..op import Op


class Provider(ABC):
    """A set of kernels that an image may link. One provider is one file of this folder.

    The compiler gives each call to the first provider, of those that it may use, which has the kernel. The payload
    names the revisions of all that it has used, and each call its own, so that an image without it refuses the payload.
    """

    id: ClassVar[ProviderId]
    # In options, reports and logs.
    name: ClassVar[str]
    # Of its kernels in C++, and their folder in runtime/kernels.
    namespace: ClassVar[str]
    # The revisions that the constants and scratch sizes of payloads may follow: those of other providers, too, whose
    # calls an image with its kernels computes.
    takes: ClassVar[Mapping[ProviderId, int]]

    @property
    def revision(self) -> int:
        """What the calls that are compiled for it follow."""
        return self.takes[self.id]

    @abstractmethod
    def has(self, kernel: KernelSpec) -> bool:
        """Whether there is a kernel of its own."""

    def why(self, kernel: KernelSpec) -> str:
        """Why a call of `kernel` goes to this provider and not to one that is preferred; "" if there is no reason to
        give."""
        return ""

    def legalize(self, op: Op, node: Node) -> None:
        """Changes `node`, which `op` describes, to an equal one that its kernels compute, for every target alike."""
        return None

    def scratch_bytes(self, op: Op, node: Node, target: Target) -> int:
        """Working memory that its kernel for `node` needs on `target`."""
        return 0

    def reads_past(self, kernel: KernelSpec, isa: Isa) -> ReadsPast:
        """Bytes that have to follow the constants of a call of `kernel`."""
        return ReadsPast()
