"""The compiler's view of a provider of kernels."""

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
    """A set of kernels that an image may link. Each provider is one file in this folder.

    The compiler gives each call to the first allowed provider that has the kernel. The payload states the revisions of
    all providers that it uses, and each call states its provider, so that an image without that provider refuses the
    payload.
    """

    id: ClassVar[ProviderId]
    # Its name in options, reports and logs.
    name: ClassVar[str]
    # The C++ namespace of its kernels, and their folder in runtime/kernels.
    namespace: ClassVar[str]
    # The revisions that the constants and scratch sizes of payloads may follow. They include those of other providers
    # whose calls an image with these kernels can run.
    takes: ClassVar[Mapping[ProviderId, int]]

    # Whether its calls depend on the instruction set, by their scratch sizes or the order of their constants, so that
    # an image accepts only calls for its own.
    isa_dependent: ClassVar[bool]

    @property
    def revision(self) -> int:
        """Returns the revision that calls compiled for it follow."""
        return self.takes[self.id]

    @abstractmethod
    def has(self, kernel: KernelSpec) -> bool:
        """Returns whether this provider has its own kernel."""

    def why_not(self, kernel: KernelSpec) -> str:
        """Returns why it lacks `kernel`."""
        return f"{self.name} has no {kernel.name}"

    def legalize(self, op: Op, node: Node) -> None:
        """Changes `node`, which `op` describes, to an equivalent one that its kernels compute on every target.
        ValueError if there is none."""
        return None

    def scratch_bytes(self, op: Op, node: Node, target: Target) -> int:
        """Returns how many bytes of scratch memory its kernel for `node` needs on `target`."""
        return 0

    def reads_past(self, kernel: KernelSpec, isa: Isa) -> ReadsPast:
        """Returns how many bytes have to follow the constants of a call of `kernel`."""
        return ReadsPast()
