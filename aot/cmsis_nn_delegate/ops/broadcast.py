"""Two operands of which one or both are repeated along some dimensions, as NumPy and PyTorch broadcast them.

A kernel walks both operands in the order of the output in memory. Dimensions next to each other along which the same
operand is repeated (or none) are one loop for it; so the usual cases, such as a number per channel of an image, have
one or two loops. The innermost one is a row, for which there are vector functions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np

from ..format import blocks
from ..format.cpp import camel
from ..format.record import I8, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from . import block_values
from .attrs import Shapes
from .case import Case
from .kernel import KernelSpec, named_for

Shape = tuple[int, ...]

MAX_LOOPS = 4  # of a kernel
COPIES_BYTES = 128  # of repeated elements, as in runtime/kernels/common/broadcast.cc


def operands(element: Scalar) -> tuple[Field, ...]:
    """Returns the references of an argument block."""
    name = element.element
    return (
        blocks.input("input1", element, "input1_dims", doc=f"{name} [input1_dims]"),
        blocks.input("input2", element, "input2_dims", doc=f"{name} [input2_dims]"),
        blocks.output(element, "output_dims", doc=f"{name} [output_dims]"),
    )


OPERANDS = operands(I8)
DIMS = (
    Field("input1_dims", blocks.DIMS, "each as in output_dims, or 1: repeated"),
    Field("input2_dims", blocks.DIMS, "each as in output_dims, or 1: repeated"),
    Field("output_dims", blocks.DIMS, "each the larger one of the operands'"),
)
GEOMETRY = "broadcast"
LIMITS = (
    f"any shapes that broadcast; from rank {MAX_LOOPS + 1} on, operands may take at most {MAX_LOOPS} turns in being "
    "repeated",
)
VARIANT = "broadcast"


def kernels(name: str, result: str, element: Scalar, parameters: Sequence[Field]) -> tuple[KernelSpec, KernelSpec]:
    """Returns the kernel of a function of two tensors of one shape, whose `result` is its "elementwise sum", say, and
    that of tensors that broadcast. `parameters` follow the references to the tensors. Kernels of other elements than
    int8 have them in their names, and are priced as those of int8."""
    plain, repeating = named_for(name, element), named_for(f"{name}_{VARIANT}", element)
    same = (
        blocks.input("input1", element, "count", doc=f"{element.element} [count]"),
        blocks.input("input2", element, "count", doc=f"{element.element} [count]"),
        blocks.output(element, "count", doc=f"{element.element} [count]"),
        *parameters,
        Field("count", I32, "elements"),
    )
    what = f"{element.element} {result} of two tensors"
    return (
        KernelSpec(
            plain,
            Struct(f"{camel(plain)}Args", f"{what} of one shape. The output may be one of the inputs.", same),
            priced_as="" if element is I8 else name,
        ),
        KernelSpec(
            repeating,
            Struct(
                f"{camel(repeating)}Args",
                f"{what} that are repeated along some dimensions. The output may be an input of its size.",
                (*operands(element), *parameters, *DIMS),
                geometry=GEOMETRY,
            ),
            variant=VARIANT,
            priced_as="" if element is I8 else f"{name}_{VARIANT}",
        ),
    )


class Loop(NamedTuple):
    """Dimensions of the output next to each other in memory: how many elements each tensor has along them."""

    first: int
    second: int
    output: int


def aligned(shape: Sequence[int], rank: int) -> Shape:
    """Returns `shape` with leading dimensions of 1."""
    return (1,) * (rank - len(shape)) + tuple(shape)


def output_shape(shapes: Sequence[Sequence[int]]) -> Shape:
    """Returns the shape of the result. ValueError for shapes that do not fit together."""
    return tuple(np.broadcast_shapes(*map(tuple, shapes)))


def shapes_of(first: Sequence[int], second: Sequence[int], layout: Layout = Layout.ROW_MAJOR) -> Optional[Shapes]:
    """Returns the shapes in memory of two operands of this layout, with one rank; None if neither of them is
    repeated."""
    output = output_shape((first, second))
    if math.prod(first) == math.prod(second) == math.prod(output):
        return None
    first, second = (aligned(shape, len(output)) for shape in (first, second))
    if layout is Layout.CHANNELS_LAST:
        first, second = ((n, h, w, c) for n, c, h, w in (first, second))
    return first, second


def loops(shapes: Shapes) -> list[Loop]:
    """Returns the loops over the output, outermost first; at least one."""
    dims = [Loop(a, b, max(a, b)) for a, b in zip(*shapes)]
    found: list[Loop] = []
    for dim in dims[::-1]:
        if dim.output == 1:
            continue
        inner = found[-1] if found else Loop(1, 1, 1)
        joined = Loop(*(a * b for a, b in zip(dim, inner)))
        same = not found or _repeated(dim) == _repeated(inner)
        if same:
            found[-1:] = [joined]
        else:
            found.append(dim)
    return found[::-1] or [Loop(1, 1, 1)]


def _repeated(loop: Loop) -> tuple[bool, bool]:
    return loop.first < loop.output, loop.second < loop.output


def in_memory(node: Node, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Returns both operands so that NumPy broadcasts them in the order of the output in memory; flat if neither is
    repeated. As values they may have other shapes there, because passes let operators read what is only renamed."""
    shapes: Optional[Shapes] = node.attrs.shapes
    if shapes is None:
        return [data.reshape(-1) for data in inputs]
    return [data.reshape(shape) for data, shape in zip(inputs, shapes)]


def dims(node: Node) -> Mapping[str, Mapping[str, int]]:
    """Returns the fields `DIMS`. ValueError for operands that need more loops than a kernel has."""
    # Operands that are not repeated are one loop.
    shapes: Shapes = node.attrs.shapes or (node.output.storage_shape, node.output.storage_shape)
    found = loops(shapes)
    if len(found) > MAX_LOOPS:
        raise ValueError(f"operands {list(shapes[0])} and {list(shapes[1])} need {len(found)} nested loops")
    padded = [Loop(1, 1, 1)] * (MAX_LOOPS - len(found)) + found
    names = ("input1_dims", "input2_dims", "output_dims")
    return {name: block_values.dims(*sizes) for name, sizes in zip(names, zip(*padded))}


def counts(shapes: Shapes, size: int = 1) -> Mapping[str, int]:
    """Returns what the kernels do for operands of these shapes: they give rows to a function for tensors of one shape,
    with as many copies of a repeated element or short row as there is room for. `size`: bytes of an element."""
    room = COPIES_BYTES // size
    padded = [Loop(1, 1, 1)] * (MAX_LOOPS - len(loops(shapes))) + loops(shapes)
    outer, count, rows = math.prod(loop.output for loop in padded[:2]), padded[3].output, padded[2].output
    repeated, unit = any(_repeated(padded[3])), 1
    if not repeated and rows > 1 and 2 * count <= room and any(_repeated(padded[2])):
        repeated, unit, count, rows = True, count, count * rows, 1
    most = min(count, room) // unit * unit if repeated else count
    return {
        "outer loops": outer,
        "rows": outer * rows,
        "calls": outer * rows * -(-count // most),
        "copies": outer * rows * (most // unit) if repeated and unit > 1 else 0,
        "bytes of copies": outer * rows * most if repeated else 0,
        "outputs": outer * rows * count,
    }


# Random cases ---------------------------------------------------------------


def draw_two(d: Case, element: Element = Element.INT8) -> tuple[Value, Value, Shapes]:
    """Two operands of one rank, of which at least one is repeated; sometimes one is a constant."""
    while True:
        rank = d.pick(2, 3, 3, 4, 4, 4, 5, 6)
        most = 6 if rank <= 4 else 3
        output = [d.pick(1, d.integer(1, most), d.integer(1, most)) for _ in range(rank)]
        # Rows longer than what a kernel repeats an element for at a time.
        output[d.integer(0, rank - 1)] = d.pick(d.integer(1, 6), d.integer(7, 40), d.integer(60, 140))
        kept = [d.pick((1, 1), (1, 1), (1, 0), (0, 1)) for _ in output]
        first, second = (tuple(n if keep[i] else 1 for n, keep in zip(output, kept)) for i in (0, 1))
        shapes = shapes_of(first, second, Layout.CHANNELS_LAST if rank == 4 else Layout.ROW_MAJOR)
        if shapes is not None and len(loops(shapes)) <= MAX_LOOPS and math.prod(output) <= 4000:
            break
    operands = [d.input(*shape, element=element) for shape in (first, second)]
    constant = d.pick(None, None, 0, 1)
    if constant is not None:
        of = d.inputs.pop(constant - 2)
        value = d.constant(of.shape, of.element, of.element.low, of.element.high, of.quant)
        value.retype(layout=of.layout)
        operands[constant] = value
    return operands[0], operands[1], shapes
