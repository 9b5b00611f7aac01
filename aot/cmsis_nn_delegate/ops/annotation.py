"""How the quantizer treats an operator: which of its tensors get a scale, and which scale.

`targets` are the operators of exported programs, as `torch.export` gives them, before they are decomposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Optional, Union

from ..edge.program_types import EdgeNode


@dataclass(frozen=True)
class Weighted:
    """The weight is constant, symmetric, int8 per output channel. The bias has steps of input scale * weight scale. The
    output has its own scale, which is that of the following activation, if there is one.

    `linear`: all weights may share one scale, if the user asks for that. `folds_batch_norm`: quantization-aware
    training folds the following batch norm into the weights. `transposed`: the weight is [in, out / groups, ...].
    """

    targets: tuple[str, ...]
    linear: bool = False
    transposed: bool = False
    folds_batch_norm: bool = False


@dataclass(frozen=True)
class Elementwise:
    """The first `operands` arguments are tensors with their own scales, that of a constant from its own range. So is
    the output, whose scale is that of the following activation, if there is one."""

    targets: tuple[str, ...]
    operands: int


@dataclass(frozen=True)
class Unary:
    """One argument is an activation with its own scale; all others are plain numbers or constants with one element,
    and are not annotated. The output has its own scale, too, which is that of the following activation, if there is
    one; but outputs of the targets in `fixed` always have the same scale and zero point, stated for int8. Targets in
    `narrow` compute in int8 alone.

    A target may have another annotation, too, for calls with more activations.
    """

    targets: tuple[str, ...]
    fixed: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    narrow: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SameScale:
    """Values are moved, selected or limited: one input and the output share a scale. With `when`, only calls of the
    targets for which it holds; others may have another annotation."""

    targets: tuple[str, ...]
    when: Optional[Callable[[EdgeNode], bool]] = None


@dataclass(frozen=True)
class JoinedScale:
    """Values of several tensors are put together or selected: the tensors and the output share a scale. A tensor that
    comes from a `FixedOutput` keeps its scale there, and is requantized for this operator.

    The tensors are the first `operands` arguments or, if there is no such number, those of a list, the first argument.
    Some of them may be constant.
    """

    targets: tuple[str, ...]
    operands: Optional[int] = None


@dataclass(frozen=True)
class FixedOutput:
    """The input has its own scale; the kernel's output always has the same scale, stated for int8."""

    targets: tuple[str, ...]
    scale: float
    zero_point: int


@dataclass(frozen=True)
class IndexOutput:
    """The first `operands` arguments have their own scales; the output is an index, which has none."""

    targets: tuple[str, ...]
    operands: int = 1


@dataclass(frozen=True)
class OfIntegers:
    """The first argument is integers from outside of the delegate, which have no scale, and all others are plain
    numbers, by which `limits` tells between which numbers the result lies, whatever the integers are. The output has
    the scale of this range, or that of the following activation, if there is one."""

    targets: tuple[str, ...]
    limits: Callable[[EdgeNode], tuple[float, float]]


@dataclass(frozen=True)
class LookUp:
    """The first argument is a constant table. It and the output, numbers of it that integers choose, share a scale,
    which is that of the whole table. A table of 4 bits has a scale for each row, and its output another."""

    targets: tuple[str, ...]


@dataclass(frozen=True)
class RecurrentLayer:
    """The first argument has its own scale, and so have the weights of each of `gates`, symmetric, which are rows of
    `w_ih` and `w_hh`. The initial state `h0` shares the scale of the output or, if `unit`, is int16 and from -1 to
    1. Biases stay in float.

    `cells` is the operator of the same arguments that computes the cells of the layer, in int16 with a scale that is a
    power of two, which is that of the initial cells `c0`. `units` is the operator that likewise computes what the layer
    projects with the weight `w_hr`, which has one scale; that of the units is the one of the constant `m0`. `last` is
    the operator that gives the int16 state after the last step."""

    targets: tuple[str, ...]
    gates: int
    cells: Optional[str] = None
    units: Optional[str] = None
    unit: bool = False
    last: Optional[str] = None


@dataclass(frozen=True)
class KeptSum:
    """The first argument is a state, and the result its new value: both are int16 with a scale that is a power of two,
    from calibration, where `last` gives the result, and what else reads the result reads it in int8, with a scale of
    its own. The next `operands` arguments are activations with their own scales, or constants, which stay in float as
    all arguments after them."""

    targets: tuple[str, ...]
    operands: int
    last: str


@dataclass(frozen=True)
class Samples:
    """The first argument is sound: int16, and so is what computes it of an input, which is from -1 to 1, as a converter
    gives it. All other arguments are numbers or constants, which stay in float. The output has its own scale."""

    targets: tuple[str, ...]


@dataclass(frozen=True)
class Energies(Samples):
    """The first argument is logarithms of energies of sound: int16, and so is what computes it of an input. The second
    is a state, which has the same scale, and so has the one that `last` gives after the call; all others are constants,
    which stay in float. The output has its own scale."""

    last: str = ""


@dataclass(frozen=True)
class NotAnnotated:
    """The quantizer never meets it in an exported program: `why`."""

    why: str
    targets: tuple[str, ...] = ()


Annotation = Union[
    Weighted,
    Elementwise,
    Unary,
    SameScale,
    JoinedScale,
    FixedOutput,
    IndexOutput,
    LookUp,
    OfIntegers,
    RecurrentLayer,
    KeptSum,
    Samples,
    NotAnnotated,
]
