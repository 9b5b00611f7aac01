"""How exact a compiled model is, as text and as JSON: `Accuracy`. Needs no PyTorch.

In the JSON, a ratio in dB is null where there is no noise, or where a column does not apply.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any, Optional

# The version of the JSON's structure.
SCHEMA = 1


@dataclass(frozen=True)
class Arithmetic:
    """The outputs of one way to compute the model, next to those of the float model. `sqnr` is the ratio of signal to
    noise in dB: 10 log10(sum y^2 / sum (y - q)^2) over all elements of all samples, of the output with the least;
    `cosine` is the least cosine between the outputs as vectors. `top1` is the share of samples whose label is the class
    with the greatest number."""

    name: str  # "float", "quantized" or "device"
    how: str  # what computed it
    sqnr: Optional[float]
    cosine: float
    top1: Optional[float] = None


@dataclass(frozen=True)
class LayerAccuracy:
    """A tensor with a scale of its own, and the weights that it is computed of; functions and modules are named as by
    `explain`. Fields from `sqnr` to `levels` are about the quantized model in PyTorch, with all layers before this one
    quantized too, next to the float model."""

    module: str  # "layers.0 (Conv2d)", "" for the model itself
    source: str  # "model.py:12", "" if unknown
    function: str  # in PyTorch: "aten.conv2d.default"; "input" for an input of the model
    name: str  # in the exported program: "conv2d_1", or of the input
    sqnr: Optional[float]
    device_sqnr: Optional[float]  # of the device's integers
    cosine: float
    saturation: float  # the share of numbers outside of the range, by more than half a step
    levels: float  # the share of the 256 integers that occur; of fewer where there are fewer numbers
    alone_sqnr: Optional[float]  # of the outputs if only this layer is quantized
    cost: (
        float  # its share of the noise that all layers cause in the outputs; see `quantization.comparison.layer_noise`
    )
    weights_cost: float  # the part of that share that its weights cause by themselves, at most `cost`
    proposals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Accuracy:
    """Of a model on `samples` samples; layers were measured on `layer_samples` of them. `device_steps` is how far the
    device's outputs are at most from those of the quantized model in PyTorch, in steps of the output."""

    model: str
    target: str
    samples: int
    layer_samples: int
    arithmetics: tuple[Arithmetic, ...]
    device_steps: Optional[int]
    device_obstacle: str  # why there is no device column, "" if there is one
    predicted_sqnr: Optional[float]  # if the costs of all layers add up; next to that of "quantized"
    layers: tuple[LayerAccuracy, ...]  # in execution order

    @property
    def ranking(self) -> list[LayerAccuracy]:
        """Returns the layers that add noise, those that cost most first."""
        return sorted((layer for layer in self.layers if layer.cost > 0), key=lambda layer: -layer.cost)

    def to_json(self) -> str:
        """Returns a document of the version `SCHEMA`: the fields of this class, and `ranking`, names of layers."""
        document = {"schema": SCHEMA, **dataclasses.asdict(self), "ranking": [layer.name for layer in self.ranking]}
        return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


def decibels(ratio: float) -> Optional[float]:
    """Returns 10 log10 of a ratio of noise to signal, negated; None without noise."""
    return -10 * math.log10(ratio) if ratio > 0 else None


def render(accuracy: Accuracy, most: int = 5) -> str:
    """Returns tables of the arithmetics and of all layers, and the `most` layers that cost most, with what to do."""
    lines = [f"{accuracy.model} on {accuracy.target}, {accuracy.samples} samples", ""]
    labelled = any(a.top1 is not None for a in accuracy.arithmetics)
    rows = [["", "SQNR", "cosine", *(["top-1"] if labelled else []), "computed by"]]
    for a in accuracy.arithmetics:
        top1 = [] if not labelled else ["-" if a.top1 is None else f"{100 * a.top1:.2f} %"]
        first = ["-", "-"] if a.name == "float" else [_db(a.sqnr), f"{a.cosine:.5f}"]
        rows.append([a.name, *first, *top1, a.how])
    lines += _table(rows, left=(0, len(rows[0]) - 1))
    if accuracy.device_obstacle:
        lines.append(f"device: {accuracy.device_obstacle}")
    if accuracy.device_steps is not None:
        lines.append(
            f"The device differs from the quantized model in PyTorch by at most {_steps(accuracy.device_steps)}."
        )
    lines += ["", f"Layers, on {accuracy.layer_samples} samples, with all before them quantized:"]
    rows = [["layer", "source", "function", "SQNR", "device", "cosine", "saturated", "levels", "cost"]]
    for layer in accuracy.layers:
        numbers = [f"{layer.cosine:.5f}", _percent(layer.saturation), _percent(layer.levels), _percent(layer.cost)]
        where = [layer.module or f"({layer.name})", layer.source or "-", _short(layer.function)]
        rows.append([*where, _db(layer.sqnr), _db(layer.device_sqnr), *numbers])
    lines += _table(rows, left=(0, 1, 2))
    ranking = accuracy.ranking[:most]
    if ranking:
        lines += ["", "What costs most: its share of the noise in the outputs, and their SQNR if only it is quantized"]
    for number, layer in enumerate(ranking, 1):
        place = " ".join(part for part in (layer.module, layer.source) if part)
        weights = f", {_percent(layer.weights_cost)} by its weights" if layer.weights_cost else ""
        lines.append(
            f"{number}. {layer.name}{f' in {place}' if place else ''}: "
            f"{_percent(layer.cost)}{weights}; {_db(layer.alone_sqnr)}"
        )
        lines += [f"   {proposal}" for proposal in layer.proposals]
    if accuracy.predicted_sqnr is not None:
        lines += ["", f"If roundings were independent, all layers together would give {_db(accuracy.predicted_sqnr)}."]
    return "\n".join(lines) + "\n"


def _table(rows: list[list[str]], left: tuple[int, ...]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def _db(ratio: Optional[float]) -> str:
    return "-" if ratio is None or math.isinf(ratio) else f"{ratio:.1f} dB"


def _percent(part: float) -> str:
    return "0 %" if part == 0 else f"{100 * part:.2g} %" if part < 0.01 else f"{100 * part:.1f} %"


def _steps(steps: int) -> str:
    return f"{steps} step{'' if steps == 1 else 's'} of an output"


def _short(target: str) -> str:
    """Returns "conv2d" for "aten.conv2d.default"."""
    parts = target.split(".")
    return parts[1] if len(parts) > 2 else target


def _finite(value: Any) -> Any:
    """Replaces what JSON has no number for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value
