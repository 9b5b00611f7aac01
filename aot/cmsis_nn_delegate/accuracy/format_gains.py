"""What other formats of a layer would gain: `FormatGains`, in decibels of the outputs."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from ..pipeline import Compilation, advance
from ..precision.configurations import with_formats, without_formats
from ..precision.formats import FORMATS, LayerFormat
from ..precision.layers import base_sensitivities, read, sensitivities, with_units
from ..precision.measured import MeasuredModel, offered_formats, problem_of
from ..quantization.calibration import Sequences
from ..quantization.comparison import Samples
from ..quantization.comparison.layer_noise import LayerNoise
from ..quantization.comparison.running import Sample
from ..quantization.quantizer import CmsisNnQuantizer

_FORMATS = tuple(given for given in FORMATS if not given.is_small)  # weights of 4 bits gain nothing in noise
_LEAST = 0.1  # dB that are worth a sentence
_MORE = 0.5  # dB that neighbours have to add
_NAMED = 3


class FormatGains:
    """For the layers of a compilation that were measured, `noises`, what they would gain in each of `FORMATS` but
    that of small weights.

    That is estimated as `precision.problem` says. Other formats are calibrated with the samples that the compilation
    kept of its calibration data; only weights that a format changes are measured again, on `samples`.
    """

    def __init__(
        self, c: Compilation, noises: Sequence[LayerNoise], samples: Sequence[Sample], starts: Collection[int]
    ) -> None:
        base = {name: dataclasses.replace(x, pinned=False) for name, x in with_units(c.prepared, noises).items()}
        layers, noise = [base], [base_sensitivities(base)]
        for given in _FORMATS:
            other = _calibrated(c, given)
            layers.append(read(other.prepared))
            noise.append(sensitivities(c.prepared, base, other.prepared, samples, starts))
        measured = MeasuredModel(layers, noise)
        self._base = base
        self._offered = offered_formats(measured)
        self._units = list(self._offered)
        self._problem = problem_of(measured, self._offered)
        self._now = (0,) * len(self._units)
        self._noise = float(self._problem.judged([self._now])[0][0])

    def sentences(self, layer: LayerNoise) -> Iterator[str]:
        """Yields a sentence for each format that gains something. An input has the formats of what reads it."""
        unit = self._base[layer.node.name].unit
        own = [unit] if unit is not None and unit in self._offered else []
        if unit is not None and not own:
            return
        near = self._near(layer.node.name)
        offered = {number for name in own or near for number in self._offered[name][1:]}
        for number in sorted(offered):
            given = _FORMATS[number - 1]
            alone, together = self._gain(own, number), self._gain([*own, *near], number)
            if near and together >= max(_LEAST, alone + _MORE):
                others = [name or "the model itself" for name in near[:_NAMED]]
                others += [f"{len(near) - _NAMED} more"] if len(near) > _NAMED else []
                relation = "what it reads or is read by" if own else "what reads it"
                by_itself = f", and {alone:.1f} dB with it alone" if own else ""
                yield (
                    f"in {given.name}, together with {relation} ({', '.join(others)}), outputs would have "
                    f"{together:.1f} dB more{by_itself}"
                )
            elif alone >= _LEAST:
                settings = ", ".join(f"{name}: {value}" for name, value in given.config.settings().items())
                where = f"{unit}: {{{settings}}} under module_names" if unit else f"{{{settings}}} under everywhere"
                gain = f"outputs would have {alone:.1f} dB more"
                yield f"in {given.name} {gain}: --quantizer with a file that has {where}"

    def _near(self, name: str) -> list[str]:
        """Returns the modules with a choice that read a layer, or that it reads."""
        readers = self._base[name].readers
        read_by = [other for other, layer in self._base.items() if name in layer.readers]
        mine, units = self._base[name].unit, [self._base[other].unit for other in (*read_by, *readers)]
        return list(
            dict.fromkeys(unit for unit in units if unit is not None and unit != mine and unit in self._offered)
        )

    def _gain(self, units: Sequence[str], number: int) -> float:
        """Returns by how many dB the noise gets less if modules have a format that they may have."""
        chosen = list(self._now)
        for unit in units:
            if number in self._offered[unit]:
                chosen[self._units.index(unit)] = number
        noise = float(self._problem.judged([tuple(chosen)])[0][0])
        return 10 * math.log10(self._noise / noise) if self._noise and noise else 0.0


def _calibrated(c: Compilation, given: LayerFormat) -> Compilation:
    """Returns a compilation in one format throughout, up to the calibrated module."""
    other = copy.copy(c)
    configuration = without_formats(c.options.quantizer.configuration, FORMATS)
    quantizer = CmsisNnQuantizer.of(with_formats(configuration, given, {}))
    other.options = dataclasses.replace(c.options, quantizer=quantizer)
    other.warnings, other.progress = [], lambda line: None
    other.calibration = _as_data(c.samples, c.inputs.names)
    advance(other, "canonicalize", "calibrate")
    return other


def _as_data(samples: Samples, names: Sequence[str]) -> Any:
    """Returns samples as calibration data."""
    starts = sorted(samples.starts | {0})
    ends = [*starts[1:], len(samples.kept)]

    def arrays(begin: int, end: int) -> dict[str, np.ndarray]:
        columns = zip(*samples.kept[begin:end])
        return {name: torch.cat(column).numpy() for name, column in zip(names, columns)}

    if len(starts) == 1:
        return arrays(0, len(samples.kept))
    return Sequences([arrays(begin, end) for begin, end in zip(starts, ends)])
