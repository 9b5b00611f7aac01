"""Decomposes an exported program into the operators that the delegate and other backends know.

ExecuTorch does this, too, but it does not know yet what the delegate takes whole, and runs the program three times to
find out. `decompose` runs it once, in place of ExecuTorch's first run, and keeps everything in `KEPT` whole. Most
programs have no operator in `KEPT` that the delegate takes in one place and refuses in another; then nothing is left
for ExecuTorch to decompose but what the delegate refuses.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import torch
from torch.export import ExportedProgram

from ..edge import (
    camera_ops,  # noqa: F401  these define operators of `torch.ops`
    condition_ops,  # noqa: F401
    ctc_ops,  # noqa: F401
    detection_ops,  # noqa: F401
    leaky_ops,  # noqa: F401
    recurrent_ops,  # noqa: F401
    selection_ops,  # noqa: F401
    sound_ops,  # noqa: F401
)
from ..edge.functions import forget_before
from ..edge.kept_whole import kept_whole
from ..ops.registry import OPS
from .exir import contains_any_call_fn_target_op, default_decomposition_table
from .listed_once import listed_once


def _overload(name: str) -> Any:
    """Returns aten.silu.default for "aten.silu.default"."""
    return operator.attrgetter(name)(torch.ops)


def _kept() -> tuple[Any, ...]:
    """Returns what `Op.whole` names, without the core of ATen, unless the table or PyTorch itself decomposes it."""
    table = default_decomposition_table()
    whole = [_overload(name) for op in OPS.values() for name in op.whole]
    return tuple(op for op in whole if torch.Tag.core not in op.tags or op._can_decompose() or op in table)


# Operators that are decomposed by default but have one kernel each.
KEPT = _kept()


class _Functional(ExportedProgram):
    """A program that is decomposed already. ExecuTorch makes every program functional first, which it asks for with an
    empty table; running this one again would take a sixth of the time of lowering and change nothing."""

    def run_decompositions(self, decomp_table: Any = None, *args: Any, **kwargs: Any) -> ExportedProgram:
        if decomp_table is not None and not decomp_table:
            return self
        again: ExportedProgram = super().run_decompositions(decomp_table, *args, **kwargs)
        return again


def decompose(program: ExportedProgram) -> ExportedProgram:
    """Returns a copy of `program` in which everything is decomposed but the operators in `KEPT`."""
    with kept_whole(), listed_once():
        copy: ExportedProgram = program.run_decompositions(_table())
    forget_before(program.graph, copy.graph)
    copy.__class__ = _Functional
    return copy


def decomposed(program: ExportedProgram) -> bool:
    """Returns whether only operators in `KEPT` are left to decompose."""
    return not contains_any_call_fn_target_op(program.graph_module, _decomposable())


@functools.cache
def _decomposable() -> frozenset[Any]:
    """Returns the keys of the table. To list them takes a tenth of the time of lowering a small model."""
    with listed_once():
        return frozenset(_table())


def _table() -> dict[Any, Any]:
    table: dict[Any, Any] = default_decomposition_table()
    for op in KEPT:
        table.pop(op, None)
    return table
