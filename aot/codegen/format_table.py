"""The matrix of docs/operators.md: which kernels compute an operator in a format of numbers, on which cores."""

from __future__ import annotations

from collections.abc import Iterator

from cmsis_nn_delegate.format.element import COMMON_ELEMENT, Element
from cmsis_nn_delegate.format.record import Role
from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.ops import conv2d
from cmsis_nn_delegate.ops.kernel import KernelSpec
from cmsis_nn_delegate.ops.op import Op
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.providers.implementation import Implementation, OwnImplementation
from cmsis_nn_delegate.providers.registry import PORTABLE, PROVIDERS

# In int16 a depthwise convolution is a convolution with groups.
_COMPUTED_AS = {("depthwise_conv2d", "int16"): (OPS["conv2d"], conv2d.LARGE_INT16)}
# Those whose `filter` is none of weights, but a mask.
_MASKED = ("masked_softmax",)


def generate() -> str:
    """Returns the table, a line for each operator and format."""
    titles = ["operator", "format", *("scalar" if isa is Isa.SCALAR else isa.name for isa in Isa)]
    rows = [_row(op.name, number, *found) for op in OPS.values() for number, found in _formats(op).items()]
    lines = [f"| {' | '.join(cells)} |" for cells in (titles, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(titles)}", *lines[1:]])


def formats(op: Op) -> set[str]:
    """Returns what `op` computes in, such as "int16" or "int8 x int4", with kernels of its own, those of the operators
    that it becomes, or those that move bytes; a conversion in the types on both sides."""
    if op.becomes:
        return {number for name in op.becomes for number in formats(OPS[name])}
    if not op.kernels:
        return {element.value for element in op.elements or ()} if op.targets else set()
    numbers = {
        by_weights(element.value, weights)
        for kernel in op.kernels
        for *activations, weights in [_elements(kernel)]
        if kernel.elements
        for element in activations
        if not element.is_index
    }
    return numbers | {number for name, number in _COMPUTED_AS if name == op.name}


def has_weights(op: Op) -> bool:
    """Returns whether kernels of `op` take weights, of which `weights: int4` makes 4 bits."""
    small = (COMMON_ELEMENT, Element.INT4)
    return op.name not in _MASKED and any(kernel.elements.get("filter") in small for kernel in op.kernels)


def by_weights(activations: str, weights: Element) -> str:
    """Returns the name of a format: that of its activations, and of its weights if those are not int8."""
    return activations if weights is COMMON_ELEMENT else f"{activations} x {weights.value}"


def _formats(op: Op) -> dict[str, tuple[Op, list[KernelSpec]]]:
    """Returns by the format of what `op` computes with which operator's kernels do; not those that move bytes."""
    found: dict[str, tuple[Op, list[KernelSpec]]] = {}
    for kernel in op.kernels:
        if kernel.elements:
            found.setdefault(_format(kernel), (op, []))[1].append(kernel)
    others = {number: other for (name, number), other in _COMPUTED_AS.items() if name == op.name}
    return {**found, **{number: (other, [kernel]) for number, (other, kernel) in others.items()}}


def _format(kernel: KernelSpec) -> str:
    """Returns the elements of its activations, and of its weights if those are not int8: "int16", "int8 x int4"."""
    read, made, weights = _elements(kernel)
    return by_weights(read.value if read is made or made.is_index else f"{read.value} to {made.value}", weights)


def _elements(kernel: KernelSpec) -> tuple[Element, Element, Element]:
    """Returns those that `kernel` reads and makes, and those of its weights if they differ from both."""
    elements = kernel.elements
    inputs = [name for name in kernel.args.names_of(Role.INPUT) if name in elements]
    # A state that goes before the input has a type of its own.
    read = next((name for name in inputs if name.startswith("input")), inputs[0] if inputs else "")
    reads, makes = elements.get(read, COMMON_ELEMENT), elements.get("output", COMMON_ELEMENT)
    weights = elements.get("filter", COMMON_ELEMENT)
    return reads, makes, COMMON_ELEMENT if weights in (reads, makes) else weights


def _row(name: str, number: str, op: Op, kernels: list[KernelSpec]) -> list[str]:
    found = ([name for name in _providers(op, kernels, isa) if name != PORTABLE.name] for isa in Isa)
    return [name, number, *(", ".join(names or [PORTABLE.name]) for names in found)]


def _providers(op: Op, kernels: list[KernelSpec], isa: Isa) -> Iterator[str]:
    """Yields the providers that compute at least some calls, in the order in which the compiler prefers them."""
    for provider in PROVIDERS.values():
        if any(_computed(found) in kernels for found in provider.implementations(op.name) if isa in found.isas):
            yield provider.name


def _computed(found: Implementation) -> KernelSpec:
    """Returns the operator's kernel whose calls it computes: weights in a table of its own have no elements there."""
    return found.like if isinstance(found, OwnImplementation) else found.kernel
