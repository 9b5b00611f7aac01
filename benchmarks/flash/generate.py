"""Writes the firmware sources of a network for Cortex-M4 and M55, with the kernels of each provider.

    generate.py NETWORK FOLDER

The folders NETWORK_<core>_<providers> in FOLDER get network.h, network.kernels.h and network.c, as `cmsisnn compile`
writes them. Weights are random.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import torch

from benchmarks.flash.flash import CORES, PROVIDERS, name_of
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from examples.mlperf_tiny.networks import NETWORKS

_SAMPLES = 4  # for calibration


def main(argv: list[str]) -> int:
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    network, folder = argv[1], Path(argv[2])
    make_torch_faster()
    samples = list(NETWORKS[network].random_inputs(_SAMPLES).split(1))
    if samples[0].dim() == 4:
        samples = [x.contiguous(memory_format=torch.channels_last) for x in samples]
    for providers, chosen in PROVIDERS.items():
        models = compile_for_targets(
            NETWORKS[network].random(),
            (samples[0],),
            list(CORES),
            [(x,) for x in samples],
            io="int8",
            strict=True,
            check=False,
            providers=chosen,
            name="network",
        )
        for core, compiled in zip(CORES, models, strict=True):
            for suffix in (".h", ".kernels.h", ".c"):
                path = folder / name_of(network, core, providers) / f"network{suffix}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(compiled.files()[f"network{suffix}"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
