"""What choosing the formats of layers gains for a network: `measure`."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

import torch

from cmsis_nn_delegate.accuracy.measurement import arithmetic_of, device_outputs, run_float, samples_of
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.pipeline import Compilation
from cmsis_nn_delegate.precision.configurations import with_formats
from cmsis_nn_delegate.precision.formats import FORMATS
from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.search.choose import choose_formats
from cmsis_nn_delegate.search.limits import Limits
from cmsis_nn_delegate.search.result import ChosenFormats, Price
from cmsis_nn_delegate.support.errors import UserError
from tests.coverage.format_networks import Case, FormatNetwork
from tests.coverage.format_training import on_one_core

TARGET = "cortex-m4"
# What SQNR is limited to, in dB: above it are the rounding errors of float32 alone, which differ between machines.
MOST_SQNR = 100.0


@dataclass(frozen=True)
class Row:
    """One assignment of formats. Accuracy, in the network's unit, and SQNR, at most MOST_SQNR, are those of the
    device's kernels on the held-out data; sizes are bytes, and instructions predicted."""

    name: str
    accuracy: float
    sqnr: float
    instructions: Optional[int]
    flash: int
    arena: int


@dataclass(frozen=True)
class FormatOutcome:
    """rows: one format throughout each, and last the chosen formats, if any keep `limits`. exact: the accuracy of the
    float network in PyTorch. without: of no network. modules: those of the chosen ones that do not have the first
    format. seconds: of a core, in the search."""

    limits: Limits
    exact: float
    without: float
    rows: tuple[Row, ...]
    modules: tuple[str, ...]
    refused: str
    seconds: float


def measure(network: FormatNetwork, progress: Callable[[str], None] = lambda line: None) -> FormatOutcome:
    """Compiles the network with chosen formats, and in each format throughout."""
    progress("training the network, or reading its weights")
    case, limits = network.build(), network.limits
    given, modules, refused = Configuration(), (), ""
    found: Optional[ChosenFormats] = None
    with on_one_core():
        began = time.process_time()
        try:
            found = choose_formats(
                case.module,
                case.inputs,
                TARGET,
                case.calibration,
                data=case.choice,
                labels=case.labels,
                min_sqnr=limits.min_sqnr,
                min_top1=limits.min_top1,
                max_drop=limits.max_drop,
                prefer=network.prefer,
                progress=progress,
            )
        except UserError as error:
            refused = str(error)
        seconds = time.process_time() - began
        if found is not None:
            modules = tuple(name for name, chosen in found.formats.items() if chosen != FORMATS[0].name)
            # Corrected biases take nothing, so that formats are compared with the same choice of them.
            given = dataclasses.replace(given, bias_correction=found.configuration.bias_correction)
        assignments = {f"{one.name} throughout": with_formats(given, one, {}) for one in FORMATS}
        measured = [_measured(name, case, network, formats, progress) for name, formats in assignments.items()]
        if found is not None:
            measured.append(_measured(found.outcome.name, case, network, found.configuration, progress))
    return FormatOutcome(
        limits,
        _rounded(measured[0][0]),
        _rounded(case.without),
        tuple(row for _, row in measured),
        modules,
        refused,
        seconds,
    )


def _measured(
    name: str, case: Case, network: FormatNetwork, formats: Configuration, progress: Callable[[str], None]
) -> tuple[float, Row]:
    """Compiles a network, and runs it as the device does. Returns the accuracy of the float network, too."""
    progress(f"measuring {name}")
    compilations: list[Compilation] = []
    compile_model(
        case.module,
        case.inputs,
        TARGET,
        case.calibration,
        quantizer=CmsisNnQuantizer.of(formats),
        prefer=network.prefer,
        check=False,
        inspect=compilations.append,
    )
    c = compilations[0]
    with torch.no_grad():
        samples, starts = samples_of(case.held_out, c)
        wanted = run_float(c, samples, starts)
        found, obstacle, how = device_outputs(c, samples, starts)
    assert found is not None, obstacle
    sqnr = arithmetic_of("device", how, wanted, found, None, []).sqnr
    price = Price.of(c.compiled[0].parts, c.targets[0])
    row = Row(
        name,
        _rounded(case.accuracy(found)),
        MOST_SQNR if sqnr is None else round(min(sqnr, MOST_SQNR), 1),
        price.instructions,
        price.flash,
        price.arena,
    )
    return case.accuracy(wanted), row


def _rounded(accuracy: float) -> float:
    return round(accuracy, 2)
