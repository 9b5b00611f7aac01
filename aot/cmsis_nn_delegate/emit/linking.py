"""What an image links to run payloads: whose kernel computes the calls of each opcode, and by which function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Optional

from ..format.opcodes import Opcode
from ..format.schema import Isa
from ..payload.decode import Call, Payload
from ..providers.implementation import Function, Symbol
from ..providers.provider import Provider
from ..providers.registry import DEFAULT, PROVIDERS, kernels, provider_in


@dataclass(frozen=True)
class Linked:
    """The kernel that an image links for an opcode. `function` is there if it computes all calls alone."""

    opcode: Opcode
    provider: Provider
    symbol: Symbol
    function: Optional[Function]

    @property
    def name(self) -> str:
        """Returns the name of the function that runs the calls."""
        return self.function.name if self.function else self.symbol.kernel.name


def link(views: Sequence[Payload]) -> dict[Opcode, Linked]:
    """Returns what an image links for each opcode, in their order: the kernel of the provider that its calls were
    compiled for, or if there are several, of one that runs the calls of all."""
    calls: dict[Opcode, list[tuple[Call, Isa]]] = {}
    for view in views:
        for call in view.calls:
            calls.setdefault(call.opcode, []).append((call, view.isa))
    found = {}
    for opcode, those in sorted(calls.items()):
        provider, symbol = _runs_all(opcode, {call.provider.id for call, _ in those})
        functions = {symbol.function_for(call.args, isa) for call, isa in those}
        found[opcode] = Linked(opcode, provider, symbol, functions.pop() if len(functions) == 1 else None)
    return found


def _runs_all(opcode: Opcode, numbers: set[int]) -> tuple[Provider, Symbol]:
    """Returns the preferred provider of those whose kernel for `opcode` runs the calls of all the numbered ones, one of
    these if possible."""
    for provider in sorted(PROVIDERS.values(), key=lambda provider: provider.id not in numbers):
        symbol = provider.symbol(kernels()[opcode])
        if symbol is not None and all(provider.runs(number) for number in numbers):
            return provider, symbol
    raise ValueError(f"no provider has a kernel {opcode.name.lower()} that runs the calls of all of {sorted(numbers)}")


def function_of(call: Call, linked: Linked, isa: Isa) -> str:
    """Returns the name of the function that runs `call` in an image that has the kernels of `linked`, without a table:
    of a library's wrapper, the function that it would choose; else what `linked` names."""
    symbol = call.provider.symbol(kernels()[call.opcode])
    if call.provider.library is None or symbol is None:
        return linked.name if call.provider is linked.provider else kernels()[call.opcode].name
    function = symbol.function_for(call.args, isa)
    return function.name if function else symbol.kernel.name


def in_order(providers: Iterable[Provider]) -> list[Provider]:
    """Returns `providers`, each once, the preferred ones first."""
    wanted = set(providers)
    return [provider for provider in PROVIDERS.values() if provider in wanted]


def used(views: Sequence[Payload]) -> list[Provider]:
    """Returns the providers that calls were compiled for, the preferred ones first."""
    return in_order(call.provider for view in views for call in view.calls)


def included(views: Sequence[Payload]) -> list[Provider]:
    """Returns the providers whose headers the C++ of a model includes: those of this repository, and others that it
    uses."""
    return in_order([*DEFAULT, *used(views)])


def alias(provider: Provider) -> str:
    """Returns the namespace that C++ of a model uses for the kernels of `provider`: where it calls a library that a
    build may lack, a namespace that stands for them or for others in their place."""
    return provider.namespace if provider.library is None else f"{provider.namespace}_or_{provider.library.stand_in}"


def stand_in(provider: Provider) -> Provider:
    """Returns the provider whose kernels compute the calls in builds without the library of `provider`."""
    assert provider.library is not None
    return provider_in(provider.library.stand_in)


def includes(views: Sequence[Payload]) -> str:
    """Returns the lines that include the headers of kernels."""
    lines = []
    for provider in sorted(included(views), key=lambda provider: (provider.library is not None, provider.header)):
        line = f'#include "{provider.header}"'
        lines += [line] if provider.library is None else [f"#ifdef {provider.library.macro}", line, "#endif"]
    return "\n".join(lines)
