"""What can be traded beside formats of layers: `VARIANTS`. A new trade is a line here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from ..planner.memory import IoPlacement
from ..selection.options import SLOWDOWN_FOR_RAM, PayloadOptions
from ..selection.preference import Preference

_LARGE_SLOWDOWN = 50.0  # percent
_GROWTHS = (16 << 10, 256 << 10)  # bytes, that payloads may grow by for speed


@dataclass(frozen=True)
class Variant:
    """`arguments` are those of `compile`, and `apply` changes the options that the caller gave in the same way."""

    arguments: str
    apply: Callable[[PayloadOptions], PayloadOptions]


def _preferring(preference: Preference, slowdown: float = 0.0) -> Callable[[PayloadOptions], PayloadOptions]:
    return lambda options: dataclasses.replace(
        options, preference=preference, max_flash_growth=0, max_slowdown=slowdown
    )


def _growing(nbytes: int) -> Callable[[PayloadOptions], PayloadOptions]:
    return lambda options: dataclasses.replace(
        options, preference=Preference.SPEED, max_flash_growth=nbytes, max_slowdown=0.0
    )


def _only(*names: str) -> Callable[[PayloadOptions], PayloadOptions]:
    """Returns what leaves out the providers of other names."""

    def apply(options: PayloadOptions) -> PayloadOptions:
        left = tuple(provider for provider in options.providers if provider.name in names)
        return dataclasses.replace(options, providers=left or options.providers)

    return apply


# The first is what `compile` does by itself. Of two with the same figures the first is shown.
VARIANTS = (
    Variant("", lambda options: dataclasses.replace(options, max_slowdown=0.0)),
    Variant("--prefer flash", _preferring(Preference.FLASH)),
    Variant("--prefer ram --max-slowdown 0", _preferring(Preference.RAM)),
    Variant("--prefer ram", _preferring(Preference.RAM, SLOWDOWN_FOR_RAM)),
    Variant(f"--prefer ram --max-slowdown {_LARGE_SLOWDOWN:g}", _preferring(Preference.RAM, _LARGE_SLOWDOWN)),
    *(Variant(f"--max-flash-growth {nbytes >> 10}K", _growing(nbytes)) for nbytes in _GROWTHS),
    Variant("--io-placement caller", lambda options: dataclasses.replace(options, io_placement=IoPlacement.CALLER)),
    Variant("--providers cmsis-nn,portable", _only("cmsis-nn", "portable")),
)
