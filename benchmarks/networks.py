"""The networks that are measured, in float (`source`), and quantized and lowered (`load`, `compiled`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.payload.encode import Encoded
from cmsis_nn_delegate.support.errors import UserError
from examples.mlperf_tiny.networks import NETWORKS as MLPERF_TINY
from tests.coverage.hub import hub_networks
from tests.coverage.networks import NETWORKS as KINDS
from tests.coverage.networks import random_like
from tests.coverage.samples import like

_SAMPLES = 8  # for calibration
# Any core: all compute the same numbers.
_TARGET = "cortex-m4"


@dataclass(frozen=True)
class Network:
    """A network that is one delegate call. `inputs` is one set, in the types of the graph's inputs. `encoded` returns
    its payload for a core with options of `compile_model`."""

    name: str
    weights: str  # "trained" or "random"
    graph: Graph
    inputs: tuple[np.ndarray, ...]
    modules: dict[str, str]  # the user's module by the name of an edge node
    encoded: Optional[Callable[..., Encoded]] = None


def names() -> dict[str, str]:
    """Returns the kind of each network by its name: those of MLPerf Tiny, small ones written for this project, and
    those of torchvision and timm, if these packages can be imported."""
    found = {name: "MLPerf Tiny" for name in MLPERF_TINY}
    found |= {name: "tests/coverage/networks.py" for name in KINDS}
    return found | {name: name.partition("/")[0] for name in hub_networks()}


@dataclass(frozen=True)
class Source:
    """A network in float, with data. `samples` calibrate it, `others` are none of these."""

    name: str
    weights: str  # "trained" or "random"
    module: torch.nn.Module
    samples: Sequence[tuple[torch.Tensor, ...]]
    others: Sequence[tuple[torch.Tensor, ...]]

    @property
    def has_real_inputs(self) -> bool:
        """Returns whether no input is an index, which stays an integer of its own type."""
        return all(x.is_floating_point() for x in self.samples[0])


def source(name: str, weights: Optional[Path], calibrating: int = _SAMPLES, others: int = 0) -> Source:
    """Returns a network with `calibrating` samples and `others` that do not calibrate. `weights` is the folder with the
    trained weights of the networks of MLPerf Tiny; without it they have random ones, and the others always have. What
    comes with trained weights is eight samples of random numbers, and more are drawn like them.

    OSError and ValueError for bad weights.
    """
    count = calibrating + others
    if name in MLPERF_TINY:
        network = MLPERF_TINY[name]
        if weights is None:
            module, inputs = network.random(), network.random_inputs(count)
        else:
            module, given = network.trained(weights), torch.from_numpy(network.check_data(weights)[0])
            generator = torch.Generator().manual_seed(1)
            more = [like((given,), generator)[0] for _ in range(0, count - len(given), len(given))]
            inputs = torch.cat([given, *more])
        found = [
            (x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x,) for x in inputs[:count].split(1)
        ]
    else:
        networks: dict[str, Callable[[], Any]] = {**KINDS, **hub_networks()}
        module, examples = networks[name]()
        generator = torch.Generator().manual_seed(1)
        found = [tuple(random_like(x, generator) for x in examples) for _ in range(count)]
    trained = name in MLPERF_TINY and weights is not None
    return Source(name, "trained" if trained else "random", module, found[:calibrating], found[calibrating:])


def load(name: str, weights: Optional[Path]) -> Network:
    """Compiles a network with int8 inputs and outputs; see `source`.

    UserError if the network cannot be compiled as one delegate call; OSError and ValueError for bad weights.
    """
    found = source(name, weights)
    return compiled(found, "int8" if found.has_real_inputs else "float")[0]


def compiled(source: Source, io: str, **options: Any) -> tuple[Network, Compiled]:
    """Compiles a network with inputs and outputs `io` and these options of `compile_model`. UserError if it cannot be
    compiled as one delegate call."""

    def compiled_for(core: str, **more: Any) -> Compiled:
        return compile_model(
            source.module,
            source.samples[0],
            core,
            source.samples,
            io=io,
            name="network",
            check=False,
            **options,
            **more,
        )

    def encoded(core: str, **more: Any) -> Encoded:
        found = compiled_for(core, **more).encoded
        assert found is not None, "other options delegate less"
        return found

    found = compiled_for(_TARGET)
    if found.graph is None:
        raise UserError(f"{source.name} is not one delegate call: {found.obstacle}")
    inputs = arguments(found.graph, source.samples[0])
    return Network(source.name, source.weights, found.graph, inputs, found.modules, encoded), found


def arguments(graph: Graph, sample: Sequence[torch.Tensor]) -> tuple[np.ndarray, ...]:
    """Returns a sample in the types of the graph's inputs."""
    arrays = [tensor.contiguous().numpy() for tensor in sample]
    return tuple(
        array if array.dtype == value.element.numpy else value.type.quantize(array)
        for value, array in zip(graph.inputs, arrays, strict=True)
    )
