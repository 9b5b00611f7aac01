"""What a network takes in each format of numbers, and how exact it is: `measure_formats`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np
import torch

from benchmarks.measure import Images, measure
from benchmarks.networks import Network, Source, arguments, compiled
from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Graph, Value
from cmsis_nn_delegate.quantization.comparison.noise import Noise
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError

# The preset of the quantizer behind the name of each format. Others are compared with the first.
FORMATS: Mapping[str, str] = {"int8": "default", "int16": "int16", "w4": "w4"}
# Those of MLPerf Tiny have eight samples: half of them calibrates, and noise is that of the others.
CALIBRATING = 4


@dataclass(frozen=True)
class Formatted:
    """A network in a format on a core. Sizes are bytes."""

    network: str
    weights: str
    core: str
    format: str  # a key of FORMATS
    io: str  # of inputs and outputs
    inference: int  # executed instructions, with the kernels that the compiler takes by default
    library: Optional[int]  # with those of CMSIS-NN, and portable ones for what it lacks; None without CMSIS-NN
    arena: int
    payload: int
    sqnr: float  # dB, of all outputs together, on data that did not calibrate
    differing: int  # bytes of the outputs that are not those of the integer reference


def measure_formats(
    source: Source, cores: Sequence[str], images: Images, say: Callable[[str], None]
) -> tuple[list[Formatted], list[str]]:
    """Measures a network on `cores` in each of `FORMATS`. Returns also why it cannot have a format, or not on a core, a
    sentence each. `say` is told the progress."""
    found, left_out = [], []
    for name, preset in FORMATS.items():
        try:
            network, _ = compiled(source, "quantized", quantizer=CmsisNnQuantizer(preset=preset))
            sqnr = noise(source.module, network.graph, source.others)
            for core in cores:
                entry = _measure(network, core, name, sqnr, images)
                say(f"{source.name} on {core} in {name}: {entry.inference:,} instructions, {sqnr:.1f} dB")
                found.append(entry)
        except UserError as error:
            left_out.append(f"{source.name} in {name}: {error}")
            say(f"left out: {left_out[-1]}")
    return found, left_out


def is_about_a_format(line: str) -> bool:
    """Returns whether `line` is one of the sentences of `measure_formats`."""
    return line.partition(":")[0].partition(" in ")[2] in FORMATS


def _measure(network: Network, core: str, name: str, sqnr: float, images: Images) -> Formatted:
    tuned, _ = measure(network, core, "tuned", images)
    library = measure(network, core, "cmsis-nn", images)[0] if images.with_cmsis_nn else None
    return Formatted(
        network=network.name,
        weights=network.weights,
        core=core,
        format=name,
        io=", ".join(_elements(network.graph.inputs) | _elements(network.graph.outputs)),
        inference=tuned.inference,
        library=library.inference if library else None,
        arena=tuned.arena,
        payload=tuned.payload,
        sqnr=round(sqnr, 1),
        differing=tuned.differing + (library.differing if library else 0),
    )


def noise(module: torch.nn.Module, graph: Graph, samples: Sequence[tuple[torch.Tensor, ...]]) -> float:
    """Returns the SQNR of the graph's outputs in dB: the power of the float module's to that of the difference."""
    found = Noise()
    for sample in samples:
        with torch.no_grad():
            wanted = module(*sample)
        outputs = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
        results = reference.run(graph, list(arguments(graph, sample)))
        for value, result, output in zip(graph.outputs, results, outputs, strict=True):
            reals = (
                (result.astype(np.float64) - value.zero_point) * value.scale if value.element.is_activation else result
            )
            found.add(output, torch.from_numpy(reals))
    return found.sqnr


def _elements(values: Iterable[Value]) -> dict[str, None]:
    return {value.element.value: None for value in values}
