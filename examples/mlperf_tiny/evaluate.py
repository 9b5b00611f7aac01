"""Evaluates the four MLPerf Tiny networks on simulated cores: memory, instructions, exactness.

    ./bazelw run //examples/mlperf_tiny:evaluate -- --weights FOLDER --core cortex-m4 --core cortex-m55

Without --weights the networks have seeded random weights.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import numpy as np
import torch

from cmsis_nn_delegate import TARGETS, UserError, compile_model, reference
from cmsis_nn_delegate.quantization.configuration import WEIGHTS
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.selection.preference import PREFERENCES, Preference
from examples.mlperf_tiny.networks import NETWORKS, Network

_RUNTIME = Path(__file__).parent.parent.parent / "runtime"


@dataclass(frozen=True)
class Row:
    """One network on one core."""

    network: str
    core: str
    arena: int
    bound: int
    payload: int
    init: Optional[int]
    inference: Optional[int]
    differing: int
    agreement: (
        str  # comparison with the float network: how often the class is the same, or the largest error in output steps
    )
    run: simulate.Run


def evaluate(
    network: Network,
    core: str,
    weights: Optional[Path],
    count: int,
    linear_weights: str,
    prefer: str = Preference.SPEED.value,
    max_flash_growth: int = 0,
) -> Row:
    if weights is None:
        module, inputs = network.random(), network.random_inputs(count).numpy()
    else:
        module, inputs = network.trained(weights), network.check_data(weights)[0][:count]
    samples = [torch.from_numpy(x[None]) for x in inputs]
    if samples[0].dim() == 4:
        samples = [x.contiguous(memory_format=torch.channels_last) for x in samples]
    compiled = compile_model(
        module,
        (samples[0],),
        core,
        [(x,) for x in samples],
        io="int8",
        strict=True,
        name=network.name,
        linear_weights=linear_weights,
        prefer=prefer,
        max_flash_growth=max_flash_growth,
    )
    images = [compiled.graph.inputs[0].type.quantize(x.numpy()) for x in samples]
    run = simulate.run(
        compiled.payload,
        [[x] for x in images],
        _RUNTIME / f"{core.replace('-', '_')}.elf",
        progress=lambda line: print(f"- {line}", file=sys.stderr, flush=True),
    )
    outputs = np.concatenate([outputs[0] for outputs in run.outputs])
    expected = np.concatenate([reference.run(compiled.graph, [x])[0] for x in images])
    with torch.no_grad():
        exact = torch.cat([module(x) for x in samples]).numpy()
    return Row(
        network=network.name,
        core=core,
        arena=run.arena_bytes,
        bound=compiled.encoded.plan.bound,
        payload=len(compiled.payload),
        init=run.init_instructions,
        inference=sum(run.instructions) // len(run.instructions) if run.instructions else None,
        differing=int((outputs != expected).sum()),
        agreement=_agreement(network, outputs, exact, compiled.graph.outputs[0].quant),
        run=run,
    )


def _agreement(network: Network, outputs: np.ndarray, exact: np.ndarray, quant) -> str:
    if network.is_classifier:
        same = int((outputs.argmax(axis=1) == exact.argmax(axis=1)).sum())
        return f"{same} of {len(exact)} classes"
    real = (outputs.astype(np.float64) - quant.zero_point) * quant.scale[0]
    return f"max {np.abs(real - exact).max() / quant.scale[0]:.1f} steps"


def _number(value: Optional[int]) -> str:
    return "not counted" if value is None else f"{value:,}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, metavar="FOLDER", help="of trained weights, see networks.py")
    parser.add_argument("--core", action="append", choices=tuple(TARGETS), help="default: cortex-m4 and -m55")
    parser.add_argument("--network", action="append", choices=tuple(NETWORKS), help="default: all")
    parser.add_argument("--linear-weights", choices=WEIGHTS, default=WEIGHTS[0])
    parser.add_argument("--prefer", choices=PREFERENCES, default=Preference.SPEED.value)
    parser.add_argument("--max-flash-growth", type=int, default=0, metavar="BYTES", help="as of `cmsisnn compile`")
    parser.add_argument("--count", type=int, default=8, help="inputs of each network, default 8")
    arguments = parser.parse_args(argv)
    weights = arguments.weights
    if weights is not None:
        # `bazel run` starts programs in another folder.
        weights = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / weights
    widths = (18, 14, 9, 9, 9, 13, 14, 10, 16, 2)
    titles = (
        "network",
        "core",
        "arena",
        "bound",
        "payload",
        "init + CRC",
        "inference",
        "differing",
        "float network",
        "  simulator",
    )

    def line(cells) -> None:
        print(
            "".join(f"{cell:<{w}}" if i < 2 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(cells, widths))),
            flush=True,
        )

    line(titles)
    differing = 0
    row = None
    try:
        for name in arguments.network or NETWORKS:
            for core in arguments.core or ("cortex-m4", "cortex-m55"):
                row = evaluate(
                    NETWORKS[name],
                    core,
                    weights,
                    arguments.count,
                    arguments.linear_weights,
                    arguments.prefer,
                    arguments.max_flash_growth,
                )
                differing += row.differing
                line(
                    (
                        row.network,
                        row.core,
                        _number(row.arena),
                        _number(row.bound),
                        _number(row.payload),
                        _number(row.init),
                        _number(row.inference),
                        _number(row.differing),
                        row.agreement,
                        f"  {row.run.simulator}",
                    )
                )
    except (UserError, OSError, ValueError) as error:
        print(f"evaluate: error: {error}", file=sys.stderr)
        return 1
    print(
        f"\nBytes; executed instructions. Kernels {row.run.info.kernels}, executor {row.run.info.executor}; "
        f"weights {arguments.weights or 'random'}."
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
