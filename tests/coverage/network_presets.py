"""The formats of numbers in which whole networks are measured: FORMATS."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.search.choose import choose_formats
from cmsis_nn_delegate.search.result import ChosenFormats

# The presets that give a whole network one format. Others are compared with the first.
PRESETS = ("int8", "int16", "w4")
# The formats that the compiler chooses, layer by layer, when it is asked for MORE dB than the first has.
MIXED = "mixed"
MORE = 6.0
FORMATS = (*PRESETS, MIXED)

Samples = Sequence[tuple[torch.Tensor, ...]]


def preset(name: str) -> Configuration:
    """Returns the quantization of one of PRESETS."""
    return Configuration(name)


def mixed(
    module: torch.nn.Module, core: str, calibrating: Samples, data: Samples, sqnr: float, library: Path, **options: Any
) -> ChosenFormats:
    """Returns what the compiler chooses for `core` when it is asked for MORE dB than `sqnr`, on `data`. `library` is
    the delegate's, and options are those of `compile_model`. UserError if no formats are as exact as that."""
    return choose_formats(
        module,
        calibrating[0],
        core,
        calibrating,
        data=data,
        min_sqnr=round(sqnr + MORE, 1),
        library=library,
        check=False,
        **options,
    )
