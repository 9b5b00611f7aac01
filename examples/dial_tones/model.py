"""The trained network, as `cmsisnn compile` takes it."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from examples.dial_tones.detector import SAMPLES, Detector

# Written by train.py. In a build it does not lie beside this file, but in the folder of the program's data.
_WEIGHTS = Path("examples/dial_tones/detector.pt")


def model() -> tuple[Detector, tuple[torch.Tensor]]:
    found = [Path(folder) / _WEIGHTS for folder in sys.path if (Path(folder) / _WEIGHTS).is_file()]
    if not found:
        raise FileNotFoundError(f"{_WEIGHTS} is in no folder of sys.path: train.py writes it")
    network = Detector()
    network.load_state_dict(torch.load(found[0], weights_only=True))
    return network.eval(), (torch.zeros(1, SAMPLES),)
