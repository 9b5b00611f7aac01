"""How a model is to be quantized: a preset, and overrides for functions, types of modules, modules and tensors.

    configuration = Configuration("minmax")
    configuration.module_names["features.0"] = QuantizationConfig(activations="symmetric")

`CmsisNnQuantizer` has this as `set_global`, `set_module_name` and so on, and `configuration_file` reads it from a file.
Settings that a `QuantizationConfig` leaves out are those of the next more general place; from the most special to the
most general:

    module_names    a module, by the name that `named_modules` gives it, with all inside of it; inner before outer
    module_types    modules of a type, "Linear" or "torch.nn.Linear"; inner before outer
    operator_types  a function of the exported program: "aten.linear.default", "aten.linear" or "linear"
    everywhere      all of the model
    the preset

Needs no PyTorch.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from ..format.element import KERNEL_ELEMENTS, Element
from ..support.checked import checked
from ..support.errors import UserError, require_known

OBSERVERS = ("histogram", "minmax", "moving-average", "percentile")
# Those of 4 bits are per channel, too.
WEIGHTS = ("per-channel", "per-tensor", "int4")
ACTIVATIONS = ("affine", "symmetric")
FORMATS = (*(element.value for element in KERNEL_ELEMENTS), Element.FLOAT32.value)
EQUALIZATIONS = ("relu", "relu6")


@dataclass(frozen=True)
class QuantizationConfig:
    """How something is quantized. None is what the more general settings say.

    skip: stay in float, outside of the delegate, in ExecuTorch's kernels. `format` "float32" is float inside of it.
    weights: "per-channel" (a scale for each output channel of a layer), "per-tensor", or "int4": 4 bits in [-7, 7], per
        channel, for linear layers, convolutions of one group, transposed ones that become such, and depthwise ones of
        3 x 3, 1 x 3 and the like with activations of int8, per gate for recurrent layers, and per row for tables with
        rows of 8 numbers or more; others keep 8 bits.
    group: with weights "int4", how many inputs of a linear layer share a scale, such as 32; 0 for one scale per output
        channel, as layers have whose inputs it does not divide, those in int16, and in training those before a batch
        norm.
    activations: "affine", or "symmetric" for zero points 0, as those of int16 are in any case.
    observer: how the range of an activation is found during calibration:
        "histogram" clips outliers where that lowers the squared error: one outlier in the calibration data must not
            cost every other value a bit; in int16, whose steps are finer than its bins, it is "minmax";
        "minmax" never clips, and is a hundred times faster;
        "moving-average" follows the ranges of the samples with a factor of 0.01, so that a single odd sample counts
            for little; it is for hundreds of samples;
        "percentile" clips 0.01 % of the values, half of them at each end, whatever error that makes.
    format: the type of activations: "int8", or "int16" for operators that compute in it, with weights of 8 bits; others
        compute in int8, between two conversions; or "float32": not quantized, and computed in float by the delegate,
        in the same call.
    """

    skip: Optional[bool] = None
    weights: Optional[str] = None
    activations: Optional[str] = None
    observer: Optional[str] = None
    format: Optional[str] = None
    group: Optional[int] = None

    def __post_init__(self) -> None:
        if self.skip is not None and not isinstance(self.skip, bool):
            raise UserError(f"skip is {self.skip!r}; choose true or false")
        if self.group is not None and (not isinstance(self.group, int) or self.group < 0 or self.group == 1):
            raise UserError(
                f"group is {self.group!r}; choose 2 or more inputs that share a scale, such as 32, or 0 for none"
            )
        choices = {"format": FORMATS, "weights": WEIGHTS, "activations": ACTIVATIONS, "observer": OBSERVERS}
        for name, known in choices.items():
            value = getattr(self, name)
            if value is not None:
                require_known(value, known, name)

    @staticmethod
    @checked()
    def of(settings: Mapping[Any, Any]) -> QuantizationConfig:
        """Returns the settings in a mapping. UserError for unknown names and values."""
        names = [field.name for field in dataclasses.fields(QuantizationConfig)]
        for name in settings:
            require_known(name, names, "setting")
        return QuantizationConfig(**settings)

    @checked()
    def over(self, general: QuantizationConfig) -> QuantizationConfig:
        """Returns these settings, and those of `general` where there is none."""
        return dataclasses.replace(general, **self.settings())

    def settings(self) -> dict[str, Any]:
        """Returns the settings that are not None, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def __str__(self) -> str:
        if self.skip:
            return "float"
        return ", ".join(f"{name} {value}" for name, value in self.settings().items()) or "quantized"


# Left in float.
SKIP = QuantizationConfig(skip=True)

_DEFAULT = QuantizationConfig(
    skip=False, format=FORMATS[0], weights="per-channel", activations="affine", observer="histogram", group=0
)


@dataclass(frozen=True)
class Preset:
    """A starting point. `linear_weights` are those of linear layers; `bias_correction` says whether it is on where it
    is possible, unless a configuration says otherwise."""

    about: str
    everywhere: QuantizationConfig = _DEFAULT
    linear_weights: Optional[str] = None
    bias_correction: bool = False


PRESETS: dict[str, Preset] = {
    "default": Preset("the most exact for most networks"),
    "minmax": Preset(
        "calibration a hundred times faster, without clipping: for large models or few, clean samples",
        QuantizationConfig(observer="minmax").over(_DEFAULT),
    ),
    "fast-linear": Preset(
        "one scale for all weights of a linear layer: up to 4 % fewer instructions, less exact",
        linear_weights="per-tensor",
    ),
    "symmetric": Preset(
        "activations with zero point 0, as other tools may require them: a bit less where values are never negative",
        QuantizationConfig(activations="symmetric").over(_DEFAULT),
    ),
    "w4": Preset(
        "weights of 4 bits, where an operator has such a kernel: about half the flash, with more noise",
        QuantizationConfig(weights="int4").over(_DEFAULT),
        # Rounding to so few steps shifts the means of inputs that are all positive, such as images.
        bias_correction=True,
    ),
    "int16": Preset(
        "activations of 16 bits, where an operator has such a kernel: far less noise, for twice the RAM",
        QuantizationConfig(format="int16", observer="minmax").over(_DEFAULT),
    ),
}

# Other names of presets. A `Configuration` and reports have the name in PRESETS.
ALIASES = {FORMATS[0]: "default"}

# What the format of several is called, which no preset can be: it depends on the model.
_MIXED = "mixed"


def preset_names() -> str:
    """Returns the names of the presets for help and messages: "default (or int8), minmax, ..."."""
    return ", ".join(
        " ".join([name, *(f"(or {alias})" for alias, preset in ALIASES.items() if preset == name)]) for name in PRESETS
    )


def is_preset(given: Any) -> bool:
    """Returns whether this is a name of a preset."""
    return isinstance(given, str) and (given in PRESETS or given in ALIASES)


def require_no_search(preset: Any) -> None:
    """Refuses what would be a preset if one could choose formats by layer: UserError says what does."""
    if isinstance(preset, str) and preset == _MIXED:
        raise UserError(
            f"there is no preset {preset!r}: which layers need a wider format depends on the model, so the compiler "
            "searches for them if it is told how accurate the model has to be. In Python, call choose_formats with "
            "min_sqnr, min_top1 or max_drop; on the command line, give compile --min-sqnr, --min-top1 or --max-drop"
        )


@dataclass
class Configuration:
    """See the module docstring. `preset` is a key of PRESETS or ALIASES. `ranges` are (lowest, highest) values of
    tensors, by the name of an input or of the module that computes the tensor. equalization: None, or what it goes
    through; see the module `equalization`. bias_correction: see the module `bias_correction`; None is what the preset
    says."""

    preset: str = "default"
    linear_weights: Optional[str] = None  # instead of the preset's
    everywhere: QuantizationConfig = QuantizationConfig()
    operator_types: dict[str, QuantizationConfig] = field(default_factory=dict)
    module_types: dict[str, QuantizationConfig] = field(default_factory=dict)
    module_names: dict[str, QuantizationConfig] = field(default_factory=dict)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    equalization: Optional[str] = None
    bias_correction: Optional[bool] = None

    def __post_init__(self) -> None:
        require_no_search(self.preset)
        require_known(self.preset, [*PRESETS, *ALIASES], "preset")
        self.preset = ALIASES.get(self.preset, self.preset)
        if self.linear_weights is not None:
            require_known(self.linear_weights, WEIGHTS, "linear weights")
        if self.equalization is not None:
            require_known(self.equalization, EQUALIZATIONS, "equalization")
        if self.bias_correction is not None and not isinstance(self.bias_correction, bool):
            raise UserError(f"bias_correction is {self.bias_correction!r}; choose true or false")

    @property
    def corrects_biases(self) -> bool:
        return PRESETS[self.preset].bias_correction if self.bias_correction is None else self.bias_correction

    @checked()
    def set_range(self, name: str, low: float, high: float) -> None:
        """Fixes the range of a tensor. UserError if int8 cannot have it."""
        if not (math.isfinite(low) and math.isfinite(high) and low <= 0 <= high and low < high):
            raise UserError(
                f"range of {name!r}: [{low:g}, {high:g}] is impossible: a range has two finite numbers and contains 0"
            )
        self.ranges[name] = float(low), float(high)

    def overrides(self, operator: str, modules: Iterable[tuple[str, str]]) -> dict[str, QuantizationConfig]:
        """Returns the overrides that apply to a function, the most general first, by where they are given, such as
        "module_names: head". `modules` are the names and types of the modules that the function is in, from the
        outermost inwards."""
        stack = list(modules)
        found = {}
        for name, config in self.operator_types.items():
            if is_operator(operator, name):
                found[f"operator_types: {name}"] = config
        for _, kind in stack:
            for name, config in self.module_types.items():
                if is_type(kind, name):
                    found[f"module_types: {name}"] = config
        for path, _ in stack:
            if path in self.module_names:
                found[f"module_names: {path}"] = self.module_names[path]
        return found

    def general(self, linear: bool = False) -> QuantizationConfig:
        """Returns what holds without overrides; `linear`: for a linear layer."""
        preset = PRESETS[self.preset]
        found = preset.everywhere
        weights = self.linear_weights or preset.linear_weights
        if linear and weights:
            found = dataclasses.replace(found, weights=weights)
        return self.everywhere.over(found)

    def __str__(self) -> str:
        """One line, for reports: "default; module_names: head: float"."""
        return "; ".join([self.preset, *self._lines()])

    def _lines(self) -> Iterator[str]:
        if self.linear_weights:
            yield f"linear weights {self.linear_weights}"
        if self.everywhere.settings():
            yield f"everywhere: {self.everywhere}"
        for place in ("operator_types", "module_types", "module_names"):
            for name, config in getattr(self, place).items():
                yield f"{place}: {name}: {config}"
        for name, (low, high) in self.ranges.items():
            yield f"ranges: {name}: [{low:g}, {high:g}]"
        if self.equalization:
            yield f"equalization {self.equalization}"
        if self.bias_correction is not None and self.bias_correction != PRESETS[self.preset].bias_correction:
            yield "bias correction" if self.bias_correction else "no bias correction"


def is_operator(operator: str, name: str) -> bool:
    """Returns whether `name` is that of a function: "aten.linear.default", "aten.linear" or "linear"."""
    parts = operator.split(".")
    return name in (operator, ".".join(parts[:2]), ".".join(parts[1:2]))


def is_type(kind: str, name: str) -> bool:
    """Returns whether `name` is that of a type such as "torch.nn.modules.linear.Linear": this, "torch.nn.Linear" or
    "Linear"."""
    last = kind.rsplit(".", 1)[-1]
    return name in (kind, last) or (kind.startswith("torch.nn.modules.") and name == f"torch.nn.{last}")
