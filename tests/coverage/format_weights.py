"""Trains the U-Net of docs/formats.md, whose weights are kept, in about two minutes.

bazel run //tests/coverage:format_weights                # says how good it becomes
bazel run //tests/coverage:format_weights -- --write     # writes the weights into the source tree
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import torch

from tests.coverage.format_networks import FORMAT_NETWORKS, DenoisingUnet
from tests.coverage.format_training import UNET_WEIGHTS, keep, train_unet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write tests/coverage/{UNET_WEIGHTS.name}")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    module = DenoisingUnet()
    train_unet(module)
    if arguments.write:
        root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
        keep(module, root / "tests/coverage" / UNET_WEIGHTS.name)
    case = FORMAT_NETWORKS["denoising_unet"].build()
    with torch.no_grad():
        trained, kept = (case.accuracy([[m(*sample)] for sample in case.held_out]) for m in (module, case.module))
    print(f"PSNR: {trained:.2f} dB as trained now, {kept:.2f} dB with kept weights, {case.without:.2f} dB of the input")


if __name__ == "__main__":
    main()
