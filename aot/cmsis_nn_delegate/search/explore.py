"""Compiles a model in many ways, to see what can be traded against what: `explore`."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union, Unpack

import numpy as np

from ..compile import requested
from ..compile_options import Keywords
from ..payload.encode import Encoded
from ..pipeline import Compilation, advance
from ..precision.problem import Assignment, Candidate, frontier
from ..quantization import configuration_file
from ..quantization.interface import Arguments, Model
from ..support.checked import checked
from ..support.errors import UserError
from ..support.isolation import as_caller, isolated
from ..targets.board import Board
from ..targets.target import Target
from .exploration import Exploration, Point, obstacles
from .result import Price
from .subject import Subject, price_of, readable_again
from .variants import VARIANTS


@checked("module", "example_inputs", "data")
@isolated()
def explore(
    module: Model,
    example_inputs: Arguments,
    target: Union[str, Target],
    calibration: Any,
    *,
    board: Optional[Board] = None,
    data: Any = None,
    labels: Optional[np.ndarray] = None,
    assignments: int = 6,
    progress: Callable[[str], None] = lambda line: None,
    **options: Unpack[Keywords],
) -> Exploration:
    """Compiles `module` with several assignments of formats to its layers, and each of these in all `VARIANTS`.

    module, example_inputs, target, calibration, options: as of `compile_model`. board: says what fits.
    data: inputs on which the accuracy is measured, in any form that calibration data may have; None: those of
        `calibration`. labels: the class of each row of the first output.
    assignments: of formats, at least 2: from the cheapest to the most exact, in about equal steps of noise.

    The accuracy is that of the quantized model in PyTorch, from which the device differs by roundings, on at most 256
    of the samples. UserError as from `compile_model`; a model that is quantized already has nothing to explore.
    """
    if assignments < 2:
        raise UserError(f"assignments is {assignments}; give 2 or more")
    progress = as_caller()(progress)
    calibration = readable_again(calibration)
    c = requested(module, example_inputs, [target], calibration, progress=lambda line: None, **options)
    if c.is_quantized:
        raise UserError("the model is quantized already: there are no formats to explore; give the float model")
    model = Subject(c, data if data is not None else calibration, labels, None, progress)
    points: list[Point] = []
    chosen = _spread(frontier(model.problem), assignments)
    chosen += [assignment for assignment in model.tried if assignment not in chosen]
    for assignment in chosen:
        figures = model.try_(assignment).sample
        configuration = model.configuration_of(assignment)
        quantized = copy.copy(model.made(assignment).quantized)
        quantized.options = dataclasses.replace(model.asked, quantizer=quantized.options.quantizer, check=False)
        quantized.comparison = None
        progress(f"compiling {model.described(assignment)} in {len(VARIANTS)} ways")
        advance(quantized, "stream", "stream")
        advance(quantized, "io", "partition")
        for arguments, price, parts in _prices(quantized):
            about = f"# {model.described(assignment)}: {figures} in PyTorch.\n"
            text = about + configuration_file.dump(configuration)
            found = Point(model.described(assignment), text, arguments, figures, price, obstacles(price, board), parts)
            points.append(found)
    return Exploration(c.options.name, c.targets[0].name, board, model.exact, tuple(points))


def _prices(quantized: Compilation) -> Sequence[tuple[str, Price, tuple[Encoded, ...]]]:
    """Returns what the model takes in each variant, by its arguments, and how it is encoded."""
    found = []
    for variant in VARIANTS:
        c = copy.copy(quantized)
        payload = variant.apply(c.options.payload)
        c.options = dataclasses.replace(c.options, payload=payload)
        advance(c, "import", "encode")
        found.append((variant.arguments, price_of(c), tuple(c.encoded[c.targets[0]])))
    return found


def _spread(candidates: Sequence[Candidate], count: int) -> list[Assignment]:
    """Returns `count` of the candidates, or all, the first and the last among them."""
    if len(candidates) <= count:
        return [candidate.assignment for candidate in candidates]
    levels = np.log([max(candidate.noise, 1e-30) for candidate in candidates])
    wanted = np.linspace(levels[0], levels[-1], count)
    rows = dict.fromkeys(int(np.abs(levels - level).argmin()) for level in wanted)
    return [candidates[row].assignment for row in rows]
