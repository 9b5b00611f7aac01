"""The matrix of docs/operators.md: which kernels compute an operator in a format of numbers, on which cores."""

from __future__ import annotations

from collections.abc import Iterator

from cmsis_nn_delegate.format.element import COMMON_ELEMENT
from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.ops.kernel import KernelSpec
from cmsis_nn_delegate.ops.op import Op
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.providers.registry import PORTABLE, PROVIDERS


def generate() -> str:
    """Returns the table, a line for each operator and format."""
    titles = ["operator", "format", *("scalar" if isa is Isa.SCALAR else isa.name for isa in Isa)]
    rows = [_row(op, number, kernels) for op in OPS.values() for number, kernels in _formats(op).items()]
    lines = [f"| {' | '.join(cells)} |" for cells in (titles, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(titles)}", *lines[1:]])


def _formats(op: Op) -> dict[str, list[KernelSpec]]:
    """Returns the operator's kernels by the format of what they compute with; not those that move bytes."""
    found: dict[str, list[KernelSpec]] = {}
    for kernel in op.kernels:
        if kernel.elements:
            found.setdefault(_format(kernel), []).append(kernel)
    return found


def _format(kernel: KernelSpec) -> str:
    """Returns the elements of its activations, and of its weights if those are not int8: "int16", "int8 x int4"."""
    elements = kernel.elements
    read = next((element for name, element in elements.items() if name.startswith("input")), COMMON_ELEMENT)
    made = elements["output"]
    weights = elements.get("filter", COMMON_ELEMENT)
    text = read.value if read is made or made.is_index else f"{read.value} to {made.value}"
    return text if weights in (COMMON_ELEMENT, read, made) else f"{text} x {weights.value}"


def _row(op: Op, number: str, kernels: list[KernelSpec]) -> list[str]:
    found = ([name for name in _providers(op, number, kernels, isa) if name != PORTABLE.name] for isa in Isa)
    return [op.name, number, *(", ".join(names or [PORTABLE.name]) for names in found)]


def _providers(op: Op, number: str, kernels: list[KernelSpec], isa: Isa) -> Iterator[str]:
    """Yields the providers that compute at least some calls, in the order in which the compiler prefers them."""
    for provider in PROVIDERS.values():
        own = [found for found in provider.implementations(op.name) if isa in found.isas]
        if any(found.kernel in kernels or _format(found.kernel) == number for found in own):
            yield provider.name
