"""What a network takes in each format of numbers, and how exact it is: `measure_formats`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np
import torch

from benchmarks.measure import Images, measure
from benchmarks.networks import Network, Source, arguments, compiled
from benchmarks.text import total
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.graph.ir import Value
from cmsis_nn_delegate.quantization.comparison.noise import Noise
from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.runner.simulate import Cycles
from cmsis_nn_delegate.support.errors import UserError
from tests.coverage.network_presets import FORMATS, MIXED, PRESETS, mixed, preset

# Of a network's samples, these calibrate, ratios are those of the others, and a search keeps its limit on the first of
# the others. Ratios of four samples differ by 10 dB and more where classes are close to each other, as of random data.
CALIBRATING = 4
OTHERS = 128
SEARCHED = 16


@dataclass(frozen=True)
class Formatted:
    """A network in a format on a core. Sizes are bytes."""

    network: str
    weights: str
    core: str
    format: str  # one of FORMATS
    io: str  # of inputs and outputs
    inference: int  # executed instructions, with the kernels that the compiler takes by default
    library: Optional[int]  # with those of CMSIS-NN, and portable ones for what it lacks; None without CMSIS-NN
    arena: int
    payload: int
    sqnr: float  # dB, of all outputs together, on data that did not calibrate
    corrected: float  # the same with `bias_correction`, which one of PRESETS has by itself
    differing: int  # bytes of the outputs that are not those of the integer reference
    chosen: str = ""  # of MIXED: "int16 in 3 of 12 modules"
    # Of `inference`, as those of a Measurement; None also for rows from before these were measured.
    cycles: Optional[Cycles] = None
    flash_waits: Optional[Cycles] = None
    code_waits: Optional[Cycles] = None

    @property
    def in_flash(self) -> Optional[Cycles]:
        """The cycles with code and payload in flash."""
        return total(self.cycles, self.flash_waits)

    @property
    def in_ram(self) -> Optional[Cycles]:
        """The cycles with code in flash and the payload in RAM."""
        return total(self.cycles, self.code_waits)


@dataclass(frozen=True)
class _Format:
    """A way to quantize a network, and what became of it: `chosen` is as in Formatted."""

    name: str
    configuration: Configuration
    chosen: str = ""


def measure_formats(
    source: Source,
    cores: Sequence[str],
    images: Images,
    say: Callable[[str], None],
    names: Sequence[str] = FORMATS,
) -> tuple[list[Formatted], list[str]]:
    """Measures a network on `cores` in each of `names`, of FORMATS. Returns also why it cannot have a format, or not on
    a core, a sentence each. A search prices calls on the first core. `say` is told the progress."""
    found: list[Formatted] = []
    left_out: list[str] = []
    for name in names:
        try:
            given = _searched(source, cores[0], images) if name == MIXED else _Format(name, preset(name))
            network, sqnr = _quantized(source, given.configuration, images)
            corrected = sqnr
            if not given.configuration.corrects_biases:
                with_correction = dataclasses.replace(given.configuration, bias_correction=True)
                _, corrected = _quantized(source, with_correction, images)
            for core in cores:
                entry = _measure(network, core, given, sqnr, corrected, images)
                say(f"{source.name} on {core} in {name}: {entry.inference:,} instructions, {sqnr:.1f} dB")
                found.append(entry)
        except UserError as error:
            # What follows the first sentence of a search is advice.
            reason = str(error).partition(". ")[0] if name == MIXED else error
            left_out.append(f"{source.name} in {name}: {reason}")
            say(f"left out: {left_out[-1]}")
    return found, left_out


def merged(
    before: Sequence[Formatted], now: Sequence[Formatted], names: Sequence[str], networks: Sequence[str]
) -> Iterator[Formatted]:
    """Yields the rows of `now`, which has `names` of FORMATS of `networks`, and those in `before` of other formats and
    other networks: by network, then in the order of FORMATS."""
    kept = [f for f in before if f.format not in names or f.network not in networks]
    for network in dict.fromkeys(f.network for f in (*before, *now)):
        for name in FORMATS:
            yield from (f for f in (*kept, *now) if (f.network, f.format) == (network, name))


def format_of(line: str) -> str:
    """Returns the format that one of the sentences of `measure_formats` is about; "" of another sentence."""
    name = line.partition(":")[0].partition(" in ")[2]
    return name if name in FORMATS else ""


def network_of(line: str) -> str:
    """Returns the network that one of the sentences of `measure_formats` is about."""
    return line.partition(" in ")[0]


def _quantized(
    source: Source, configuration: Configuration, images: Images, samples: Optional[int] = None
) -> tuple[Network, float]:
    """Returns the network, and its SQNR on the first `samples` of the others; None for all."""
    network, found = compiled(source, "quantized", quantizer=CmsisNnQuantizer.of(configuration))
    return network, noise(source.module, found, source.others[:samples], images.library)


def _searched(source: Source, core: str, images: Images) -> _Format:
    """Returns the formats that the compiler chooses for `core`. UserError if none are as exact as that."""
    _, least = _quantized(source, preset(next(iter(PRESETS))), images, SEARCHED)
    found = mixed(
        source.module,
        core,
        source.samples,
        source.others[:SEARCHED],
        least,
        images.library,
        io="quantized",
        name="network",
    )
    return _Format(MIXED, found.configuration, found.outcome.name)


def _measure(network: Network, core: str, given: _Format, sqnr: float, corrected: float, images: Images) -> Formatted:
    tuned, _ = measure(network, core, "tuned", images)
    library = measure(network, core, "cmsis-nn", images)[0] if images.with_cmsis_nn else None
    return Formatted(
        network=network.name,
        weights=network.weights,
        core=core,
        format=given.name,
        io=", ".join(_elements(network.graph.inputs) | _elements(network.graph.outputs)),
        inference=tuned.inference,
        library=library.inference if library else None,
        arena=tuned.arena,
        payload=tuned.payload,
        sqnr=round(sqnr, 1),
        corrected=round(corrected, 1),
        differing=tuned.differing + (library.differing if library else 0),
        chosen=given.chosen,
        cycles=tuned.cycles,
        flash_waits=tuned.flash_waits,
        code_waits=tuned.code_waits,
    )


def noise(
    module: torch.nn.Module, compiled: Compiled, samples: Sequence[tuple[torch.Tensor, ...]], library: Path
) -> float:
    """Returns the SQNR of what the kernels compute on this machine, in dB: the power of the float module's outputs to
    that of the difference. `library` is the delegate's."""
    assert compiled.graph is not None
    program, found = HostProgram(compiled.pte, library), Noise()
    channels_last = [index for index, x in enumerate(samples[0]) if not x.is_contiguous()]
    for sample in samples:
        with torch.no_grad():
            wanted = module(*sample)
        outputs = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
        results = program.run(list(arguments(compiled.graph, sample)), channels_last)
        for value, result, output in zip(compiled.graph.outputs, results, outputs, strict=True):
            reals = (
                (result.astype(np.float64) - value.zero_point) * value.scale if value.element.is_activation else result
            )
            found.add(output, torch.from_numpy(reals))
    return found.sqnr


def _elements(values: Iterable[Value]) -> dict[str, None]:
    return {value.element.value: None for value in values}
