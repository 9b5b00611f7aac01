"""All providers, the preferred ones first, and their kernels by opcode."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from ..format.opcodes import Opcode
from ..format.schema import MAX_PROVIDERS
from ..ops.kernel import KernelSpec
from ..ops.registry import OPS
from .cmsis_nn.provider import CmsisNn
from .implementation import Implementation, OwnImplementation
from .portable.provider import Portable
from .provider import Provider
from .tuned.provider import Tuned

PORTABLE = Portable()
CMSIS_NN = CmsisNn()
TUNED = Tuned()
# By name, in the order in which calls are offered to them.
PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in (TUNED, CMSIS_NN, PORTABLE)}
DEFAULT = tuple(PROVIDERS.values())


def register(provider: Provider) -> None:
    """Adds a provider to PROVIDERS, which `compile_model(providers=...)` and other functions choose from by name, in
    this process. ValueError if its name, namespace or number is taken, if payloads cannot have its number or revision,
    or if it calls a library that builds may lack, which generated C++ knows of ours alone."""
    if not 0 <= provider.id < MAX_PROVIDERS:
        raise ValueError(f"provider {provider.name}: id {provider.id} is not in [0, {MAX_PROVIDERS})")
    if not 0 < provider.revision < 1 << 32:
        raise ValueError(f"provider {provider.name}: revision {provider.revision} is not in [1, 2^32)")
    if not provider.name or "," in provider.name:
        raise ValueError(f"provider {provider.name!r}: give it a name without commas")
    if provider.library is not None:
        raise ValueError(f"provider {provider.name}: only ours call a library that a build may lack")
    for other in PROVIDERS.values():
        if provider.name == other.name or provider.id == other.id or provider.namespace == other.namespace:
            raise ValueError(
                f"provider {provider.name}, id {provider.id}, namespace {provider.namespace}: there is already "
                f"{other.name}, id {other.id}, namespace {other.namespace}; choose others"
            )
    PROVIDERS[provider.name] = provider
    kernels.cache_clear()


def get_providers(names: Iterable[str]) -> tuple[Provider, ...]:
    """Returns the providers called `names`, in this order. ValueError lists the choices if a name is unknown or there
    are no names."""
    found = []
    for name in names:
        if name not in PROVIDERS:
            raise ValueError(f"unknown provider of kernels {name!r}; choose from {', '.join(PROVIDERS)}")
        found.append(PROVIDERS[name])
    if not found:
        raise ValueError(f"no provider of kernels is named; choose from {', '.join(PROVIDERS)}")
    return tuple(found)


def provider_in(namespace: str) -> Provider:
    """Returns the provider whose kernels are in the C++ namespace. ValueError if there is none."""
    for provider in PROVIDERS.values():
        if provider.namespace == namespace:
            return provider
    raise ValueError(f"there is no provider of kernels in the namespace {namespace}")


def own_implementations() -> Iterator[OwnImplementation]:
    """Yields the implementations of all providers by kernels of their own."""
    for provider in PROVIDERS.values():
        for op in OPS:
            for found in provider.implementations(op):
                if isinstance(found, OwnImplementation):
                    yield found


def owner_of(implementation: Implementation) -> Provider:
    """Returns the provider that has `implementation`. ValueError if there is none."""
    for provider in PROVIDERS.values():
        if implementation in provider.implementations(implementation.op):
            return provider
    raise ValueError(f"no provider of kernels has {implementation.name}")


def operator_of(kernel: KernelSpec) -> str:
    """Returns the operator that `kernel` computes, whose name its folder has. Other operators may use it too."""
    own = [found for found in own_implementations() if found.kernel is kernel]
    if own:
        return next((found.op for found in own if found.name == kernel.name), own[0].op)
    return next(op.name for op in OPS.values() if kernel in op.kernels)


def all_kernels() -> Iterator[KernelSpec]:
    """Yields the kernels of all operators, and then those that implementations of their own call."""
    for op in OPS.values():
        yield from op.kernels
    yield from dict.fromkeys(found.kernel for found in own_implementations())


@functools.cache
def kernels() -> Mapping[Opcode, KernelSpec]:
    """Every kernel of the format, in the order of the opcodes."""
    found: dict[Opcode, KernelSpec] = {}
    for kernel in all_kernels():
        if found.setdefault(kernel.opcode, kernel) is not kernel:
            raise ValueError(f"{kernel.name} and {found[kernel.opcode].name} have one opcode")
    return dict(sorted(found.items()))
