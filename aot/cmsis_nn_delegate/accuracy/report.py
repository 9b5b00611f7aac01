"""How exact a compiled model is, as text and as JSON: `Accuracy`. Needs no PyTorch.

In the JSON, a ratio in dB is null where there is no noise, or where a column does not apply.

A large data set can be measured in parts, each in a process or on a machine of its own: `merged` adds them up.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from ..support.checked import checked, checked_fields
from ..support.errors import UserError
from ..support.noise_sums import NoiseSums
from ..support.structured import parse_json, read_json, structured

# The version of the JSON's structure.
SCHEMA = 3
STEPS = ("first step", "middle", "last step")  # of sequences, at which `Arithmetic.drift` is measured
_AGAIN = "write one with `cmsisnn accuracy MODEL --data FILE.npz --json`"


@checked_fields
@dataclass(frozen=True)
class Part:
    """Every `count`th sample of a data set from sample `number` on, which is counted from 1."""

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise UserError(f"part {self.number} of {self.count} does not exist; parts are counted from 1")

    @staticmethod
    def of(text: str) -> Part:
        """Reads "2/4". ValueError for anything else."""
        match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text, re.ASCII)
        if match is None or int(match[1]) > int(match[2]):
            raise ValueError(f"{text!r} is no part of the data: give I/N, such as 1/4, 2/4, 3/4 and 4/4")
        return Part(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def samples(self) -> slice:
        return slice(self.number - 1, None, self.count)


@dataclass(frozen=True)
class Arithmetic:
    """The outputs of one way to compute the model, next to those of the first one: the float model, or the quantized
    one if the model was quantized already. `sqnr` and `cosine` are those of the output with the least. `top1` is
    the share of samples whose label is the class with the greatest number. `drift` is `sqnr` at `STEPS` of all
    sequences, for a model that keeps a state: each step reads what noise did to it before."""

    name: str  # "float", "quantized" or "device"
    how: str  # what computed it
    sqnr: Optional[float]
    cosine: float
    top1: Optional[float]
    sums: tuple[NoiseSums, ...]  # by output, over all samples
    rows: int  # labels of the samples, 0 without labels
    right: int  # of these labels
    drift: tuple[Optional[float], ...] = ()  # empty for a model without a state

    def __post_init__(self) -> None:
        if len(self.drift) not in (0, len(STEPS)):
            raise ValueError(f"drift has {len(self.drift)} numbers")
        if not 0 <= self.right <= self.rows or (self.top1 is None) != (self.rows == 0):
            raise ValueError(f"rows, right and top1 do not fit: {self.rows}, {self.right} and {self.top1}")

    @staticmethod
    def of(
        name: str,
        how: str,
        sums: Sequence[NoiseSums],
        rows: int,
        right: int,
        drift: Sequence[Sequence[NoiseSums]] = (),
    ) -> Arithmetic:
        return Arithmetic(
            name,
            how,
            sqnr=_least(sums),
            cosine=min((one.cosine for one in sums if one.signal or one.noise), default=1.0),
            top1=right / rows if rows else None,
            sums=tuple(sums),
            rows=rows,
            right=right,
            drift=tuple(map(_least, drift)),
        )


def _least(sums: Sequence[NoiseSums]) -> Optional[float]:
    sqnr = min((one.sqnr for one in sums if one.signal or one.noise), default=math.inf)
    return None if math.isinf(sqnr) else sqnr


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
    levels: float  # the share of the integers of its type that occur; of fewer where there are fewer numbers
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
    part: str  # "2/4" for the second of four parts of the data, whose layers are not measured; "" for all data
    samples: int
    layer_samples: int
    arithmetics: tuple[Arithmetic, ...]
    device_steps: Optional[int]
    device_obstacle: str  # why there is no device column, "" if there is one
    predicted_sqnr: Optional[float]  # if the costs of all layers add up; next to that of "quantized"
    layers: tuple[LayerAccuracy, ...]  # in execution order

    def __post_init__(self) -> None:
        if self.part:
            Part.of(self.part)
        if not self.arithmetics:
            raise ValueError("nothing was computed")
        if len({a.top1 is None for a in self.arithmetics}) > 1:
            raise ValueError("top1 is known of some arithmetics only")
        if len({len(a.sums) for a in self.arithmetics}) > 1:
            raise ValueError("sums of arithmetics are of different numbers of outputs")
        if (self.device is None) != bool(self.device_obstacle):
            raise ValueError("either arithmetics has the device, or device_obstacle says why not")

    @property
    def device(self) -> Optional[Arithmetic]:
        return next((a for a in self.arithmetics if a.name == "device"), None)

    @property
    def ranking(self) -> list[LayerAccuracy]:
        """Returns the layers that add noise, those that cost most first."""
        return sorted((layer for layer in self.layers if layer.cost > 0), key=lambda layer: -layer.cost)

    def to_json(self) -> str:
        """Returns a document of the version `SCHEMA`: the fields of this class, and `ranking`, names of layers."""
        document = {"schema": SCHEMA, **dataclasses.asdict(self), "ranking": [layer.name for layer in self.ranking]}
        return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


@checked()
def from_json(text: Union[str, bytes], what: str) -> Accuracy:
    """Reads what `to_json` wrote. UserError, which names the text by `what`, if it is something else."""
    return _read(parse_json(text, what, _AGAIN), what)


@checked()
def read(path: Union[str, Path], model: str, target: str) -> Mapping[str, Any]:
    """Returns the document that `cmsisnn accuracy --json` printed for a model, whose fields have been checked.
    UserError if the file has none, or one of another model or target."""
    document = read_json(path, _AGAIN)
    found = _read(document, str(path))
    if (found.model, found.target) != (model, target):
        raise UserError(f"{path} is about {found.model} for {found.target}, and the report about {model} for {target}")
    return document


def _read(document: Mapping[str, Any], what: str) -> Accuracy:
    if not {"arithmetics", "samples", "layers"} & document.keys():
        raise UserError(f"{what} has no accuracy: {_AGAIN}")
    if document.get("schema") != SCHEMA:
        raise UserError(f"{what}: its schema is {document.get('schema')!r}, and this release reads {SCHEMA}; {_AGAIN}")
    return structured(document, Accuracy, what, _AGAIN, complete=True)


@checked()
def merged(parts: Sequence[Accuracy]) -> Accuracy:
    """Returns the accuracy on the data whose parts were measured, each once. UserError if some are missing, or are of
    different models or data."""
    if not parts:
        raise UserError("there are no parts to add up")
    first = parts[0]
    for part in parts:
        if (part.model, part.target) != (first.model, first.target):
            raise UserError(
                f"the parts are of different models: {first.model} for {first.target}, and {part.model} for "
                f"{part.target}"
            )
    count = Part.of(first.part).count if first.part else 0
    found = {part.part for part in parts}
    # Each of the first ones, as many as there are files and one more: a file may claim to be one of a billion parts.
    wanted = [str(Part(number, count)) for number in range(1, min(count, len(parts) + 1) + 1)] if count else [""]
    missing = next((name for name in wanted if name not in found), None)
    if missing is not None or len(parts) != len(wanted):
        given = ", ".join(repr(part.part) for part in parts)
        raise UserError(
            f"all {max(count, 1):,} parts of the data are needed, each once: "
            + (f"given are {given}" if missing is None else f"{missing} is missing")
        )
    if any([a.name for a in part.arithmetics] != [a.name for a in first.arithmetics] for part in parts):
        raise UserError("the device's outputs were computed for some parts only: measure all on the same machine")
    if len({len(part.arithmetics[0].sums) for part in parts}) > 1:
        raise UserError("the parts are of models with different numbers of outputs")
    steps = [part.device_steps for part in parts if part.device_steps is not None]
    return dataclasses.replace(
        first,
        part="",
        samples=sum(part.samples for part in parts),
        arithmetics=tuple(map(_sum, zip(*(part.arithmetics for part in parts)))),
        device_steps=max(steps, default=None),
    )


def _sum(arithmetics: Sequence[Arithmetic]) -> Arithmetic:
    """Returns one arithmetic on the samples of all parts."""
    first = arithmetics[0]
    sums = [functools.reduce(NoiseSums.plus, outputs) for outputs in zip(*(a.sums for a in arithmetics))]
    rows, right = (sum(numbers) for numbers in zip(*((a.rows, a.right) for a in arithmetics)))
    return Arithmetic.of(first.name, first.how, sums, rows, right)


@checked()
def shortfalls(
    accuracy: Accuracy,
    min_top1: Optional[float] = None,
    min_sqnr: Optional[float] = None,
    max_steps: Optional[int] = None,
) -> list[str]:
    """Returns a sentence for each limit that the device does not keep: the least `top1`, the least `sqnr` in dB, and
    the most `device_steps`. UserError if a limit is no such number, or for what was not measured."""
    if min_top1 is None and min_sqnr is None and max_steps is None:
        return []
    # NaN would compare as kept, and so would a limit below what can be.
    if min_top1 is not None and not 0 <= min_top1 <= 1:
        raise UserError(f"the least top-1 is {min_top1:g}; it must be a share from 0 to 1")
    if min_sqnr is not None and not math.isfinite(min_sqnr):
        raise UserError(f"the least signal to noise is {min_sqnr:g}; it must be a finite number of dB")
    if max_steps is not None and max_steps < 0:
        raise UserError(f"the most steps are {max_steps}; they must not be negative")
    device = accuracy.device
    if device is None:
        raise UserError(
            f"there are limits for the device, and nothing computed its outputs: {accuracy.device_obstacle}"
        )
    found = []
    if min_top1 is not None:
        if device.top1 is None:
            raise UserError("a limit of top-1 needs labels: give --labels")
        if device.top1 < min_top1:
            found.append(
                f"{device.right} of {device.rows} labels are right on the device, a share of {device.top1:.4f}, less "
                f"than {min_top1:g}"
            )
    if min_sqnr is not None and device.sqnr is not None and device.sqnr < min_sqnr:
        found.append(f"the device's signal to noise is {device.sqnr:.2f} dB, less than {min_sqnr:g}")
    if max_steps is not None and accuracy.device_steps is not None and accuracy.device_steps > max_steps:
        found.append(
            f"the device differs from the quantized model in PyTorch by {_steps(accuracy.device_steps)}, more than "
            f"{max_steps}"
        )
    return found


def decibels(ratio: float) -> Optional[float]:
    """Returns 10 log10 of a ratio of noise to signal, negated; None without noise."""
    return -10 * math.log10(ratio) if ratio > 0 else None


@checked()
def render(accuracy: Accuracy, most: int = 5) -> str:
    """Returns tables of the arithmetics and of all layers, and the `most` layers that cost most, with what to do."""
    part = f", part {accuracy.part} of the data" if accuracy.part else ""
    lines = [f"{accuracy.model} on {accuracy.target}, {accuracy.samples} samples{part}", ""]
    labelled = any(a.top1 is not None for a in accuracy.arithmetics)
    drifts = any(a.drift for a in accuracy.arithmetics)
    rows = [["", "SQNR", *(STEPS if drifts else []), "cosine", *(["top-1"] if labelled else []), "computed by"]]
    for a in accuracy.arithmetics:
        top1 = [] if not labelled else ["-" if a.top1 is None else f"{100 * a.top1:.2f} %"]
        noise = [*map(_db, (a.sqnr, *a.drift)), f"{a.cosine:.5f}"]
        first = ["-"] * len(noise) if a is accuracy.arithmetics[0] else noise
        rows.append([a.name, *first, *top1, a.how])
    lines += _table(rows, left=(0, len(rows[0]) - 1))
    if accuracy.device_obstacle:
        lines.append(f"device: {accuracy.device_obstacle}")
    if accuracy.device_steps is not None:
        lines.append(
            f"The device differs from the quantized model in PyTorch by at most {_steps(accuracy.device_steps)}."
        )
    if not accuracy.layers:
        return "\n".join(lines) + "\n"
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
