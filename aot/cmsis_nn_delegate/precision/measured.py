"""The choice of formats for a model as a `Problem`, of what was measured of its layers and compiled of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch

from ..format.element import Element
from ..partition.io_types import FLOAT, QUANTIZED, IoTypes
from ..pipeline import Compilation
from .calls import CallFunctions
from .layers import Layer, Sensitivity
from .problem import Problem

_CONVERSION = 10.0  # instructions for an element, where no compilation has a conversion to learn from


@dataclass(frozen=True)
class MeasuredModel:
    """For each format, what is known of the layers of the model that has it throughout, by their names."""

    layers: Sequence[Mapping[str, Layer]]
    noise: Sequence[Mapping[str, Sensitivity]]


@dataclass(frozen=True)
class Prices:
    """The price of each module in each format, and of converting an element from one type to another. `unknown` are the
    modules with calls without a prediction that multiply or compute in float32, and `outside` how many functions of
    each stay outside of the delegate, where nothing has a price."""

    of_modules: Sequence[Mapping[str, float]]
    conversion: float
    unknown: Sequence[Collection[str]] = ()
    outside: Sequence[Mapping[str, int]] = ()

    def obstacle(self, unit: str, number: int) -> str:
        """Returns why the price of a module in a format does not say what it takes as well as that in the first one; ""
        if it does. A call without a prediction counts far too little, and what stays outside counts nothing."""
        more = self.outside[number].get(unit, 0) - self.outside[0].get(unit, 0) if self.outside else 0
        if more > 0:
            return f"it would leave {more} more functions outside of the delegate"
        if self.unknown and unit in self.unknown[number] and unit not in self.unknown[0]:
            return "some of its calls have no predicted instructions"
        return ""


NO_PRICES = Prices((), 0.0)
_FLOAT_IO = IoTypes()


def problem_of(
    measured: MeasuredModel, offered: Mapping[str, Sequence[int]], prices: Prices = NO_PRICES, by_memory: bool = False
) -> Problem:
    """Returns the problem whose units are the modules of `offered`, in its order: the formats that each may have."""
    base = measured.layers[0]
    unit_index = {unit: number for number, unit in enumerate(offered)}
    row_of = {name: row for row, name in enumerate(base)}
    elements = list(
        dict.fromkeys(
            layer.element for layers in measured.layers for layer in layers.values() if layer.element is not None
        )
    )
    types, tensors = _roundings(measured, elements)
    readers = tuple((row_of[name], row_of[r]) for name, layer in base.items() for r in layer.readers)
    last = np.arange(len(base))
    for row, reader in readers:
        last[row] = max(last[row], reader)
    of_modules = np.zeros((len(offered), len(measured.layers)))
    for number, found in enumerate(prices.of_modules):
        for unit, row in unit_index.items():
            of_modules[row, number] = found.get(unit, 0.0)
    return Problem(
        choices=tuple(tuple(formats) for formats in offered.values()),
        unit_of=np.array([-1 if x.pinned or x.unit is None else unit_index.get(x.unit, -1) for x in base.values()]),
        weights=np.array([[noise[name].weights for noise in measured.noise] for name in base]),
        types=types,
        tensors=tensors,
        readers=readers,
        prices=of_modules,
        sizes=np.array([_size(layer) for layer in base.values()]),
        last_reads=last,
        conversion=prices.conversion,
        type_bytes=np.array([element.bits / 8 for element in elements]),
        by_memory=by_memory,
    )


def offered_formats(
    measured: MeasuredModel,
    first: Optional[Compilation] = None,
    types: IoTypes = _FLOAT_IO,
    prices: Prices = NO_PRICES,
) -> dict[str, list[int]]:
    """Returns the formats that each module may have, of those that change something, for modules that have a choice.
    Modules that read inputs or return outputs of `first` have their `types`, as far as these are activations. Formats
    whose `prices` cannot be compared are left out."""
    found: dict[str, list[int]] = {}
    for name, layer in measured.layers[0].items():
        if layer.unit is None or layer.pinned:
            continue
        formats = found.setdefault(layer.unit, [0])
        for number, others in enumerate(measured.layers):
            twin = others.get(name)
            if twin is None or number in formats or prices.obstacle(layer.unit, number):
                continue
            if twin.element is not layer.element or measured.noise[number][name] != measured.noise[0][name]:
                formats.append(number)
    if first is not None:
        _keep_io(measured, first, found, types)
    return {unit: sorted(formats) for unit, formats in found.items() if formats != [0]}


def _keep_io(measured: MeasuredModel, first: Compilation, offered: dict[str, list[int]], types: IoTypes) -> None:
    """Leaves modules that read inputs or return outputs the formats with the types that were asked for."""
    results: Any = first.prepared.graph.output_node().args[0]
    returned: list[Any] = list(results)
    base = measured.layers[0]
    wanted: dict[str, set[str]] = {}
    for name, layer in base.items():
        if layer.noise.node.op == "placeholder":
            for reader in layer.readers:
                wanted.setdefault(reader, set()).add(types.of_input(layer.noise.node.name))
        for node in (layer.noise.node, *layer.noise.observers):
            if node in returned:
                wanted.setdefault(name, set()).add(types.of_output(returned.index(node)))
    for name, kinds in wanted.items():
        unit, kinds = base[name].unit, kinds - {FLOAT, QUANTIZED}
        if kinds and unit in offered:
            taken = [f for f in offered[unit] if {_type_of(measured.layers[f].get(name))} == kinds]
            offered[unit] = taken or offered[unit][:1]


def _roundings(measured: MeasuredModel, elements: Sequence[Element]) -> tuple[np.ndarray, np.ndarray]:
    """Returns `types` and `tensors` of the problem."""
    base = measured.layers[0]
    types = np.full((len(base), len(measured.layers)), -1)
    # A type that a tensor never has adds what the first one adds.
    first = np.array([measured.noise[0][name].rounding for name in base])
    tensors = np.repeat(first[:, None], max(1, len(elements)), axis=1)
    tensors[:, [number for number, element in enumerate(elements) if element is Element.FLOAT32]] = 0.0
    for row, name in enumerate(base):
        for number in reversed(range(len(measured.layers))):
            layer = measured.layers[number].get(name, base[name])
            if layer.element is None:
                continue
            tensors[row, elements.index(layer.element)] = measured.noise[number][name].rounding
            if layer.computed:
                types[row, number] = elements.index(layer.element)
    return types, tensors


def prices_of(measured: MeasuredModel, priced: Sequence[Compilation], flash: bool) -> Prices:
    """Returns what the calls of compilations in each format throughout take: bytes of `flash`, or instructions, of
    calls without a prediction a multiplication each."""
    found: list[dict[str, float]] = []
    unknown: list[set[str]] = []
    outside: list[dict[str, int]] = []
    converted, elements = 0.0, 0
    for layers, c in zip(measured.layers, priced, strict=True):
        found.append({})
        unknown.append(set())
        outside.append({})
        functions = CallFunctions(c)
        owners = {f.name: layer for layer in layers.values() for f in layer.noise.functions}
        for report in c.partitioner.reports:
            if report.delegated or report.is_border:
                continue
            layer = owners.get(functions.of_report(report) or "")
            unit = report.module.partition(" (")[0] if layer is None or layer.unit is None else layer.unit
            outside[-1][unit] = outside[-1].get(unit, 0) + 1
        for part in c.encoded[c.targets[0]]:
            for call in part.calls:
                price = call.choice.flash_bytes() if flash else call.choice.instructions(c.targets[0])
                guessed = price is None
                price = call.macs if price is None else price
                name = functions.of(call.node)
                layer = owners.get(name) if name is not None else None
                if layer is not None and layer.unit is not None:
                    found[-1][layer.unit] = found[-1].get(layer.unit, 0.0) + price
                    if guessed and (call.macs or call.node.outputs[0].element is Element.FLOAT32):
                        unknown[-1].add(layer.unit)
                elif name is None:
                    converted += price
                    elements += math.prod(call.node.outputs[0].shape)
    if flash:
        return Prices(found, 0.0, unknown, outside)
    return Prices(found, converted / elements if elements else _CONVERSION, unknown, outside)


def _type_of(layer: Optional[Layer]) -> Optional[str]:
    return None if layer is None or layer.element is None else layer.element.value


def _size(layer: Layer) -> int:
    value = layer.noise.node.meta.get("val")
    return int(value.numel()) if isinstance(value, torch.Tensor) else 0
