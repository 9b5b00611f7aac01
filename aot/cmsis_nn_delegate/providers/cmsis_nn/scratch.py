"""Scratch sizes of kernels, as CMSIS-NN itself computes them.

ExecuTorch ships CMSIS-NN's size functions, compiled for the host at the commit that
`format.schema.CMSIS_NN_COMMIT` names. They answer for any instruction set.
"""

from __future__ import annotations

from typing import Any

from ...targets.target import Target


def query(function: str, target: Target, data_type: str = "A8W8", **arguments: Any) -> int:
    """Returns the bytes that `function` (e.g. "convolve_wrapper_buffer_size") gives for `target`. `data_type`: "A16W8"
    for activations of int16."""
    # Imported here because it loads a native library that few users of operators need.
    from executorch.backends.cortex_m.library import cmsis_nn

    backend = getattr(cmsis_nn.Backend, target.isa.name)
    size: int = getattr(cmsis_nn, function)(backend, getattr(cmsis_nn.DataType, data_type), **arguments)
    return max(size, 0)
