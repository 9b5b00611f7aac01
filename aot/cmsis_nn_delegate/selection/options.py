"""What is asked of a payload: `PayloadOptions`, the same for all that compile one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional, TypedDict, Unpack

from ..passes.run_passes import check_optional
from ..planner.memory import IoPlacement
from ..providers.provider import Provider
from ..providers.registry import DEFAULT, PROVIDERS, get_providers
from ..support.errors import UserError
from ..targets.memory import Memory, check_memories, list_text
from .preference import Preference, check_flash_growth

SLOWDOWN_FOR_RAM = 10.0  # percent that models compiled for the least RAM may take more by default


class PayloadKeywords(TypedDict, total=False):
    """The options of a payload as users give them, by name; `compile.compile_model` describes them."""

    io_placement: str
    providers: Sequence[str]
    prefer: str
    max_flash_growth: int
    memories: Sequence[Memory]
    skip_passes: Collection[str]
    max_slowdown: Optional[float]


@dataclass(frozen=True)
class PayloadOptions:
    """How a partition becomes a payload for a target. Each step from `legalize` to `encode_planned` reads what it needs
    from here. `compile.compile_model` describes the options for users.

    ValueError for options that contradict each other or themselves.
    """

    io_placement: IoPlacement = IoPlacement.ARENA
    providers: tuple[Provider, ...] = DEFAULT  # in order of preference
    preference: Preference = Preference.SPEED
    max_flash_growth: int = 0  # bytes
    memories: tuple[Memory, ...] = ()  # the fastest first
    skip_passes: tuple[str, ...] = ()  # names of `run_passes.OPTIONAL_PASSES`
    max_slowdown: float = 0.0  # percent of the predicted instructions, for `bands`

    def __post_init__(self) -> None:
        check_flash_growth(self.preference, self.max_flash_growth)
        check_memories(self.memories)
        check_optional(self.skip_passes)
        if not 0 <= self.max_slowdown < math.inf:
            raise ValueError(f"max_slowdown is {self.max_slowdown}: give a percentage, 0 or more")

    @staticmethod
    def of(**given: Unpack[PayloadKeywords]) -> PayloadOptions:
        """Returns the options with these names, as users give them. UserError for what is unknown or contradictory."""
        try:
            preference = Preference.of(given.get("prefer", Preference.SPEED.value))
            max_slowdown = given.get("max_slowdown")
            if max_slowdown is None:
                max_slowdown = SLOWDOWN_FOR_RAM if preference is Preference.RAM else 0.0
            return PayloadOptions(
                IoPlacement.of(given.get("io_placement", IoPlacement.ARENA.value)),
                get_providers(given.get("providers", tuple(PROVIDERS))),
                preference,
                given.get("max_flash_growth", 0),
                tuple(given.get("memories", ())),
                tuple(given.get("skip_passes", ())),
                max_slowdown,
            )
        except ValueError as error:
            raise UserError(str(error)) from error

    def to_texts(self) -> dict[str, str]:
        """Returns the options by name, as compile specs and compiled files store them; rare ones only if given."""
        texts = {
            "io_placement": self.io_placement.value,
            "providers": ",".join(provider.name for provider in self.providers),
            "prefer": self.preference.value,
            "max_flash_growth": str(self.max_flash_growth),
        }
        rare = {
            "memories": list_text(self.memories),
            "skip_passes": ",".join(self.skip_passes),
            "max_slowdown": repr(self.max_slowdown) if self.max_slowdown else "",
        }
        return texts | {name: text for name, text in rare.items() if text}

    @staticmethod
    def from_texts(texts: Mapping[str, str]) -> PayloadOptions:
        """Returns the options that `to_texts` described, among other texts. ValueError if they cannot be read."""
        skipped = texts.get("skip_passes", "")
        return PayloadOptions(
            IoPlacement.of(texts.get("io_placement", IoPlacement.ARENA.value)),
            get_providers(texts["providers"].split(",")) if "providers" in texts else DEFAULT,
            Preference.of(texts.get("prefer", Preference.SPEED.value)),
            int(texts.get("max_flash_growth", 0)),
            tuple(Memory.list_of(texts.get("memories", ""))),
            tuple(skipped.split(",")) if skipped else (),
            float(texts.get("max_slowdown", 0)),
        )


DEFAULT_OPTIONS = PayloadOptions()
