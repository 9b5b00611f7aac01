"""Says when most of a model's instructions are arithmetic in float32 that its core has no instructions for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from ..graph.tensor_type import Element
from ..ops.registry import OPS
from ..targets.target import Target, has_fpu
from .choose_kernels import Choice

_MOST = 0.5  # of a model's instructions, beyond which a warning is due


def soft_float_warning(choices: Sequence[Choice], target: Target) -> Optional[str]:
    """Returns a sentence if the calls that compute in float32 take more than half of the instructions predicted for
    `choices`, and `target` has no FPU; else None."""
    prices = [(choice, choice.instructions(target) or 0) for choice in choices]
    floats = sum(price for choice, price in prices if OPS[choice.node.op].elements == (Element.FLOAT32,))
    total = sum(price for _, price in prices)
    if has_fpu(target.name) or floats <= _MOST * total:
        return None
    return (
        f"{100 * floats // total} % of the predicted instructions compute in float32, for which {target.name} has no "
        "FPU, so that each operation takes dozens: give less of the model `format: float32`, or `format: int16`"
    )
