"""What becomes of a case of ExecuTorch's Cortex-M backend: `outcome_of`."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import torch

from tests.coverage.mcu_cases import cases
from tests.coverage.outcome import Sets, measure_sets

SETS = 6


def outcome_of(name: str, numbers: Sequence[int] = range(SETS)) -> Sets:
    """Returns what becomes of the case called `name`, with the sets of data that have these numbers."""
    case = cases()[name]
    torch.manual_seed(zlib.crc32(name.encode()))
    return measure_sets(name, case.model, case.get_example_inputs(), numbers)


def sampled_set(name: str) -> int:
    """Returns the set with which tests measure a case."""
    return zlib.crc32(name.encode()) % SETS
