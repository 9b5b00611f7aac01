"""The compiler's view of a provider of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Optional

from ..format.schema import Isa, ReadsPast
from ..ops.kernel import KernelSpec
from .implementation import Implementation, Symbol


class Library(NamedTuple):
    """A library of others that kernels call, which a build may lack. In builds without it, kernels of the same names in
    another namespace compute its calls."""

    # The C preprocessor's macro that builds with it define.
    macro: str
    # The variable that stands for its folder in lists of files, and the folders of headers and sources therein.
    variable: str
    includes: str
    sources: str
    # The namespace of the kernels in its place.
    stand_in: str


class Provider(ABC):
    """A set of kernels that an image may link. Each provider is a folder.

    The compiler gives each call to the first allowed provider that has an implementation for it, except where that is
    outdone by another one's and the call is to be fast (`for_speed`). The payload states the
    revisions of all providers that it uses, and each call states its provider, so that an image without that provider
    refuses the payload.
    """

    # In [0, MAX_PROVIDERS); payloads have it.
    id: ClassVar[int]
    # Its name in options, reports and logs.
    name: ClassVar[str]
    # The C++ namespace of its kernels.
    namespace: ClassVar[str]
    # The variable that stands for the folder from which C++ includes headers, in lists of files; and in it the folder
    # of the provider's kernels, the header that declares them, and the file of each in the folder, in which "{op}"
    # stands for the operator and "{function}" for the function.
    root: ClassVar[str] = "CMSIS_NN_DELEGATE_DIR"
    folder: ClassVar[str]
    header: ClassVar[str]
    source: ClassVar[str] = "{function}.cc"
    # The revision that the constants and scratch sizes of its calls follow: it changes when a kernel needs others.
    revision: ClassVar[int]
    # The C++ constant that has it.
    revision_constant: ClassVar[str]
    # Whether its calls depend on the instruction set, by their scratch sizes or the order of their constants, so that
    # an image accepts only calls for its own.
    isa_dependent: ClassVar[bool]
    # Whether who names it asks for speed: others' kernels that the portable ones outdo then come last.
    for_speed: ClassVar[bool] = False
    # The library that it calls, if it calls one.
    library: ClassVar[Optional[Library]] = None

    @abstractmethod
    def implementations(self, op: str) -> Sequence[Implementation]:
        """Returns its implementations of operator `op`, the preferred ones first."""

    @abstractmethod
    def symbol(self, kernel: KernelSpec) -> Optional[Symbol]:
        """Returns what an image with its kernels links for `kernel`; None if it has none of its own. It may have
        kernels that it has no implementation for: twins of another provider's, which compute the same calls."""

    def file_of(self, op: str, function: str) -> str:
        """Returns the file below its root that defines `function`, which computes calls of operator `op`."""
        return f"{self.folder}/{self.source.format(op=op, function=function)}"

    def why_lacking(self, kernel: KernelSpec) -> str:
        """Returns why it has no implementation that calls `kernel`, one of an operator's, on every instruction set; ""
        if nobody expects one."""
        return f"{self.name} has no {kernel.name}"

    def runs(self, provider: int) -> bool:
        """Returns whether its kernels compute calls that were compiled for the provider with this number, with their
        constants and scratch memory: by default only its own."""
        return provider == self.id

    def reads_past(self, kernel: KernelSpec, isa: Isa) -> ReadsPast:
        """Returns how many bytes have to follow the constants of a call of `kernel`."""
        symbol = self.symbol(kernel)
        return symbol.reads_past.get(isa, ReadsPast()) if symbol else ReadsPast()
