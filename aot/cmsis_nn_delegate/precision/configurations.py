"""Configurations that give modules formats: `with_formats`, and `without_formats`."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping

from ..quantization.configuration import Configuration, QuantizationConfig
from .formats import LayerFormat


def with_formats(base: Configuration, first: LayerFormat, chosen: Mapping[str, LayerFormat]) -> Configuration:
    """Returns `base` with a format for each module, by its name, and the format `first` for all else of which `base`
    does not say otherwise. The name "" is the model itself, for functions that are in no module inside of it.

    Weights that `base` gives to modules stay. Those of 8 bits have as many scales as `base` says, unless what is around
    a module has 4 bits.
    """
    found = copy.deepcopy(base)
    outermost = chosen.get("", first)
    small = any(_are_small(base.general(linear)) for linear in (False, True))
    found.everywhere = _settings(outermost, small).over(found.everywhere)
    for name, given in chosen.items():
        around = _inherited(name, chosen, outermost)
        if name and given.config != around.config:
            own = found.module_names.get(name, QuantizationConfig())
            settings = _settings(given, small or around.is_small).over(own)
            found.module_names[name] = dataclasses.replace(settings, weights=own.weights or settings.weights)
    return found


def _are_small(config: QuantizationConfig) -> bool:
    return config.weights == "int4"


def _settings(given: LayerFormat, in_small: bool) -> QuantizationConfig:
    """Returns the settings of a format for what is in something with weights of 4 bits, or not."""
    return given.config if in_small or given.is_small else dataclasses.replace(given.config, weights=None)


def _inherited(name: str, chosen: Mapping[str, LayerFormat], outermost: LayerFormat) -> LayerFormat:
    """Returns the format of the nearest module around `name` that has one."""
    parts = name.split(".")
    around = (".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
    return next((chosen[outer] for outer in around if outer in chosen), outermost)


def without_formats(base: Configuration, formats: Iterable[LayerFormat]) -> Configuration:
    """Returns `base` without the settings by which `formats` differ, for any part of the model."""
    settings = dict.fromkeys(name for given in formats for name in given.config.settings())
    found = copy.deepcopy(base)
    for place in (found.operator_types, found.module_types, found.module_names):
        for name, config in place.items():
            place[name] = dataclasses.replace(config, **settings)
    return found
