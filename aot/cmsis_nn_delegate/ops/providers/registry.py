"""All providers, the preferred ones first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .cmsis_nn import CmsisNn
from .portable import Portable
from .provider import Provider
from .tuned import Tuned

PORTABLE = Portable()
CMSIS_NN = CmsisNn()
TUNED = Tuned()
# By name, in the order in which calls are offered to them.
PROVIDERS: Mapping[str, Provider] = {provider.name: provider for provider in (TUNED, CMSIS_NN, PORTABLE)}
DEFAULT = tuple(PROVIDERS.values())


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
