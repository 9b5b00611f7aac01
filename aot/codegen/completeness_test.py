"""Every operator declares, and has, all that an operator needs; what is missing is named."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cmsis_nn_delegate.format.blocks import input, output
from cmsis_nn_delegate.format.cpp import camel
from cmsis_nn_delegate.format.element import KERNEL_ELEMENTS
from cmsis_nn_delegate.format.record import I8, Role, Struct
from cmsis_nn_delegate.ops.annotation import LookUp, NotAnnotated
from cmsis_nn_delegate.ops.kernel import KernelSpec
from cmsis_nn_delegate.ops.op import Op
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.providers.cmsis_nn.lacking import WHY_LACKING
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE, TUNED, operator_of, own_implementations
from cmsis_nn_delegate.testing.random_case import RandomCase
from codegen import format_gaps

ROOT = Path(__file__).resolve().parents[2]
DRAWN = 40  # random cases, among which each kernel of an operator has to be


def missing(op: Op) -> Iterator[str]:
    """What `op` lacks."""
    annotation = getattr(op, "annotation", None)
    if annotation is None:
        yield "annotation: what the quantizer does with it"
    elif isinstance(annotation, NotAnnotated) and not annotation.why:
        yield "why the quantizer leaves it alone"
    if op.attrs is not None and not dataclasses.is_dataclass(op.attrs):
        yield "attrs: a dataclass"
    if op.targets:
        yield from (f"{name}()" for name in ("check", "build") if _inherited(op, name))
        if not op.limits:
            yield "limits: what is delegated, for the docs"
        if f"\n| {op.name} | " not in (ROOT / "docs/operators.md").read_text(encoding="utf-8"):
            yield "a row of docs/operators.md"
    yield from (
        f"a kernel for {number}, or a reason in aot/codegen/format_gaps.py" for number in format_gaps.missing(op)
    )
    if op.kernels:
        yield from _missing_with_kernels(op)


def _missing_with_kernels(op: Op) -> Iterator[str]:
    if _inherited(op, "reference") and _inherited(op, "compute"):
        yield "reference()"
    if _inherited(op, "encode"):
        yield "encode()"
    for kernel in op.kernels:
        portable = ROOT / PORTABLE.file_of(op.name, kernel.name)
        if not portable.exists():
            yield f"the portable kernel {portable.name}"
        elif _function(kernel.name) not in portable.read_text(encoding="utf-8"):
            yield f"the function run_{kernel.name}() in the portable kernel {portable.name}"
        symbol = CMSIS_NN.symbol(kernel)
        if symbol is None and kernel.name not in WHY_LACKING:
            yield f"why there is no kernel {kernel.name} of CMSIS-NN"
        functions = {kernel.name: symbol.computes, **{f.name: f.computes for f in symbol.functions}} if symbol else {}
        for name, function in functions.items():
            source = ROOT / CMSIS_NN.file_of(op.name, name)
            if not source.exists():
                yield f"CMSIS-NN's kernel {source.name}"
            elif not re.search(rf"\b{function}\b[(,>]", source.read_text(encoding="utf-8")):
                yield f"a call of {function} in CMSIS-NN's kernel {source.name}"
    taken = {e for kernel in op.kernels for e in kernel.elements.values()}
    if op.targets and op.elements is not None and not taken >= set(op.elements):
        yield f"kernels for {', '.join(element.value for element in op.elements)}, its `elements`"
    if not op.draws:
        yield "draws: random cases"
    elif not _inherited(op, "encode"):
        drawn = {op.kernel_of(_draw(op, seed)).name for seed in range(DRAWN)}
        yield from (f"a random case of {kernel.name}" for kernel in op.kernels if kernel.name not in drawn)
    if f'"{op.name}",' not in (ROOT / "tests/conformance/operators.bzl").read_text(encoding="utf-8"):
        yield "a conformance test"


def _function(name: str) -> str:
    """How the definition of a kernel's function begins."""
    return f"\nError run_{name}(const void* args, const Bases& bases) {{\n"


def _inherited(op: Op, method: str) -> bool:
    return getattr(type(op), method) is getattr(Op, method)


def _draw(op: Op, seed: int):
    case = RandomCase(seed)
    op.draws[seed % len(op.draws)](case)
    return next(node for node in case.nodes if node.op == op.name)  # others make inputs and outputs


@pytest.mark.parametrize("name", OPS)
def test_is_complete(name):
    assert list(missing(OPS[name])) == []


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.kernels])
def test_random_cases_are_of_the_operator_and_have_its_shape(name):
    op = OPS[name]
    for seed in range(DRAWN):
        node = _draw(op, seed)
        assert node.op == name
        assert all(value.shape == tuple(op.output_shape(node.inputs, node.attrs)) for value in node.outputs[:1])


def test_what_is_missing_is_named():
    class Nothing(Op):
        name = "nothing"
        targets = ("aten.nothing.default",)
        attrs = int
        kernels = (
            KernelSpec(
                "nothing",
                Struct("NothingArgs", "", (input("input", I8, "input", doc=""), output(I8, "input", doc=""))),
            ),
        )

    assert list(missing(Nothing())) == [
        "annotation: what the quantizer does with it",
        "attrs: a dataclass",
        "check()",
        "build()",
        "limits: what is delegated, for the docs",
        "a row of docs/operators.md",
        "a kernel for int16, or a reason in aot/codegen/format_gaps.py",
        "a kernel for float32, or a reason in aot/codegen/format_gaps.py",
        "reference()",
        "encode()",
        "the portable kernel nothing_portable.cc",
        "why there is no kernel nothing of CMSIS-NN",
        "draws: random cases",
        "a conformance test",
    ]


def test_weights_of_four_bits_that_no_kernel_takes_are_named():
    known = OPS["fully_connected"]

    class Wide(type(known)):
        name = "wide"
        kernels = tuple(kernel for kernel in known.kernels if "int4" not in kernel.name)

    assert list(format_gaps.missing(Wide())) == ["int8 x int4", "int16 x int4", "float32"]


def test_reasons_for_formats_without_kernels_are_of_such():
    assert list(format_gaps.wrong()) == []


def test_reasons_for_functions_that_cmsis_nn_lacks_are_of_kernels_that_it_lacks():
    kernels = {kernel.name: kernel for op in OPS.values() for kernel in op.kernels}
    assert all(CMSIS_NN.symbol(kernels[name]) is None for name in WHY_LACKING)


def test_parts_of_tuned_kernels_have_a_file_each():
    parts = [(own.kernel, function) for own in own_implementations() for function in own.symbol.functions]
    assert parts
    for kernel, function in parts:
        source = (ROOT / TUNED.file_of(operator_of(kernel), function.name)).read_text(encoding="utf-8")
        assert _function(function.name) in source
        assert f"KernelOf<payload::Opcode::k{camel(kernel.name)}> k{camel(function.name)} =" in source


def test_a_kernel_that_no_case_reaches_is_named():
    known = OPS["fully_connected"]

    class Half(type(known)):
        draws = (lambda d: d.fully_connected(d.input(1, 8), 20),)

    assert list(missing(Half())) == [
        "a random case of fully_connected_per_tensor",
        "a random case of fully_connected_int16",
        "a random case of fully_connected_int4",
        "a random case of fully_connected_int4_int16",
    ]


def test_what_the_edge_program_may_quantize_to_is_what_kernels_take():
    taken = {
        element
        for op in OPS.values()
        for kernel in op.kernels
        for role in (
            *([] if isinstance(op.annotation, LookUp) else [Role.INPUT]),
            *([] if op.gives_index else [Role.OUTPUT]),
        )
        for name, element in kernel.elements.items()
        if name in kernel.args.names_of(role) and element.is_integer
    }
    assert taken == set(KERNEL_ELEMENTS)


def test_no_two_kernels_of_an_operator_have_one_key():
    for op in OPS.values():
        keys = [(kernel.variant, tuple(kernel.elements.items())) for kernel in op.kernels]
        assert len(set(keys)) == len(keys), op.name
