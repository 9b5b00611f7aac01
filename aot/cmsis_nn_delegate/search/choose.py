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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional, Union, Unpack

import numpy as np
import torch

from ..accuracy.measurement import device_outputs, run_module
from ..compile import requested
from ..compile_options import Keywords
from ..pipeline import Compilation, LeftOutside, advance
from ..planner.memory_fit import DoesNotFit
from ..precision.formats import FORMATS
from ..precision.problem import Assignment, changed, frontier
from ..quantization.comparison import Comparison
from ..quantization.interface import Arguments, Model
from ..support.checked import checked
from ..support.errors import UserError
from ..support.isolation import as_caller, isolated
from ..targets.target import Target
from .limits import Limits
from .out_of_reach import out_of_reach
from .result import ChosenFormats, Outcome
from .subject import Subject, price_of, readable_again

_TRIES = 6  # cheaper assignments that are tried although their estimates are too noisy
_TOO_NOISY = 10**0.1  # by so much
_COMPILED = 3  # assignments that are compiled, beside those of one format throughout
_CLIMBS = 6  # more exact ones, if the device does not keep what PyTorch did


@checked("module", "example_inputs", "data")
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
    **options: Unpack[Keywords],
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
    calibration = readable_again(calibration)
    c = requested(module, example_inputs, [target], calibration, progress=lambda line: None, **options)
    if c.is_quantized:
        raise UserError("the model is quantized already: there are no formats to choose; give the float model")
    subject = Subject(c, data if data is not None else calibration, labels, library, progress)
    return _Search(subject, limits, library).result()


class _Search:
    def __init__(self, subject: Subject, limits: Limits, library: Union[str, Path, None]) -> None:
        self._model, self._limits, self._library = subject, limits, library
        self._problem = subject.problem
        self._refused: Optional[UserError] = None  # why the first that keeps the limits cannot be had

    def _keeps(self, assignment: Assignment) -> bool:
        """Returns whether an assignment keeps the limits in PyTorch, on some of the data."""
        return self._limits.kept(self._model.try_(assignment).sample, self._model.some_exact)

    def result(self) -> ChosenFormats:
        candidates = [candidate.assignment for candidate in frontier(self._problem)]
        self._model.say(
            f"{len(candidates)} of all assignments of formats to {len(self._model.units)} modules are worth a look"
        )
        found = self._first_kept(candidates)
        if found is None:
            raise out_of_reach(self._model, self._limits)
        found = self._cheaper(found, candidates)
        return self._verified(found, candidates)

    def _first_kept(self, candidates: Sequence[Assignment]) -> Optional[Assignment]:
        """Returns the first candidate that keeps the limits, if what comes after it keeps them, too; or an assignment
        of one format, if none of them does."""
        noises, _ = self._problem.judged(candidates)
        low, high = -1, len(candidates) - 1  # the last one that does not, and the first one that does
        if not self._keeps(candidates[high]):
            kept = [assignment for assignment in self._model.tried if self._keeps(assignment)]
            return min(kept, key=self._estimate) if kept else None
        last, middle = high, self._limits.min_sqnr is None
        while high - low > 1:
            # Estimates lead near the place at once; every other step halves what is left, however wrong they are.
            guess = int((noises > self._allowed(candidates[last])).sum())
            last = (low + high) // 2 if middle else min(max(guess, low + 1), high - 1)
            middle = not middle or self._limits.min_sqnr is None
            if self._keeps(candidates[last]):
                high = last
            else:
                low = last
        return candidates[high]

    def _allowed(self, near: Assignment) -> float:
        """Returns how much noise an assignment may have by its estimate, if estimates of others are as wrong as that of
        one that was tried."""
        sqnr = self._model.try_(near).sample.sqnr
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
        untried = [pool[number] for number in order if pool[number] not in self._model.tried]
        # The most promising ones, of all and of the candidates, which `_first_kept` left out if a dearer one did not
        # keep the limits; of these the cheapest that does is the result.
        untried.sort(key=lambda a: float(self._problem.judged([a])[0][0]))
        near = {*untried[:_TRIES], *[a for a in untried if a in candidates][:_TRIES]}
        return next((pool[number] for number in order if pool[number] in near and self._keeps(pool[number])), found)

    def _verified(self, found: Assignment, candidates: Sequence[Assignment]) -> ChosenFormats:
        """Compiles the best few, and returns the cheapest whose outputs on the device keep the limits."""
        kept = sorted((a for a in self._model.tried if self._keeps(a)), key=self._estimate)
        compared = [*dict.fromkeys([found, *kept])][:_COMPILED]
        compared += [a for a in kept if self._model.tried[a].price is not None and a not in compared]
        self._model.say(f"compiling {len(compared)} to compare them")
        key = self._model.asked.payload.preference
        compared.sort(key=lambda a: (self._model.price(a).key(key), a))
        more_exact = [a for a in candidates if self._estimate(a) > self._estimate(found) and a not in compared]
        for assignment in (*compared, *more_exact[:_CLIMBS]):
            if not self._keeps(assignment):
                continue
            checked_one = self._compiled(assignment)
            if checked_one is not None:
                return checked_one
        raise self._refused or out_of_reach(self._model, self._limits)

    def _compiled(self, assignment: Assignment) -> Optional[ChosenFormats]:
        """Returns the compiled model, if the device keeps the limits on all data with it."""
        self._model.say(
            f"compiling {self._model.described(assignment)}, and running all {len(self._model.samples)} samples"
        )
        made = self._model.made(assignment)
        c, measured = copy.copy(made.quantized), made.packaged
        c.warnings = list(made.quantized.warnings)
        left, least = price_of(measured).outside, self._model.outside
        if left > least:
            self._refuse(
                assignment,
                UserError(
                    f"{self._model.described(assignment)} keeps {self._limits} in PyTorch, but leaves {left} functions "
                    f"outside of the delegate, {left - least} more than {FORMATS[0].name} throughout. If that does not "
                    "matter, give the modules these formats with --quantizer",
                    exit_code=1,
                ),
            )
            return None
        c.comparison = self._comparison(c)
        with torch.no_grad():
            outputs, obstacle, how = device_outputs(measured, self._model.samples, self._model.starts, self._library)
            if outputs is None:
                self._model.say(f"the outputs are those in PyTorch: {obstacle}")
                outputs, how = run_module(c.converted, self._model.samples, self._model.starts), "PyTorch"
        figures = self._model.figures(outputs)
        self._model.say(f"{self._model.described(assignment)}: {figures}, by {how}")
        if not self._limits.kept(figures, self._model.exact):
            tried = dataclasses.replace(self._model.try_(assignment), sample=figures)
            if outputs is not None and not obstacle:
                with torch.no_grad():
                    outputs = run_module(c.converted, self._model.samples, self._model.starts)
                tried.in_torch = self._model.figures(outputs)
            self._model.tried[assignment] = tried
            return None
        c.options = dataclasses.replace(self._model.asked, quantizer=c.options.quantizer)
        c.keep_modules = False
        try:
            advance(c, "stream", "compare-stream")
        except (DoesNotFit, LeftOutside) as error:
            self._refuse(assignment, error)
            return None
        return ChosenFormats(
            compiled=c.compiled[0],
            configuration=c.options.quantizer.configuration,
            limits=self._limits,
            formats={unit: FORMATS[number].name for unit, number in zip(self._model.units, assignment)},
            outcome=Outcome(self._model.described(assignment), figures, price_of(c)),
            uniform=tuple(self._model.uniform),
            exact=self._model.exact,
            computed_by=how,
        )

    def _comparison(self, made: Compilation) -> Optional[Comparison]:
        """Returns how the quantized module compares with the float one, if that is asked for; as in `compile_model`
        before biases are corrected."""
        if not self._model.asked.check:
            return None
        configuration = made.options.quantizer.configuration
        c = self._model.quantized(configuration, corrected=False) if configuration.corrects_biases else made
        advance(c, "compare", "compare")
        return c.comparison

    def _refuse(self, assignment: Assignment, error: UserError) -> None:
        self._model.say(f"{self._model.described(assignment)}: {error}")
        self._refused = self._refused or error
