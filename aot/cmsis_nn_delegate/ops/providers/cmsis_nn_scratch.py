"""Scratch sizes of kernels, asked of CMSIS-NN itself.

ExecuTorch ships CMSIS-NN's size functions, compiled for the host at the commit that
`format.schema.CMSIS_NN_COMMIT` names. They answer for any instruction set.
"""

from __future__ import annotations

from typing import Any

from ...target import Target


def query(function: str, target: Target, **arguments: Any) -> int:
    """Bytes that int8 `function` (e.g. "convolve_wrapper_buffer_size") wants on `target`."""
    # Imported here because it loads a native library, which few users of operators need.
    from executorch.backends.cortex_m.library import cmsis_nn

    backend = getattr(cmsis_nn.Backend, target.isa.name)
    size: int = getattr(cmsis_nn, function)(backend, cmsis_nn.DataType.A8W8, **arguments)
    return max(size, 0)
