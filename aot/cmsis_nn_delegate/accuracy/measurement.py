"""How exact a compiled model is: float, quantized in PyTorch, and as the device computes it, side by side: `measure`.

The device's outputs are computed by the portable kernels in ExecuTorch's runtime, or by the integer reference, which is
slower; every kernel of a device gives the same bytes. The device's layers are those of the integer reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import torch
from torch.fx import GraphModule

from .. import reference
from ..compiled import Compiled
from ..edge.naming import module_of, source_of
from ..edge.nodes import target_name
from ..graph.ir import Value
from ..ops import storage
from ..partition.quantized_io import io_quants
from ..pipeline import Compilation
from ..precision.calls import CallFunctions
from ..quantization import calibration
from ..quantization.comparison import Samples
from ..quantization.comparison.layer_noise import LayerNoise
from ..quantization.comparison.layer_noise import measure as measure_layers
from ..quantization.comparison.noise import Noise
from ..quantization.comparison.running import InitialStates, call
from ..quantization.in_place import written_state
from ..quantization.interface import make_flat
from ..quantization.samples import for_device
from ..runner import device as device_runner
from ..runner import simulate
from ..runner.device_connection import DeviceRun
from ..runner.host import HostProgram
from ..support.checked import checked
from ..support.errors import UserError
from ..support.heartbeat import numbered
from ..support.isolation import as_caller, isolated
from ..support.noise_sums import NoiseSums
from .advice import proposals
from .format_gains import FormatGains
from .report import Accuracy, Arithmetic, LayerAccuracy, Part, decibels

Outputs = list[Any]  # of one sample


@checked()
@isolated()
def measure(
    compilation: Compilation,
    data: Any,
    labels: Optional[np.ndarray] = None,
    *,
    part: Optional[Part] = None,
    layer_samples: int = 8,
    library: Union[str, Path, None] = None,
    image: Union[str, Path, None] = None,
    url: str = "",
    board: str = "",
    progress: Callable[[str], None] = lambda line: None,
) -> Accuracy:
    """Measures a model that was compiled with float inputs and outputs and with `check`, for its first target.

    data: inputs, in any form that calibration data may have, `Sequences` included. labels: the class of each row of the
        first output.
    part: the samples that are measured, by default all. Layers are measured without it only.
    layer_samples: how many of the samples, spread evenly, the layers are measured on: the first ones of a model that
        keeps a state. Those of a model that was quantized by the caller are not measured.
    library: the delegate's shared library; see `runner.host`. A model in several parts needs it.
    image: firmware of the standalone runner, which computes the device's outputs in a simulator instead, or on a board.
    url: gdb://HOST:PORT or serial://PORT of a board that computes them; as of `device.run`. board: its name.

    UserError for unusable data, for labels that do not fit the model, for parts of what has a state, and if `image` or
    the board cannot run the model.
    """
    if layer_samples < 1:
        raise UserError(f"layer_samples is {layer_samples}; give 1 or more")
    progress = as_caller()(progress)
    c = compilation
    if not c.options.io.is_float or not c.options.check:
        raise ValueError("accuracy is measured with float inputs and outputs, and with check")
    compiled = c.compiled[0]
    stateful = bool(written_state(c.converted.graph))
    if part is not None and stateful:
        raise UserError("the model keeps a state from one sample to the next: its data cannot be measured in parts")
    with torch.no_grad():
        everything, starts = samples_of(data, c)
        samples = everything if part is None else everything[part.samples]
        if not samples:
            raise UserError(f"the data contains no samples{'' if part is None else f' for part {part}'}")
        kept = Samples(layer_samples, steps=stateful)
        for number, sample in enumerate(samples):
            kept.add(sample, number in starts)
        quantized_here = "" if c.is_quantized else "float and "
        progress(f"running {len(samples)} samples in {quantized_here}quantized, in PyTorch")
        quantized = run_module(c.converted, samples, starts)
        wanted = quantized if c.is_quantized else run_float(c, samples, starts)
        device, obstacle, how = device_outputs(c, samples, starts, library, image, url, board, progress)
        classes = None if labels is None else Labels(labels, len(everything), part, wanted[0])
        steps = _steps_of_sequences(starts, len(samples)) if stateful else []

        def arithmetic(name: str, how: str, found: Sequence[Outputs]) -> Arithmetic:
            return arithmetic_of(name, how, wanted, found, classes, steps)

        arithmetics = [] if c.is_quantized else [arithmetic("float", "PyTorch", wanted)]
        arithmetics.append(arithmetic("quantized", "PyTorch, with integers as floats", quantized))
        if device is not None:
            arithmetics.append(arithmetic("device", how, device))
        layers: list[LayerAccuracy] = []
        predicted = None
        if part is None and not c.is_quantized:
            progress(f"measuring layers on {len(kept.kept)} samples")
            on_device = _DeviceLayers(c, kept)
            noises = measure_layers(c.prepared, c.converted, kept.kept, on_device.see, progress, kept.starts)
            total = math.fsum(layer.cost for layer in noises)
            predicted = decibels(total)
            gains = FormatGains(c, noises, kept.kept, kept.starts)
            layers = [
                _layer(c, noise, on_device.noises.get(noise.node.name), total, gains) for noise in noises if noise.count
            ]
    return Accuracy(
        model=c.options.name,
        target=compiled.target.name,
        part="" if part is None else str(part),
        samples=len(samples),
        layer_samples=len(kept.kept) if layers else 0,
        arithmetics=tuple(arithmetics),
        device_steps=None if device is None else _steps(compiled, quantized, device),
        device_obstacle=obstacle,
        predicted_sqnr=predicted,
        layers=tuple(layers),
    )


def samples_of(data: Any, c: Compilation) -> tuple[list[Any], list[int]]:
    """Returns the samples of `data`, and the numbers of those with which a state starts anew."""
    samples: list[Any] = []
    starts: list[int] = []
    for sequence in calibration.read(data, c.inputs):
        starts.append(len(samples))
        samples += sequence
    return samples, starts if written_state(c.converted.graph) else [0]


def run_float(c: Compilation, samples: Sequence[Any], starts: Collection[int]) -> list[Outputs]:
    """Returns the outputs of the float model."""
    module = c.exported.module(check_guards=False)
    make_flat(module)
    return run_module(module, samples, starts)


def run_module(module: GraphModule, samples: Sequence[Any], starts: Collection[int]) -> list[Outputs]:
    """Returns the outputs. The state begins as it was at each of `starts`, and stays as it was."""
    initial, results = InitialStates(module), []
    for index, sample in enumerate(numbered(samples, "sample")):
        if index in starts:
            initial.restore()
        results.append(call(module, sample))
    initial.restore()
    return results


def _ends(starts: Sequence[int], count: int) -> list[int]:
    """Returns where sequences end that begin at `starts` among `count` samples."""
    return [*starts[1:], count]


def _steps_of_sequences(starts: Sequence[int], count: int) -> list[list[int]]:
    """Returns the numbers of the first, the middle and the last samples of all sequences."""
    return [
        list(starts),
        [(begin + end - 1) // 2 for begin, end in zip(starts, _ends(starts, count))],
        [end - 1 for end in _ends(starts, count)],
    ]


def device_outputs(
    c: Compilation,
    samples: Sequence[Any],
    starts: Sequence[int],
    library: Union[str, Path, None] = None,
    image: Union[str, Path, None] = None,
    url: str = "",
    board: str = "",
    progress: Callable[[str], None] = lambda line: None,
) -> tuple[Optional[list[Outputs]], str, str]:
    """Returns the outputs as the device computes them, why there are none, and what computed them."""
    compiled = c.compiled[0]
    arrays = [[for_device(np.asarray(x.numpy(), order="C")) for x in sample] for sample in samples]
    if image is not None or url:
        if compiled.payload is None:
            raise UserError("the model is not delegated as a whole: images of the standalone runner cannot run it")
        progress(f"running on {url}" if url else f"simulating {image}")
        # The firmware begins with the initial state each time.
        outputs: list[Outputs] = []
        for begin, end in zip(starts, _ends(starts, len(arrays))):
            run: Union[DeviceRun, simulate.Run]
            if url:
                run = device_runner.run(compiled.payload, arrays[begin:end], url, image, board=board, progress=progress)
                where = run.place
            else:
                assert image is not None
                run = simulate.run(compiled.payload, arrays[begin:end], image, progress=progress)
                where = f"{run.info.core} in {run.place}"
            outputs += [[torch.from_numpy(x) for x in result] for result in run.outputs]
        return outputs, "", f"{where}, kernels {run.info.kernels}"
    try:
        program = HostProgram(compiled.pte, library)
    except UserError as error:
        if compiled.graph is None:  # parts are computed by ExecuTorch's kernels
            return None, f"the model is not delegated as a whole, and cannot be run here: {error}", ""
        progress("running the integer reference")
        results = []
        for index, sample in enumerate(numbered(arrays, "sample")):
            if index in starts:
                states = reference.initial_states(compiled.graph)
            results.append(reference.run(compiled.graph, sample, states=states))
        how = "the integer reference"
    else:
        progress("running the program in ExecuTorch's runtime")
        channels_last = [index for index, x in enumerate(c.inputs.tensors) if not x.is_contiguous()]
        results = []
        for index, sample in enumerate(numbered(arrays, "sample")):
            if index in starts and index:
                program = HostProgram(compiled.pte, library)
            results.append(program.run(sample, channels_last))
        how = "the device's kernels in C++, on this machine"
    return [[torch.from_numpy(x) for x in result] for result in results], "", how


class Labels:
    """The classes of the samples of a part, from those of all `count` samples. `outputs` are those of one sample."""

    def __init__(self, labels: np.ndarray, count: int, part: Optional[Part], outputs: Outputs) -> None:
        shape = list(outputs[0].shape)
        if len(shape) != 2:
            raise UserError(f"labels are for a model whose first output is [batch, classes]; here it is {shape}")
        wanted = count * shape[0]
        if labels.ndim != 1 or len(labels) != wanted or not np.issubdtype(labels.dtype, np.integer):
            raise UserError(f"labels are {labels.dtype}{list(labels.shape)}; the data needs {wanted} integers")
        if labels.min() < 0 or labels.max() >= shape[1]:
            raise UserError(f"labels go from {labels.min()} to {labels.max()}; the model has {shape[1]} classes")
        by_sample = labels.reshape(count, shape[0])
        self._labels = (by_sample if part is None else by_sample[part.samples]).reshape(-1)

    @property
    def rows(self) -> int:
        return len(self._labels)

    def right(self, results: Sequence[Outputs]) -> int:
        found = np.concatenate([output[0].numpy().argmax(axis=1) for output in results])
        return int((found == self._labels).sum())


def arithmetic_of(
    name: str,
    how: str,
    wanted: Sequence[Outputs],
    found: Sequence[Outputs],
    classes: Optional[Labels],
    steps: Sequence[Sequence[int]],
) -> Arithmetic:
    """`steps` are the numbers of samples whose noise is stated apart, for the report's `drift`."""
    rows, right = (0, 0) if classes is None else (classes.rows, classes.right(found))
    drift = [_sums([wanted[i] for i in numbers], [found[i] for i in numbers]) for numbers in steps]
    return Arithmetic.of(name, how, _sums(wanted, found), rows, right, drift)


def _sums(wanted: Sequence[Outputs], found: Sequence[Outputs]) -> list[NoiseSums]:
    noises = [Noise() for _ in wanted[0]]
    for a, b in zip(wanted, found):
        for noise, x, y in zip(noises, a, b):
            noise.add(x, y)
    return [NoiseSums().plus(noise) for noise in noises]


def _steps(compiled: Compiled, quantized: Sequence[Outputs], device: Sequence[Outputs]) -> Optional[int]:
    """Returns the largest difference of an output that is quantized."""
    _, quants = io_quants(compiled.program)
    distances = [
        float((a.double() - b.double()).abs().max()) / quant.scale[0]
        for x, y in zip(quantized, device)
        for a, b, quant in zip(x, y, quants)
        if quant is not None and a.numel()
    ]
    return round(max(distances)) if distances else None


class _DeviceLayers:
    """The device's tensors next to those of the float model, by the names of layers. `noises` has the layers of which
    the device keeps a tensor of the same shape: passes join and drop others."""

    def __init__(self, c: Compilation, samples: Samples) -> None:
        self.noises: dict[str, Noise] = {}
        self._values: list[dict[str, torch.Tensor]] = []
        graph = c.compiled[0].graph
        if graph is None:
            return
        functions = CallFunctions(c)
        self._layers = {
            id(node.output): name
            for node in graph.nodes
            if len(node.outputs) == 1 and (name := functions.of(node)) is not None
        }
        states = reference.initial_states(graph)
        for index, sample in enumerate(samples.kept):
            if index in samples.starts:
                states = reference.initial_states(graph)
            self._values.append({})
            reference.run(graph, [for_device(x.numpy()) for x in sample], self._keep, states)

    def _keep(self, _: Any, value: Value, array: np.ndarray) -> None:
        """Keeps a tensor of the sample that runs."""
        layer = self._layers.get(id(value))
        if layer is not None and value.quant is not None and value.quant.axis is None:
            integers = storage.from_storage(array, value).astype(np.float64)
            self._values[-1][layer] = torch.from_numpy((integers - value.zero_point) * value.scale)

    def see(self, layer: LayerNoise, wanted: torch.Tensor, sample: int) -> None:
        """Compares the device's tensor with a layer's float tensor of a sample."""
        found = self._values[sample].get(layer.node.name) if self._values else None
        if found is None:
            return
        squeezed = [[size for size in x.shape if size != 1] for x in (wanted, found)]
        if squeezed[0] == squeezed[1]:
            self.noises.setdefault(layer.node.name, Noise()).add(wanted, found.reshape(wanted.shape))


def _layer(
    c: Compilation, layer: LayerNoise, device: Optional[Noise], total: float, gains: FormatGains
) -> LayerAccuracy:
    node = layer.node
    cost = layer.cost / total if total else 0.0
    return LayerAccuracy(
        module=module_of(node),
        source=str(source_of(node) or ""),
        function="input" if node.op == "placeholder" else target_name(node),
        name=node.name,
        sqnr=layer.noise.sqnr,
        device_sqnr=None if device is None else device.sqnr,
        cosine=layer.noise.cosine,
        saturation=layer.saturation,
        levels=layer.levels_used,
        alone_sqnr=decibels(layer.cost),
        cost=cost,
        weights_cost=min(layer.weights_cost / total, cost) if total else 0.0,
        proposals=tuple(proposals(layer, cost, c, gains)) if cost > 0 else (),
    )
