"""Why a node of an edge program is not delegated."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Reason(enum.Enum):
    """Why a node is not delegated; machine-readable, stable."""

    UNSUPPORTED_OPERATOR = "unsupported-operator"
    NOT_QUANTIZED = "not-quantized"
    UNSUPPORTED_DTYPE = "unsupported-dtype"
    UNSUPPORTED_QUANTIZATION = "unsupported-quantization"
    UNSUPPORTED_SHAPE = "unsupported-shape"
    UNSUPPORTED_PARAMETER = "unsupported-parameter"
    DYNAMIC_SHAPE = "dynamic-shape"
    NOT_CONSTANT = "not-constant"
    TOO_LARGE = "too-large"
    NOT_FUSABLE = "not-fusable"
    LEFT_IN_FLOAT = "left-in-float"


@dataclass(frozen=True)
class Refusal:
    """`reason` is for programs. `message` is for people: it says what is wrong and what to do about it."""

    reason: Reason
    message: str


# Of models that are quantized dynamically, by XNNPACKQuantizer for example: what is wrong and what to do.
DYNAMICALLY = (
    "each inference computes the scale, and kernels have scales that are known ahead: quantize statically with the "
    "same quantizer (is_dynamic=False), or give the float model and calibration data"
)
