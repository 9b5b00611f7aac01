"""What choosing the formats of layers gains for a network: `measure`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Optional

import torch

from cmsis_nn_delegate.accuracy.measurement import arithmetic_of, device_outputs, run_float, samples_of
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.pipeline import Compilation
from cmsis_nn_delegate.precision.configurations import with_formats
from cmsis_nn_delegate.precision.formats import FORMATS, LayerFormat
from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.search.choose import choose_formats
from cmsis_nn_delegate.search.limits import Figures
from cmsis_nn_delegate.search.result import Outcome, Price
from cmsis_nn_delegate.support.errors import UserError
from tests.coverage.format_networks import FormatNetwork

TARGET = "cortex-m4"
# What SQNR is limited to, in dB: above it are the rounding errors of float32 alone, which differ between machines.
MOST_SQNR = 100.0
_SAMPLES = 8


@dataclass(frozen=True)
class Row:
    """One assignment of formats. SQNR is that of the device's kernels, at most MOST_SQNR; sizes are bytes, and
    instructions predicted."""

    name: str
    sqnr: float
    instructions: Optional[int]
    flash: int
    arena: int


@dataclass(frozen=True)
class FormatOutcome:
    """rows: one format throughout each, and last the chosen formats, if any keep `limit`, in dB. modules: those of the
    chosen ones that do not have the first format. seconds: of a core, in the search."""

    limit: float
    rows: tuple[Row, ...]
    modules: tuple[str, ...]
    refused: str
    seconds: float


def measure(network: FormatNetwork, progress: Callable[[str], None] = lambda line: None) -> FormatOutcome:
    """Compiles the network in each format throughout, and with chosen formats."""
    module, inputs = network.build()
    generator = torch.Generator().manual_seed(1)
    count = network.steps or _SAMPLES
    data = [tuple(torch.randn(x.shape, generator=generator) for x in inputs) for _ in range(count)]
    uniform = [_uniform(module, data, given) for given in FORMATS]
    limit = round(uniform[0].sqnr + network.more)
    began = time.process_time()
    try:
        found = choose_formats(module, inputs, TARGET, data, min_sqnr=limit, progress=progress)
    except UserError as error:
        return FormatOutcome(limit, tuple(uniform), (), str(error), time.process_time() - began)
    seconds = time.process_time() - began
    modules = tuple(name for name, given in found.formats.items() if given != FORMATS[0].name)
    return FormatOutcome(limit, (*uniform, _row(found.outcome)), modules, "", seconds)


def _uniform(module: torch.nn.Module, data: Sequence[tuple[torch.Tensor, ...]], given: LayerFormat) -> Row:
    """Compiles a network in one format throughout, and runs it as the device does."""
    compilations: list[Compilation] = []
    quantizer = CmsisNnQuantizer.of(with_formats(Configuration(), given, {}))
    compile_model(module, data[0], TARGET, data, quantizer=quantizer, inspect=compilations.append)
    c = compilations[0]
    with torch.no_grad():
        samples, starts = samples_of(data, c)
        wanted = run_float(c, samples, starts)
        found, obstacle, how = device_outputs(c, samples, starts)
    assert found is not None, obstacle
    figures = Figures.of(arithmetic_of("device", how, wanted, found, None, []))
    return _row(Outcome(f"{given.name} throughout", figures, Price.of(c.compiled[0].parts, c.targets[0])))


def _row(outcome: Outcome) -> Row:
    price, sqnr = outcome.price, outcome.figures.sqnr
    assert price is not None and sqnr is not None
    return Row(outcome.name, round(min(sqnr, MOST_SQNR), 1), price.instructions, price.flash, price.arena)
