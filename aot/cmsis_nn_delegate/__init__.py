"""ExecuTorch delegate for CMSIS-NN on Arm Cortex-M, ahead-of-time side. See README.md.

The names below are imported when they are first used: the payload's format, which the C++ build reads
from this package, must not need torch.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "Board": "targets.board",
    "CmsisNnBackend": "partition.backend",
    "CmsisNnPartitioner": "partition.partitioner",
    "CmsisNnQuantizer": "quantization.quantizer",
    "Compiled": "compiled",
    "Memory": "targets.memory",
    "QuantizationConfig": "quantization.configuration",
    "Report": "report.model_report",
    "Sequences": "quantization.calibration",
    "Stream": "streaming.option",
    "TARGETS": "targets.target",
    "Target": "targets.target",
    "UserError": "support.errors",
    "VariableLength": "edge.variable_length",
    "choose_formats": "search.choose",
    "compile_for_targets": "compile",
    "compile_model": "compile",
    "convert_trained": "quantization.convert",
    "explore": "search.explore",
    "get_target": "targets.target",
    "lower": "partition.lower",
    "quantizable_module": "quantization.prepare",
}

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    quiet = importlib.import_module(".support.quiet", __name__)
    with quiet.quiet_libraries():  # torchao warns when it is imported
        value = getattr(importlib.import_module(f".{_EXPORTS[name]}", __name__), name)
    globals()[name] = value
    return value
