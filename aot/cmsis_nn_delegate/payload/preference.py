"""What the compiler saves first where a call has several kernels."""

from __future__ import annotations

import enum


class Preference(enum.Enum):
    """What kernels are chosen by; the bytes that a model computes are always the same.

    SPEED, the default: the fastest kernel of each call, with as much scratch memory as makes the arena no larger.
    FLASH: the kernel whose constants and argument block take the fewest bytes of the payload; of equal ones the
    fastest. The code of kernels does not count: an image has the kernels of its table, whether or not they are called.
    RAM: as SPEED, but a slower kernel with less scratch memory where that makes the arena smaller; and `compile_model`
    lets convolutions be computed in `bands` of rows.
    """

    SPEED = "speed"
    FLASH = "flash"
    RAM = "ram"

    @staticmethod
    def of(name: str) -> Preference:
        """Returns the member called `name`. ValueError lists the choices if there is none."""
        try:
            return Preference(name)
        except ValueError:
            raise ValueError(f"unknown preference {name!r}; choose one of {', '.join(PREFERENCES)}") from None


PREFERENCES = tuple(member.value for member in Preference)
