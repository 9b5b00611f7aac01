"""Compiles one network for every instruction set, and computes its expected outputs.

    build_network.py NETWORK OUTPUT_PREFIX

See network_artifacts.bzl for the files.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

# torch creates millions of permanent objects: searching them for garbage takes a fifth of the time.
gc.set_threshold(1_000_000, 100, 100)

# ruff: noqa: E402
from cmsis_nn_delegate.support.quiet import quiet

quiet()

import numpy as np
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.targets.target import TARGET_OF_ISA
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from examples.mlperf_tiny.networks import NETWORKS

COUNT = 16


def samples(network: str, seed: int) -> list[torch.Tensor]:
    """Returns seeded inputs of batch 1, images in channels-last order."""
    inputs = [x[None] for x in NETWORKS[network].random_inputs(COUNT, seed)]
    if inputs[0].dim() == 4:
        inputs = [x.contiguous(memory_format=torch.channels_last) for x in inputs]
    return inputs


def compile_network(network: str) -> list[Compiled]:
    """For each instruction set."""
    calibration = samples(network, seed=1)
    return compile_for_targets(
        NETWORKS[network].random(),
        (calibration[0],),
        [target.name for target in TARGET_OF_ISA.values()],
        [(x,) for x in calibration],
        io="int8",
        strict=True,
        name=network,
    )


def vectors(compiled: Compiled, inputs: list[torch.Tensor]) -> dict[str, np.ndarray]:
    """Returns quantized `inputs` and the integer reference's outputs."""
    (value,) = compiled.graph.inputs
    steps = [value.type.quantize(x.numpy()) for x in inputs]
    answers = [reference.run(compiled.graph, [x])[0] for x in steps]
    return {"inputs": np.stack(steps), "expected": np.stack(answers)}


def main(argv: list[str]) -> int:
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    network, prefix = argv[1:]
    make_torch_faster()
    expected = graph = None
    for isa, compiled in zip(TARGET_OF_ISA, compile_network(network)):
        Path(f"{prefix}_{isa}.pte").write_bytes(compiled.pte)
        Path(f"{prefix}_{isa}.payload").write_bytes(compiled.payload)
        # Inputs that the calibration has not seen.
        arrays = vectors(compiled, samples(network, seed=2))
        if expected is not None and any((arrays[k] != expected[k]).any() for k in arrays):
            print(f"{network}: the graph depends on the instruction set", file=sys.stderr)
            return 1
        expected, graph = arrays, compiled.graph
    np.savez(f"{prefix}_vectors.npz", **expected)
    Path(f"{prefix}_graph.npz").write_bytes(serialize.dumps(graph, {"network": network}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
