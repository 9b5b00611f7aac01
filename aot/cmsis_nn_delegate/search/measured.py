"""The choice of formats for a model as a `Problem`, of what was measured of its layers and compiled of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch

from ..compile_options import CompileOptions
from ..format.element import Element
from ..partition.io_types import FLOAT, QUANTIZED, IoTypes
from ..pipeline import Compilation
from ..precision.calls import CallFunctions
from ..precision.formats import FORMATS
from ..precision.layers import Layer, Sensitivity
from ..precision.problem import Problem
from ..selection.preference import Preference

_CONVERSION = 10.0  # instructions for an element, where no compilation has a conversion to learn from


@dataclass(frozen=True)
class MeasuredModel:
    """For each format, what is known of the layers of the model that has it throughout, by their names."""

    layers: Sequence[Mapping[str, Layer]]
    noise: Sequence[Mapping[str, Sensitivity]]


def make_problem(
    measured: MeasuredModel, priced: Sequence[Compilation], options: CompileOptions
) -> tuple[list[str], Problem]:
    """Returns the names of the modules that have a choice, and the problem whose units they are. `priced` are
    compilations in each format throughout, up to the payload."""
    base = measured.layers[0]
    offered = _offered(measured)
    if not options.io.is_float:
        _keep_io(measured, priced[0], offered, options.io)
    units = [unit for unit, formats in offered.items() if formats != [0]]
    unit_index = {unit: number for number, unit in enumerate(units)}
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
    flash = options.payload.preference is Preference.FLASH
    prices, conversion = _prices(measured, priced, unit_index, flash)
    return units, Problem(
        choices=tuple(tuple(offered[unit]) for unit in units),
        unit_of=np.array([-1 if x.pinned or x.unit is None else unit_index.get(x.unit, -1) for x in base.values()]),
        weights=np.array([[noise[name].weights for noise in measured.noise] for name in base]),
        types=types,
        tensors=tensors,
        readers=readers,
        prices=prices,
        sizes=np.array([_size(layer) for layer in base.values()]),
        last_reads=last,
        conversion=conversion,
        type_bytes=np.array([element.bits / 8 for element in elements]),
        by_memory=options.payload.preference is Preference.RAM,
    )


def _offered(measured: MeasuredModel) -> dict[str, list[int]]:
    """Returns the formats that change something of each module that may be given one."""
    found: dict[str, list[int]] = {}
    for name, layer in measured.layers[0].items():
        if layer.unit is None or layer.pinned:
            continue
        formats = found.setdefault(layer.unit, [0])
        for number, others in enumerate(measured.layers):
            twin = others.get(name)
            if twin is None or number in formats:
                continue
            if twin.element is not layer.element or measured.noise[number][name] != measured.noise[0][name]:
                formats.append(number)
    return {unit: sorted(formats) for unit, formats in found.items()}


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
    types = np.full((len(base), len(FORMATS)), -1)
    # A type that a tensor never has adds what the first one adds.
    first = np.array([measured.noise[0][name].rounding for name in base])
    tensors = np.repeat(first[:, None], max(1, len(elements)), axis=1)
    for row, name in enumerate(base):
        for number in reversed(range(len(FORMATS))):
            layer = measured.layers[number].get(name, base[name])
            if layer.element is None:
                continue
            tensors[row, elements.index(layer.element)] = measured.noise[number][name].rounding
            if layer.computed:
                types[row, number] = elements.index(layer.element)
    return types, tensors


def _prices(
    measured: MeasuredModel, priced: Sequence[Compilation], units: Mapping[str, int], flash: bool
) -> tuple[np.ndarray, float]:
    """Returns the price of each unit in each format, and of converting an element: bytes of `flash`, or instructions,
    of calls without a prediction a multiplication each."""
    found = np.zeros((len(units), len(FORMATS)))
    converted, elements = 0.0, 0
    for number, c in enumerate(priced):
        functions = CallFunctions(c)
        owners = {f.name: layer for layer in measured.layers[number].values() for f in layer.noise.functions}
        for part in c.encoded[c.targets[0]]:
            for call in part.calls:
                price = call.choice.flash_bytes() if flash else call.choice.instructions(c.targets[0])
                price = call.macs if price is None else price
                name = functions.of(call.node)
                layer = owners.get(name) if name is not None else None
                if layer is not None and layer.unit is not None and layer.unit in units:
                    found[units[layer.unit], number] += price
                elif name is None:
                    converted += price
                    elements += math.prod(call.node.outputs[0].shape)
    if flash:
        return found, 0.0
    return found, converted / elements if elements else _CONVERSION


def _type_of(layer: Optional[Layer]) -> Optional[str]:
    return None if layer is None or layer.element is None else layer.element.value


def _size(layer: Layer) -> int:
    value = layer.noise.node.meta.get("val")
    return int(value.numel()) if isinstance(value, torch.Tensor) else 0
