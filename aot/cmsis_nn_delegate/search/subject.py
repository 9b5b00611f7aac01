"""A model whose formats are to be chosen: what its layers cost, and what assignments of formats give: `Subject`."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import torch

from ..accuracy.measurement import Labels, arithmetic_of, device_outputs, run_float, run_module, samples_of
from ..accuracy.report import Part
from ..partition.io_types import FLOAT, IoTypes
from ..pipeline import Compilation, advance
from ..precision.configurations import with_formats
from ..precision.formats import FORMATS
from ..precision.layers import base_sensitivities, sensitivities, with_floats, with_units
from ..precision.layers import read as read_layers
from ..precision.measured import MeasuredModel, offered_formats, prices_of, problem_of
from ..precision.problem import Assignment
from ..quantization.calibration import Sequences
from ..quantization.comparison import Samples
from ..quantization.comparison.layer_noise import measure as measure_layers
from ..quantization.configuration import Configuration
from ..quantization.in_place import written_state
from ..quantization.quantizer import CmsisNnQuantizer
from ..selection.preference import Preference
from ..support.errors import UserError
from ..support.isolation import as_caller
from .limits import Figures
from .result import Outcome, Price

_LAYER_SAMPLES = 8  # that noise of layers is measured on
_KEPT = 4  # compilations, of the assignments that were asked for last
APART = 0.3  # dB between PyTorch and the device, as of recurrent layers, whose states PyTorch rounds in other places
_LEAST_GAIN = 0.5  # dB that corrected biases have to gain, because they make compiling slower
_MOST_SAMPLES = 256  # that assignments are judged on before the last ones, which all samples judge


def readable_again(calibration: Any) -> Any:
    """Returns calibration data that can be read several times."""
    with as_caller():
        if isinstance(calibration, Sequences):
            return Sequences([readable_again(sequence) for sequence in calibration.sequences])
        return list(calibration) if isinstance(calibration, Iterator) else calibration


def apart(first: Figures, second: Figures) -> float:
    """Returns by how many dB figures differ."""
    if first.sqnr is None or second.sqnr is None:
        return 0.0 if first.sqnr is second.sqnr else math.inf
    return abs(first.sqnr - second.sqnr)


def price_of(c: Compilation) -> Price:
    """Returns what a compilation takes on its first target."""
    outside = sum(not (report.delegated or report.is_border) for report in c.partitioner.reports)
    return Price.of(c.encoded[c.targets[0]], c.targets[0], outside)


@dataclass
class Tried:
    """What is known of an assignment. `sample` are the figures on some of the data; or of the device on all of it if
    these are too noisy, and then `in_torch` are those in PyTorch, of the same data."""

    sample: Figures
    price: Optional[Price] = None
    in_torch: Optional[Figures] = None


class Made:
    """The compilation of an assignment up to the `quantized` module, with float inputs and outputs. What follows is
    made when it is asked for first."""

    def __init__(self, quantized: Compilation) -> None:
        self.quantized = quantized

    @functools.cached_property
    def lowered(self) -> Compilation:
        """The compilation up to the payload, or further."""
        c = copy.copy(self.quantized)
        c.warnings = list(c.warnings)
        advance(c, "io", "encode")
        return c

    @functools.cached_property
    def packaged(self) -> Compilation:
        """The compilation with its program, for `device_outputs`."""
        c = self.lowered
        c.comparison = None
        advance(c, "package", "package")
        return c


class Subject:
    """`request` is the compilation that is asked for, of which no stage has run. Assignments are of the formats
    `FORMATS` to the modules `units`, and what was tried of them is kept in `tried`.

    problem: the estimates. samples, starts: the data, and the samples with which a state starts anew. exact: the
    figures of the float model on all of the data, some_exact: on the samples that assignments are judged on. uniform:
    one format throughout, and no_choice those of them that some module may not have. outside: how many functions the
    first of these leaves outside of the delegate. left_out: for each module, why it may not have a format that would
    change it, by the number of the format.
    """

    def __init__(
        self,
        request: Compilation,
        data: Any,
        labels: Optional[np.ndarray],
        library: Union[str, Path, None],
        progress: Callable[[str], None],
    ) -> None:
        self._library, self._on_device = library, False
        self.say = progress
        self.asked = request.options
        self._configuration: Configuration = request.options.quantizer.configuration
        self.tried: dict[Assignment, Tried] = {}
        self._recent: dict[Assignment, Made] = {}
        progress("exporting the model")
        request.keep_modules = True
        advance(request, "capture", "capture")
        self._captured = request
        progress(f"quantizing in {FORMATS[0].name} and measuring what layers cost")
        first = self.quantized(with_formats(self._configuration, FORMATS[0], {}))
        with torch.no_grad():
            self.samples, self.starts = samples_of(data, first)
            if not self.samples:
                raise UserError("the data contains no samples")
            self._stateful = bool(written_state(first.converted.graph))
            count = 1 if self._stateful else math.ceil(len(self.samples) / _MOST_SAMPLES)
            self._part = Part(1, count)
            self._wanted = run_float(first, self.samples, self.starts)
            everything = len(self.samples)
            self._labels = None if labels is None else Labels(labels, everything, None, self._wanted[0])
            self._some_labels = None if labels is None else Labels(labels, everything, self._part, self._wanted[0])
        self.exact = self.figures(self._wanted)
        self.some_exact = self._some_figures(self._wanted[self._part.samples])
        self._read(Made(self._with_best_biases(first)))

    def _with_best_biases(self, first: Compilation) -> Compilation:
        """Returns `first`, or the same with corrected biases. All assignments have these, too, if `quantizer` leaves it
        open and they make weights of 8 and of 4 bits together more exact: they take no instruction."""
        plain = self._configuration
        # With a state, samples are not independent, which correction assumes.
        if plain.bias_correction is not None or plain.corrects_biases or self._stateful:
            return first
        corrected = dataclasses.replace(copy.deepcopy(plain), bias_correction=True)
        better, gain, texts = first, 0.0, []
        for given in FORMATS:
            is_first = given is FORMATS[0]
            if not (is_first or given.is_small):
                continue
            self.say(f"correcting biases in {given.name}")
            before = first if is_first else self.quantized(with_formats(plain, given, {}))
            after = self.quantized(with_formats(corrected, given, {}))
            sqnr, corrected_sqnr = self._run(Made(before)).sqnr, self._run(Made(after)).sqnr
            if sqnr is None or corrected_sqnr is None:
                return first
            gain += corrected_sqnr - sqnr
            texts.append(f"{given.name} has {corrected_sqnr:.1f} dB instead of {sqnr:.1f}")
            if is_first:
                better = after
        chosen = gain >= _LEAST_GAIN
        self.say(f"with corrected biases, {' and '.join(texts)}: {'all' if chosen else 'no'} formats have them")
        if not chosen:
            return first
        self._configuration = corrected
        return better

    def _read(self, made: Made) -> None:
        """Measures the layers, and makes the problem of it."""
        first = made.quantized
        kept = Samples(_LAYER_SAMPLES, steps=self._stateful)
        for number, sample in enumerate(self.samples):
            kept.add(sample, number in self.starts)
        noises = measure_layers(first.prepared, first.converted, kept.kept, progress=self.say, starts=kept.starts)
        base = with_units(first.prepared, noises)
        layers, noise = [base], [base_sensitivities(base)]
        figures, everywhere = [self._run(made)], [made]
        on_device = self._run_on_device(made)
        if on_device is not None and apart(on_device, figures[0]) > APART:
            self.say(f"the device gives {on_device}, and PyTorch {figures[0]}: the device judges all formats")
            self._on_device, figures = True, [on_device]
        for given in FORMATS[1:]:
            self.say(f"quantizing in {given.name}")
            made = Made(self.quantized(with_formats(self._configuration, given, {})))
            other = made.quantized
            layers.append(with_floats(read_layers(other.prepared), base, other.prepared))
            noise.append(sensitivities(first.prepared, base, other.prepared, kept.kept, kept.starts, self.say))
            figures.append(self._run(made))
            everywhere.append(made)
        self.measured = MeasuredModel(layers, noise)
        priced = [made.lowered for made in everywhere]
        preference = self.asked.payload.preference
        prices = prices_of(self.measured, priced, preference is Preference.FLASH)
        if preference is Preference.RAM:
            prices = dataclasses.replace(prices, unknown=())  # instructions only decide between equals
        offered = offered_formats(self.measured, first, self.asked.io, prices)
        self.units = list(offered)
        self.problem = problem_of(self.measured, offered, prices, preference is Preference.RAM)
        anywhere = offered_formats(self.measured)
        self.left_out = {
            unit: {number: why for number in numbers if (why := prices.obstacle(unit, number))}
            for unit, numbers in anywhere.items()
        }
        self.uniform: list[Outcome] = []
        self.no_choice: list[Outcome] = []
        self.outside = price_of(priced[0]).outside
        for number, (found, made) in enumerate(zip(figures, everywhere)):
            price = price_of(made.lowered)
            outcome = Outcome(f"{FORMATS[number].name} throughout", found, price)
            self.uniform.append(outcome)
            assignment = self.problem.uniform(number)
            formats = dict(zip(self.units, assignment))
            # Types of inputs and outputs may forbid it, and what has no price.
            if all(formats.get(unit, 0) == (number if number in some else 0) for unit, some in anywhere.items()):
                self.tried.setdefault(assignment, Tried(found, price))
                self._recent[assignment] = made
            else:
                self.no_choice.append(outcome)

    def configuration_of(self, assignment: Assignment) -> Configuration:
        chosen = {unit: FORMATS[number] for unit, number in zip(self.units, assignment)}
        return with_formats(self._configuration, FORMATS[0], chosen)

    def quantized(self, configuration: Configuration, corrected: bool = True) -> Compilation:
        """Returns a compilation up to the quantized module, with float inputs and outputs; without `corrected` before
        biases are corrected, which the stage "compare" needs."""
        c = copy.copy(self._captured)
        c.warnings = []
        c.options = dataclasses.replace(
            self.asked,
            quantizer=CmsisNnQuantizer.of(configuration),
            io=IoTypes.of(FLOAT),
            stream=None,
            check=True,
            strict=False,
            etrecord=False,
            payload=dataclasses.replace(self.asked.payload, memories=()),  # what does not fit has a price, too
        )
        advance(c, "canonicalize", "convert")
        if corrected:
            advance(c, "correct-biases", "correct-biases")
        return c

    def made(self, assignment: Assignment) -> Made:
        """Returns what was made of an assignment. The last few are kept: a model may be large."""
        found = self._recent.pop(assignment, None) or Made(self.quantized(self.configuration_of(assignment)))
        self._recent[assignment] = found
        if len(self._recent) > _KEPT:
            del self._recent[next(iter(self._recent))]
        return found

    def _run(self, made: Made) -> Figures:
        """Returns the figures of a quantized module on some of the data: in PyTorch, or where that differs, as the
        device computes them."""
        found = self._run_on_device(made) if self._on_device else None
        if found is not None:
            return found
        with torch.no_grad():
            outputs = run_module(made.quantized.converted, self.samples[self._part.samples], self.starts)
        return self._some_figures(outputs)

    def _run_on_device(self, made: Made) -> Optional[Figures]:
        """None if nothing here can compute what the device computes."""
        with torch.no_grad():
            samples = self.samples[self._part.samples]
            try:
                found, _, _ = device_outputs(made.packaged, samples, self.starts, self._library)
            except UserError as error:
                if made.packaged.compiled[0].graph is not None:
                    raise
                # ExecuTorch's kernels do not take all tensors, such as some in another order.
                self.say(f"what is outside of the delegate does not run here: {error}")
                return None
        return None if found is None else self._some_figures(found)

    def figures(self, found: Sequence[Any]) -> Figures:
        """Returns the figures of outputs for all samples."""
        return Figures.of(arithmetic_of("", "", self._wanted, found, self._labels, []))

    def _some_figures(self, found: Sequence[Any]) -> Figures:
        return Figures.of(arithmetic_of("", "", self._wanted[self._part.samples], found, self._some_labels, []))

    def try_(self, assignment: Assignment) -> Tried:
        if assignment not in self.tried:
            self.tried[assignment] = Tried(self._run(self.made(assignment)))
            self.say(f"{self.described(assignment)}: {self.tried[assignment].sample}")
        return self.tried[assignment]

    def price(self, assignment: Assignment) -> Price:
        tried = self.try_(assignment)
        if tried.price is None:
            tried.price = price_of(self.made(assignment).lowered)
        return tried.price

    def described(self, assignment: Assignment) -> str:
        """Returns "int16 in 3 of 12 modules"."""
        counts = [(given.name, sum(number == chosen for chosen in assignment)) for number, given in enumerate(FORMATS)]
        used = [(name, count) for name, count in counts if count]
        if len(used) <= 1:
            return f"{used[0][0] if used else FORMATS[0].name} throughout"
        return ", ".join(f"{name} in {count}" for name, count in used[1:]) + f" of {len(assignment)} modules"
