"""Measures how many inferences a second this machine computes exactly as a device does, with the MLPerf Tiny networks.

./bazelw run //examples/mlperf_tiny:host_speed -- --seconds 5
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import torch

from cmsis_nn_delegate import compile_model, reference
from cmsis_nn_delegate.runner.host import HostProgram
from examples.mlperf_tiny.networks import NETWORKS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long to measure each, default 2")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'inferences a second':20}{'reference':>12}{'runtime':>12}")
    for network in NETWORKS.values():
        samples = [(x[None],) for x in network.random_inputs(4)]
        compiled = compile_model(network.random(), samples[0], "cortex-m55", samples, observer="minmax", check=False)
        graph = compiled.graph
        assert graph is not None, compiled.obstacle
        inputs = [[x.numpy() for x in sample] for sample in samples]
        rates = [
            _rate(lambda sample: reference.run(graph, sample), inputs, arguments.seconds),  # noqa: B023
            _rate(HostProgram(compiled.pte).run, inputs, arguments.seconds),
        ]
        print(f"{network.name:20}" + "".join(f"{rate:12,.0f}" for rate in rates), flush=True)


def _rate(run: Callable[[Any], object], inputs: Sequence[Any], seconds: float) -> float:
    run(inputs[0])
    begin, count = time.perf_counter(), 0
    for sample in itertools.cycle(inputs):
        run(sample)
        count += 1
        if time.perf_counter() - begin > seconds:
            break
    return count / (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
