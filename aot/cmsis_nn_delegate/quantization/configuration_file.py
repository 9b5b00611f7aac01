"""Reads a `Configuration` from YAML, and writes it:

    preset: minmax
    linear_weights: per-channel
    everywhere: {activations: symmetric}
    operator_types:
      softmax: {skip: true}
    module_types:
      Linear: {weights: per-tensor}
    module_names:
      features.0: {observer: histogram}
      head: {skip: true}
    ranges:
      image: [0, 1]
    equalization: relu
    bias_correction: true

Every part may be left out; `configuration` describes them. Needs no PyTorch.
"""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any, Union

import yaml

from ..support.checked import checked
from ..support.errors import UserError, require_known
from .configuration import Configuration, QuantizationConfig

_PLACES = ("operator_types", "module_types", "module_names")
_OPTIONS = ("preset", "linear_weights", "equalization", "bias_correction")
_PARTS = (*_OPTIONS, "everywhere", *_PLACES, "ranges")


def load(path: Union[str, Path]) -> Configuration:
    """Returns the configuration in a file. UserError says what is wrong and where."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or 'it is not text'}") from error
    try:
        return parse(text)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def parse(text: str) -> Configuration:
    """Returns the configuration in the text of a file."""
    try:
        _refuse_repeated_names(yaml.compose(text, yaml.SafeLoader), set())
        parts = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise UserError(f"{line}{error.problem or 'it is not YAML'}") from error
    except RecursionError as error:
        raise UserError("it is nested too deeply") from error
    except yaml.YAMLError as error:
        raise UserError(f"it is not YAML: {str(error).splitlines()[0]}") from error
    parts = _mapping({} if parts is None else parts, "the file")
    for name in parts:
        require_known(name, _PARTS, "part")
    configuration = Configuration(**{name: parts[name] for name in _OPTIONS if name in parts})
    configuration.everywhere = _config(parts.get("everywhere", {}), "everywhere")
    for place in _PLACES:
        overrides = getattr(configuration, place)
        for name, settings in _mapping(parts.get(place, {}), place).items():
            overrides[str(name)] = _config(settings, f"{place}: {name}")
    for name, limits in _mapping(parts.get("ranges", {}), "ranges").items():
        if not isinstance(limits, list) or [type(limit) in (int, float) for limit in limits] != [True, True]:
            raise UserError(f"ranges: {name}: {reprlib.repr(limits)} is no range; write [lowest, highest]")
        try:
            configuration.set_range(str(name), *limits)
        except UserError as error:
            raise UserError(f"ranges: {name}: {error}") from error
    return configuration


@checked()
def dump(configuration: Configuration) -> str:
    """Returns the text of a file that `parse` reads the same configuration from."""
    options = {name: getattr(configuration, name) for name in _OPTIONS}
    parts: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if configuration.everywhere.settings():
        parts["everywhere"] = configuration.everywhere.settings()
    for place in _PLACES:
        overrides = getattr(configuration, place)
        if overrides:
            parts[place] = {name: config.settings() for name, config in overrides.items()}
    if configuration.ranges:
        parts["ranges"] = {name: list(limits) for name, limits in configuration.ranges.items()}
    return str(yaml.safe_dump(parts, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120))


def _config(settings: Any, where: str) -> QuantizationConfig:
    try:
        return QuantizationConfig.of(_mapping(settings, "it"))
    except UserError as error:
        raise UserError(f"{where}: {error}") from error


def _mapping(value: Any, what: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{what} is {reprlib.repr(value)}; write NAME: VALUE")
    return value


def _refuse_repeated_names(node: Any, checked: set[int]) -> None:
    """YAML's loader takes the last of several values for a name. `node` is a part of YAML's tree; aliases make it a
    part of several others, and `checked` has the parts that need not be looked at again."""
    if not isinstance(node, yaml.MappingNode) or id(node) in checked:
        return
    checked.add(id(node))
    seen = set()
    for key, value in node.value:
        if key.value in seen:
            raise UserError(f"line {key.start_mark.line + 1}: {key.value} is given twice")
        seen.add(key.value)
        _refuse_repeated_names(value, checked)
