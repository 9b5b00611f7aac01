"""The types of elements, with every fact about one: ranges, sizes, names in C and in ExecuTorch, and what it is used
for. Nothing else has a table of them, so that a new type is a line here, and the operators whose kernels take it.

PyTorch's type is `edge.torch_types.torch_type`, because all that needs no PyTorch works without it.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    import numpy as np


class Use(enum.Enum):
    """What the tensors of a graph hold in elements of a type."""

    REAL = "real numbers, at its border and where kernels compute in float"
    INDEX = "indices of rows"
    ACTIVATION = "quantized activations, which kernels compute with"
    CONSTANT = "constants alone"


class Element(enum.Enum):
    """Type of an element. The value is PyTorch's name for it, if there is one."""

    # Name, ExecuTorch's ScalarType if it has one, use. Integers are quantized symmetrically if they say so.
    FLOAT32 = "float32", 6, Use.REAL
    INT64 = "int64", 4, Use.INDEX
    INT32 = "int32", 3, Use.INDEX
    INT16 = "int16", 2, Use.ACTIVATION, True
    INT8 = "int8", 1, Use.ACTIVATION
    # Packed two to a byte, the first in the lower half; in numpy each has its own byte.
    INT4 = "int4", None, Use.CONSTANT, True

    _value_: str
    # The number in a payload and in a .pte.
    scalar_type: Optional[int]
    use: Use
    # Whether the zero point is always 0.
    is_symmetric: bool

    # Only `Element("int8")`, which finds a member, has one argument.
    def __new__(
        cls, name: str, scalar_type: Optional[int] = None, use: Use = Use.CONSTANT, is_symmetric: bool = False
    ) -> Element:
        element = object.__new__(cls)
        element._value_ = name
        element.scalar_type, element.use, element.is_symmetric = scalar_type, use, is_symmetric
        return element

    @staticmethod
    def of_scalar_type(number: int) -> Optional[Element]:
        """Returns the type with this number of ExecuTorch, if inputs and outputs may have it."""
        return next((e for e in Element if e.scalar_type == number and e.at_border), None)

    @property
    def at_border(self) -> bool:
        """Whether inputs and outputs of a payload may have it."""
        return self.use is not Use.CONSTANT

    @property
    def is_activation(self) -> bool:
        return self.use is Use.ACTIVATION

    @property
    def is_index(self) -> bool:
        return self.use is Use.INDEX

    @property
    def bits(self) -> int:
        """Size in memory."""
        return int(self.value.lstrip("floatin"))

    @property
    def is_integer(self) -> bool:
        return self is not Element.FLOAT32

    @property
    def low(self) -> int:
        """The least number of an integer type."""
        return -(1 << (self._integer_bits() - 1))

    @property
    def high(self) -> int:
        """The greatest number of an integer type."""
        return (1 << (self._integer_bits() - 1)) - 1

    @property
    def symmetric_low(self) -> int:
        """The least number of weights, whose ranges are symmetric."""
        return -self.high

    @property
    def zero_points(self) -> range:
        """The zero points that kernels take."""
        return range(1) if self.is_symmetric else range(self.low, self.high + 1)

    @property
    def range_text(self) -> str:
        """The type, its range and what its zero point has to be, for people."""
        zero_point = " with zero point 0" if self.is_symmetric else ""
        return f"{self.value} in [{self.low}, {self.high}]{zero_point}"

    @property
    def c_type(self) -> str:
        """C's type for the elements."""
        return f"{self.value}_t" if self.is_integer else "float"

    @property
    def struct_code(self) -> str:
        """The letter of Python's `struct`, which numpy takes, too."""
        return {8: "b", 16: "h", 32: "i", 64: "q"}[max(self.bits, 8)] if self.is_integer else "f"

    @property
    def numpy(self) -> np.dtype[Any]:
        """numpy's type for the elements."""
        import numpy as np  # firmware builds use the format without it

        return np.dtype(self.struct_code)

    def nbytes(self, count: int) -> int:
        """Bytes that `count` elements take in memory."""
        return -(-count * self.bits // 8)

    def _integer_bits(self) -> int:
        if not self.is_integer:
            raise ValueError(f"{self.value} has no least and greatest number")
        return self.bits


# What kernels compute with, the shortest first.
KERNEL_ELEMENTS = tuple(sorted((e for e in Element if e.is_activation), key=lambda element: element.bits))
# What every operator computes with. `Op.elements` says which ones take others, too.
COMMON_ELEMENT = KERNEL_ELEMENTS[0]
# What operators move that do not compute.
MOVED_ELEMENTS = (*KERNEL_ELEMENTS, Element.FLOAT32)


def named(*elements: Element) -> str:
    """Returns their names for people: "int8, int32 or float32"."""
    *most, last = (element.value for element in elements)
    return f"{', '.join(most)} or {last}" if most else last
