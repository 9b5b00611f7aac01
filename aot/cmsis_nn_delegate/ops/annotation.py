"""How the quantizer treats an operator: which of its tensors get a scale, and which one.

`targets` are operators of exported programs, as `torch.export` gives them and before they are decomposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Weighted:
    """A constant weight, symmetric, int8 per output channel; a bias in steps of input scale * weight scale; an output
    with a scale of its own, which is that of the activation that follows.

    `linear`: its weights may have one scale in all, if the user asks for that. `folds_batch_norm`: quantization-aware
    training puts the batch norm that follows into the weights.
    """

    targets: tuple[str, ...]
    linear: bool = False
    folds_batch_norm: bool = False


@dataclass(frozen=True)
class Elementwise:
    """The first `operands` arguments are activations with scales of their own, and so is the output, which is that of
    the activation that follows. Constants among the operands are left alone."""

    targets: tuple[str, ...]
    operands: int


@dataclass(frozen=True)
class SameScale:
    """Values are moved, selected or limited: one input and the output share a scale."""

    targets: tuple[str, ...]


@dataclass(frozen=True)
class FixedOutput:
    """One input with a scale of its own; the kernel's output has always the same."""

    targets: tuple[str, ...]
    scale: float
    zero_point: int


@dataclass(frozen=True)
class NotAnnotated:
    """The quantizer never meets it in an exported program: `why`."""

    why: str
    targets: tuple[str, ...] = ()


Annotation = Union[Weighted, Elementwise, SameScale, FixedOutput, NotAnnotated]
