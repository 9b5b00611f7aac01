"""The networks that are measured, quantized and lowered: `names` and `load`."""

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

_SAMPLES = 8  # for calibration
# Any core: the lowered graph is the same for all.
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


def load(name: str, weights: Optional[Path]) -> Network:
    """Compiles a network with int8 inputs and outputs. `weights` is the folder with the trained weights of the
    networks of MLPerf Tiny; without it they have random ones, and the others always have.

    UserError if the network cannot be compiled as one delegate call; OSError and ValueError for bad weights.
    """
    if name in MLPERF_TINY:
        return _mlperf_tiny(name, weights)
    networks: dict[str, Callable[[], Any]] = {**KINDS, **hub_networks()}
    module, examples = networks[name]()
    generator = torch.Generator().manual_seed(1)
    samples = [tuple(random_like(x, generator) for x in examples) for _ in range(_SAMPLES)]
    # Inputs that are indices stay integers.
    io = "int8" if all(x.is_floating_point() for x in examples) else "float"
    return _compiled(name, "random", module, samples, io)


def _mlperf_tiny(name: str, weights: Optional[Path]) -> Network:
    network = MLPERF_TINY[name]
    if weights is None:
        module, inputs = network.random(), network.random_inputs(_SAMPLES)
    else:
        module, inputs = network.trained(weights), torch.from_numpy(network.check_data(weights)[0][:_SAMPLES])
    samples = [x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for x in inputs.split(1)]
    return _compiled(name, "random" if weights is None else "trained", module, [(x,) for x in samples], "int8")


def _compiled(
    name: str, weights: str, module: torch.nn.Module, samples: Sequence[tuple[torch.Tensor, ...]], io: str
) -> Network:
    def compiled_for(core: str, **options: Any) -> Compiled:
        return compile_model(module, samples[0], core, samples, io=io, name="network", check=False, **options)

    def encoded(core: str, **options: Any) -> Encoded:
        found = compiled_for(core, **options).encoded
        assert found is not None, "other options delegate less"
        return found

    compiled = compiled_for(_TARGET)
    graph = compiled.graph
    if graph is None:
        raise UserError(f"{name} is not one delegate call: {compiled.obstacle}")
    inputs = []
    for value, tensor in zip(graph.inputs, samples[0], strict=True):
        array = tensor.contiguous().numpy()
        inputs.append(array if array.dtype == value.element.numpy else value.type.quantize(array))
    return Network(name, weights, graph, tuple(inputs), compiled.modules, encoded)
