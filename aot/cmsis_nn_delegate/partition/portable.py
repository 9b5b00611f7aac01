"""Which operators ExecuTorch can run without the delegate.

Its portable and quantized kernels are listed in files of the executorch package. A program that calls
another operator cannot be loaded, unless the firmware links kernels of its own.
"""

from __future__ import annotations

import functools
import re
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from .exir import EdgeOpOverload, to_out_variant

_LISTS = ("portable/functions.yaml", "portable/custom_ops.yaml", "quantized/quantized.yaml")
# Built into the runtime itself, like the arithmetic of sizes.
_BUILT_IN = re.compile(r"executorch_prim::|aten::sym_|aten::_local_scalar_dense$")


@functools.cache
def kernels() -> frozenset[str]:
    """Returns names with overloads, such as "aten::add.out"; empty if the package does not list them."""
    folder = Path(sysconfig.get_path("purelib")) / "executorch" / "kernels"
    names = set()
    for path in (folder / name for name in _LISTS):
        text = path.read_text() if path.is_file() else ""
        for name in re.findall(r"^- (?:op|func): ([\w:]+(?:\.\w+)?)", text, re.MULTILINE):
            names.add(name if "::" in name else f"aten::{name}")
    return frozenset(names)


def without_kernel(names: Iterable[str]) -> list[str]:
    """Returns the operators among `names` that ExecuTorch has no kernel for, sorted."""
    known = kernels()
    return sorted({n for n in names if n not in known and not _BUILT_IN.match(n)}) if known else []


@functools.cache
def missing_kernel(target: Any) -> str:
    """Returns the kernel that ExecuTorch lacks for the target of an edge or ATen node; "" if it has one."""
    overload = target._op if isinstance(target, EdgeOpOverload) else target
    if not isinstance(overload, torch._ops.OpOverload):
        return ""
    try:
        schema = to_out_variant(overload)[0]._schema
        name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    except Exception:  # ExecuTorch asserts and raises for what it cannot convert, but finds pow.Tensor_Scalar_out later
        declared = overload._schema
        name = f"{declared.name}.{declared.overload_name}_out" if declared.overload_name else f"{declared.name}.out"
    return next(iter(without_kernel([name])), "")


def called(executorch_program: Any) -> list[str]:
    """Returns the operators that a lowered program calls, such as "aten::add.out"."""
    return [
        f"{operator.name}.{operator.overload}" if operator.overload else operator.name
        for plan in executorch_program.execution_plan
        for operator in plan.operators
    ]
