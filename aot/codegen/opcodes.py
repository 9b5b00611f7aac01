"""The text of format/opcodes.py: the numbers that it has, and the next ones for kernels that have none."""

from __future__ import annotations

import enum

from cmsis_nn_delegate.providers.registry import all_kernels

_TEXT = '''\
"""The numbers of kernels in payloads.

A number never changes its meaning and is never used again: payloads are in the field. `bazel run //:generate`
adds the next one here for a kernel that an operator declares and that has none.
"""

from __future__ import annotations

import enum


class Opcode(enum.IntEnum):
    """Kernels. 0 is never valid; the order is ABI."""

{members}
'''


def generate(known: type[enum.IntEnum]) -> str:
    """`known` are the numbers so far; none of them changes."""
    numbers = {member.name: member.value for member in known}
    for kernel in all_kernels():
        numbers.setdefault(kernel.name.upper(), max(numbers.values()) + 1)
    return _TEXT.format(members="\n".join(f"    {name} = {number}" for name, number in numbers.items()))
