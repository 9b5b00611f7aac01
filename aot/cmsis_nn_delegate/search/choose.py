"""The compiler chooses formats: `choose_formats` finds the cheapest ones that keep an accuracy.

What each layer adds in noise and takes in each format is measured once, from the model quantized in PyTorch and
compiled in each format throughout. Estimates of all assignments follow from that (`precision.problem`). Those worth it
are quantized in PyTorch and run on the data, until the cheapest is found that keeps the limits; a few of these are
compiled, because only that counts conversions, and the cheapest one whose outputs, as the device computes them, keep
the limits on all of the data is the result. Nothing is drawn at random: the same input gives the same result.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import torch

from ..accuracy.measurement import Labels, arithmetic_of, device_outputs, run_float, run_module, samples_of
from ..accuracy.report import Part
from ..compile import requested
from ..edge.naming import module_of
from ..partition.io_types import FLOAT, IoTypes
from ..pipeline import Compilation, advance
from ..planner.memory_fit import DoesNotFit
from ..precision.configurations import with_formats
from ..precision.formats import FORMATS
from ..precision.layers import base_sensitivities, sensitivities, with_units
from ..precision.layers import read as read_layers
from ..precision.measured import MeasuredModel, offered_formats, prices_of, problem_of
from ..precision.problem import Assignment, changed, frontier
from ..quantization.calibration import Sequences
from ..quantization.comparison import Samples
from ..quantization.comparison.layer_noise import measure as measure_layers
from ..quantization.configuration import Configuration
from ..quantization.in_place import written_state
from ..quantization.interface import Arguments, Model
from ..quantization.quantizer import CmsisNnQuantizer
from ..selection.preference import Preference
from ..support.checked import checked
from ..support.errors import UserError
from ..support.isolation import as_caller, isolated
from ..targets.target import Target
from .limits import Figures, Limits
from .result import ChosenFormats, Outcome, Price

_LAYER_SAMPLES = 8  # that noise of layers is measured on
_MOST_SAMPLES = 256  # that assignments are judged on before the last ones, which all samples judge
_TRIES = 6  # cheaper assignments that are tried although their estimates are too noisy
_TOO_NOISY = 10**0.1  # by so much
_COMPILED = 3  # assignments that are compiled, beside those of one format throughout
_CLIMBS = 6  # more exact ones, if the device does not keep what PyTorch did
_NAMED = 3
_NAMED_FROM = 0.01  # of the noise


@checked("module", "example_inputs", "data", "options")
@isolated()
def choose_formats(
    module: Model,
    example_inputs: Arguments,
    target: Union[str, Target],
    calibration: Any,
    *,
    data: Any = None,
    labels: Optional[np.ndarray] = None,
    min_sqnr: Optional[float] = None,
    min_top1: Optional[float] = None,
    max_drop: Optional[float] = None,
    library: Union[str, Path, None] = None,
    progress: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> ChosenFormats:
    """Compiles `module` with the cheapest formats of its layers that keep an accuracy: by instructions, by flash or by
    RAM, as `prefer` among the options says.

    module, example_inputs, target, calibration, options: as of `compile_model`. Formats that `quantizer` gives to
        parts of the model stay.
    data: inputs on which the accuracy has to be kept, in any form that calibration data may have; None: those of
        `calibration`. labels: the class of each row of the first output.
    min_sqnr: the least signal to noise in dB, of the output that has the least, next to the float model. min_top1: the
        least share of labels that are right. max_drop: by how much that share may be below that of the float model. All
        that are given are kept, by outputs as the device computes them, on all of `data`.
    library: the delegate's shared library, which computes them; see `runner.host`. Without it the integer reference
        does.

    UserError says how close it came and what would help if no formats keep the limits, and names unusable data, labels
    and options as `compile_model` does. A model that is quantized already has no formats to choose.
    """
    limits = Limits(min_sqnr, min_top1, max_drop)
    if limits.of_labels and labels is None:
        raise UserError("a limit of top-1 needs labels")
    progress = as_caller()(progress)
    calibration = _readable_again(calibration)
    c = requested(module, example_inputs, [target], calibration, progress=lambda line: None, **options)
    if c.is_quantized:
        raise UserError("the model is quantized already: there are no formats to choose; give the float model")
    search = _Search(c, limits, data if data is not None else calibration, labels, library, progress)
    return search.result()


def _readable_again(calibration: Any) -> Any:
    """Returns calibration data that can be read several times."""
    with as_caller():
        if isinstance(calibration, Sequences):
            return Sequences([_readable_again(sequence) for sequence in calibration.sequences])
        return list(calibration) if isinstance(calibration, Iterator) else calibration


@dataclass
class _Tried:
    """What is known of an assignment. `sample` are the figures in PyTorch on some of the data."""

    sample: Figures
    price: Optional[Price] = None


class _Search:
    def __init__(
        self,
        request: Compilation,
        limits: Limits,
        data: Any,
        labels: Optional[np.ndarray],
        library: Union[str, Path, None],
        progress: Callable[[str], None],
    ) -> None:
        self._limits, self._library, self._say = limits, library, progress
        self._asked = request.options
        self._configuration: Configuration = request.options.quantizer.configuration
        self._tried: dict[Assignment, _Tried] = {}
        self._does_not_fit: Optional[DoesNotFit] = None  # of the first that keeps the limits
        progress("exporting the model")
        request.keep_modules = True
        advance(request, "capture", "capture")
        self._captured = request
        progress(f"quantizing in {FORMATS[0].name} and measuring what layers cost")
        first = self._quantized(with_formats(self._configuration, FORMATS[0], {}))
        with torch.no_grad():
            self._samples, self._starts = samples_of(data, first)
            if not self._samples:
                raise UserError("the data contains no samples")
            self._stateful = bool(written_state(first.converted.graph))
            count = 1 if self._stateful else math.ceil(len(self._samples) / _MOST_SAMPLES)
            self._part = Part(1, count)
            self._wanted = run_float(first, self._samples, self._starts)
            everything = len(self._samples)
            self._labels = None if labels is None else Labels(labels, everything, None, self._wanted[0])
            self._some_labels = None if labels is None else Labels(labels, everything, self._part, self._wanted[0])
        self._exact = self._figures(self._wanted, whole=True)
        self._some_exact = self._figures(self._wanted[self._part.samples], whole=False)
        self._read(first)

    def _read(self, first: Compilation) -> None:
        """Measures the layers, and makes the problem of it."""
        kept = Samples(_LAYER_SAMPLES, steps=self._stateful)
        for number, sample in enumerate(self._samples):
            kept.add(sample, number in self._starts)
        noises = measure_layers(first.prepared, first.converted, kept.kept, progress=self._say, starts=kept.starts)
        base = with_units(first.prepared, noises)
        layers, noise = [base], [base_sensitivities(base)]
        figures, priced = [self._run(first)], [self._lowered(first)]
        for given in FORMATS[1:]:
            self._say(f"quantizing in {given.name}")
            other = self._quantized(with_formats(self._configuration, given, {}))
            layers.append(read_layers(other.prepared))
            noise.append(sensitivities(first.prepared, base, other.prepared, kept.kept, kept.starts, self._say))
            figures.append(self._run(other))
            priced.append(self._lowered(other))
        self._measured = MeasuredModel(layers, noise)
        preference = self._asked.payload.preference
        offered = offered_formats(self._measured, first, self._asked.io)
        prices = prices_of(self._measured, priced, preference is Preference.FLASH)
        self._units = list(offered)
        self._problem = problem_of(self._measured, offered, prices, preference is Preference.RAM)
        for number, (found, lowered) in enumerate(zip(figures, priced)):
            tried = _Tried(found, Price.of(lowered.encoded[lowered.targets[0]], lowered.targets[0]))
            self._tried.setdefault(self._problem.uniform(number), tried)

    # One assignment ----------------------------------------------------------

    def _configuration_of(self, assignment: Assignment) -> Configuration:
        chosen = {unit: FORMATS[number] for unit, number in zip(self._units, assignment)}
        return with_formats(self._configuration, FORMATS[0], chosen)

    def _quantized(self, configuration: Configuration) -> Compilation:
        """Returns a compilation up to the quantized module, with float inputs and outputs."""
        c = copy.copy(self._captured)
        c.warnings = []
        c.options = dataclasses.replace(
            self._asked,
            quantizer=CmsisNnQuantizer.of(configuration),
            io=IoTypes.of(FLOAT),
            stream=None,
            check=True,
            strict=False,
            etrecord=False,
            payload=dataclasses.replace(self._asked.payload, memories=()),  # what does not fit has a price, too
        )
        advance(c, "canonicalize", "convert")
        advance(c, "correct-biases", "correct-biases")
        return c

    def _lowered(self, c: Compilation) -> Compilation:
        """Continues up to the payload."""
        lowered = copy.copy(c)
        advance(lowered, "io", "encode")
        return lowered

    def _run(self, c: Compilation) -> Figures:
        """Returns the figures of the quantized module in PyTorch, on some of the data."""
        samples = self._samples[self._part.samples]
        with torch.no_grad():
            found = run_module(c.converted, samples, self._starts)
        return self._figures(found, whole=False)

    def _figures(self, found: Sequence[Any], whole: bool) -> Figures:
        wanted, labels = self._wanted, self._labels
        if not whole:
            wanted, labels = wanted[self._part.samples], self._some_labels
        return Figures.of(arithmetic_of("", "", wanted, found, labels, []))

    def _try(self, assignment: Assignment) -> _Tried:
        if assignment not in self._tried:
            c = self._quantized(self._configuration_of(assignment))
            self._tried[assignment] = _Tried(self._run(c))
            self._say(f"{self._described(assignment)}: {self._tried[assignment].sample}")
        return self._tried[assignment]

    def _keeps(self, assignment: Assignment) -> bool:
        """Returns whether an assignment keeps the limits in PyTorch, on some of the data."""
        return self._limits.kept(self._try(assignment).sample, self._some_exact)

    def _price(self, assignment: Assignment) -> Price:
        tried = self._try(assignment)
        if tried.price is None:
            c = self._lowered(self._quantized(self._configuration_of(assignment)))
            tried.price = Price.of(c.encoded[c.targets[0]], c.targets[0])
        return tried.price

    def _described(self, assignment: Assignment) -> str:
        """Returns "int16 in 3 of 12 modules"."""
        counts = [(given.name, sum(number == chosen for chosen in assignment)) for number, given in enumerate(FORMATS)]
        used = [(name, count) for name, count in counts if count]
        if len(used) <= 1:
            return f"{used[0][0] if used else FORMATS[0].name} throughout"
        return ", ".join(f"{name} in {count}" for name, count in used[1:]) + f" of {len(assignment)} modules"

    # The search --------------------------------------------------------------

    def result(self) -> ChosenFormats:
        candidates = [candidate.assignment for candidate in frontier(self._problem)]
        self._say(f"{len(candidates)} of all assignments of formats to {len(self._units)} modules are worth a look")
        found = self._first_kept(candidates)
        if found is None:
            raise self._out_of_reach()
        found = self._cheaper(found, candidates)
        return self._verified(found, candidates)

    def _first_kept(self, candidates: Sequence[Assignment]) -> Optional[Assignment]:
        """Returns the first candidate that keeps the limits, if what comes after it keeps them, too; or an assignment
        of one format, if none of them does."""
        noises, _ = self._problem.judged(candidates)
        low, high = -1, len(candidates) - 1  # the last one that does not, and the first one that does
        if not self._keeps(candidates[high]):
            kept = [assignment for assignment in self._tried if self._keeps(assignment)]
            return min(kept, key=self._estimate) if kept else None
        last = high
        while high - low > 1:
            guess = int((noises > self._allowed(candidates[last])).sum())
            last = min(max(guess, low + 1), high - 1)
            if not self._limits.of_labels and last == low + 1 and high - low > 8 and guess <= low:
                last = (low + high) // 2
            if self._limits.min_sqnr is None:
                last = (low + high) // 2
            if self._keeps(candidates[last]):
                high = last
            else:
                low = last
        return candidates[high]

    def _allowed(self, near: Assignment) -> float:
        """Returns how much noise an assignment may have by its estimate, if estimates of others are as wrong as that of
        one that was tried."""
        sqnr = self._try(near).sample.sqnr
        estimate = float(self._problem.judged([near])[0][0])
        least = self._limits.min_sqnr
        if sqnr is None or least is None:
            return estimate
        return float(estimate * 10 ** ((sqnr - least) / 10))

    def _estimate(self, assignment: Assignment) -> float:
        return float(self._problem.judged([assignment])[1][0])

    def _cheaper(self, found: Assignment, candidates: Sequence[Assignment]) -> Assignment:
        """Tries a few assignments near the limit that are cheaper than `found`, as estimated, the cheapest first."""
        pool = list(dict.fromkeys([*candidates, *changed(self._problem, found)]))
        noises, prices = self._problem.judged(pool)
        price, most = self._estimate(found), self._allowed(found) * _TOO_NOISY
        order = sorted(
            (number for number in range(len(pool)) if prices[number] < price and noises[number] <= most),
            key=lambda number: (prices[number], noises[number]),
        )
        untried = [pool[number] for number in order if pool[number] not in self._tried]
        # The most promising ones; of these the cheapest that does is the result.
        near = sorted(untried, key=lambda a: float(self._problem.judged([a])[0][0]))[:_TRIES]
        return next((other for other in untried if other in near and self._keeps(other)), found)

    def _verified(self, found: Assignment, candidates: Sequence[Assignment]) -> ChosenFormats:
        """Compiles the best few, and returns the cheapest whose outputs on the device keep the limits."""
        kept = sorted((a for a in self._tried if self._keeps(a)), key=self._estimate)
        compared = [*dict.fromkeys([found, *kept])][:_COMPILED]
        compared += [a for a in kept if self._tried[a].price is not None and a not in compared]
        self._say(f"compiling {len(compared)} to compare them")
        key = self._asked.payload.preference
        compared.sort(key=lambda a: (self._price(a).key(key), a))
        more_exact = [a for a in candidates if self._estimate(a) > self._estimate(found) and a not in compared]
        for assignment in (*compared, *more_exact[:_CLIMBS]):
            if not self._keeps(assignment):
                continue
            checked_one = self._compiled(assignment)
            if checked_one is not None:
                return checked_one
        raise self._does_not_fit or self._out_of_reach()

    def _compiled(self, assignment: Assignment) -> Optional[ChosenFormats]:
        """Returns the compiled model, if the device keeps the limits on all data with it."""
        self._say(f"compiling {self._described(assignment)}, and running all {len(self._samples)} samples")
        c = self._quantized(self._configuration_of(assignment))
        if self._asked.check:
            advance(c, "compare", "compare")
        else:
            c.comparison = None
        measured = copy.copy(c)
        measured.warnings = list(c.warnings)
        advance(measured, "io", "package")
        with torch.no_grad():
            outputs, obstacle, how = device_outputs(measured, self._samples, self._starts, self._library)
            if outputs is None:
                self._say(f"the outputs are those in PyTorch: {obstacle}")
                outputs, how = run_module(c.converted, self._samples, self._starts), "PyTorch"
        figures = self._figures(outputs, whole=True)
        self._say(f"{self._described(assignment)}: {figures}, by {how}")
        if not self._limits.kept(figures, self._exact):
            self._tried[assignment] = dataclasses.replace(self._try(assignment), sample=figures)
            return None
        price = self._price(assignment)
        c.options = dataclasses.replace(self._asked, quantizer=c.options.quantizer)
        c.keep_modules = False
        try:
            advance(c, "stream", "compare-stream")
        except DoesNotFit as error:
            self._say(f"{self._described(assignment)}: {error}")
            self._does_not_fit = self._does_not_fit or error
            return None
        return ChosenFormats(
            compiled=c.compiled[0],
            configuration=c.options.quantizer.configuration,
            limits=self._limits,
            formats={unit: FORMATS[number].name for unit, number in zip(self._units, assignment)},
            outcome=Outcome(self._described(assignment), figures, price),
            uniform=tuple(
                Outcome(given.name, tried.sample, tried.price)
                for number, given in enumerate(FORMATS)
                if (tried := self._tried[self._problem.uniform(number)]).price is not None
            ),
            exact=self._exact,
            computed_by=how,
        )

    def _out_of_reach(self) -> UserError:
        """Says how close the search came, and what would help."""
        near, tried = max(
            self._tried.items(), key=lambda item: self._limits.closeness(item[1].sample, self._some_exact)
        )
        weights, rounding = self._problem.noise_of_layers(near)
        total = float(weights.sum() + rounding.sum())
        names = list(self._measured.layers[0])
        order = np.argsort(-(weights + rounding), kind="stable")[:_NAMED]
        causes = [
            f"{self._named(names[row])} ({100 * (weights[row] + rounding[row]) / total:.0f} %, "
            f"{'its weights' if weights[row] > rounding[row] else 'its tensor'})"
            for row in order
            if weights[row] + rounding[row] > _NAMED_FROM * total
        ]
        advice = (
            "most of it is that of weights: training with quantization (prepare_qat_pt2e, CmsisNnQuantizer(qat=True)) "
            "adapts them"
            if weights.sum() > total / 2
            else "most of it is that of tensors that no format here makes finer"
        )
        return UserError(
            f"no formats keep {self._limits}: the closest found is {self._described(near)}, with {tried.sample}. "
            f"Most of the noise that is left comes from {', '.join(causes) or 'no layer alone'}; {advice}, and leaving "
            "these in float (skip: true under module_names of --quantizer) removes it, outside of the delegate",
            exit_code=1,
        )

    def _named(self, name: str) -> str:
        return module_of(self._measured.layers[0][name].noise.node) or name
