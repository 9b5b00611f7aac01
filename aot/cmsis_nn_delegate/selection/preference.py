"""What the compiler saves first where a call has several kernels."""

from __future__ import annotations

import enum


class Preference(enum.Enum):
    """What kernels are chosen by; the bytes that a model computes are always the same.

    SPEED, the default: the fastest kernel of each call, with as much scratch memory as makes the arena no larger.
        Kernels with much larger constants only come within a limit, which is 0 bytes unless it is given: a model that
        fitted before still does with a new compiler.
    FLASH: the kernel whose constants and argument block take the fewest bytes of the payload; of equal ones the
    fastest. The code of kernels does not count: an image has the kernels of its table, whether or not they are called.
    RAM: as SPEED, but a slower kernel with less scratch memory where that makes the arena smaller; and convolutions are
    computed in `bands` of rows, within `PayloadOptions.max_slowdown`.
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


def check_flash_growth(preference: Preference, max_flash_growth: int) -> int:
    """Returns `max_flash_growth`. ValueError if it is negative, or if something else than speed is preferred."""
    if max_flash_growth < 0:
        raise ValueError(f"max_flash_growth is {max_flash_growth}; give a number of bytes, 0 or more")
    if max_flash_growth and preference is not Preference.SPEED:
        raise ValueError(
            f"max_flash_growth trades flash for speed; do without it, or prefer speed, not {preference.value}"
        )
    return max_flash_growth


PREFERENCES = tuple(member.value for member in Preference)
