"""Makes PyTorch's exporting and lowering of small models faster, in tests that do it hundreds of times.

What it changes are private functions of PyTorch and torchao, in this process. A version without them takes
its own time.
"""

from __future__ import annotations

import copy
import functools
import inspect
from typing import Any, Callable, Hashable, Optional

import torch
from torch._export import utils
from torchao.quantization.pt2e import qat_utils


def make_torch_faster() -> None:
    """Takes a quarter off the time in which a small model is lowered; may be called again."""
    _enumerate_composite_operators_once()
    _annotate_nothing()
    _export_patterns_once()


def _enumerate_composite_operators_once() -> None:
    """Each decomposition of a program asks for PyTorch's composite operators once a namespace, 39 times, so
    that one registered meanwhile is seen: a quarter of the time of lowering. Operators registered in
    C++ after the first lowering are not decomposed."""
    enumerate_ops = getattr(utils, "_materialize_cpp_cia_ops", None)
    if enumerate_ops is not None and not hasattr(enumerate_ops, "cache_info"):
        utils._materialize_cpp_cia_ops = functools.cache(enumerate_ops)


class _AnyCallable(type):
    """Of `_Callable`: what collections.abc.Callable is in annotations and isinstance()."""

    def __getitem__(cls, item: Any) -> type:
        return cls

    def __instancecheck__(cls, value: Any) -> bool:
        return callable(value)


class _Callable(metaclass=_AnyCallable):
    pass


def _annotate_nothing() -> None:
    """Each decomposition defines 12,000 functions annotated with Callable[P, T]: to make these types takes
    longer than all else that it does with them."""
    if hasattr(torch._ops, "Callable"):
        torch._ops.Callable = _Callable


def _export_patterns_once() -> None:
    """convert_pt2e exports 96 patterns for each model in which a batch norm is left, prepare_qat_pt2e a dozen
    for each model: the same ones every time, 20 seconds."""
    export = getattr(qat_utils, "_get_aten_graph_module_for_pattern", None)
    if export is None or hasattr(export, "known"):
        return
    known: dict[Hashable, torch.fx.GraphModule] = {}

    @functools.wraps(export)
    def exported(pattern, example_inputs, is_cuda=False, **kwargs):
        key = _key(pattern, example_inputs, is_cuda, kwargs)
        if key is None:
            return export(pattern, example_inputs, is_cuda, **kwargs)
        if key not in known:
            known[key] = export(pattern, example_inputs, is_cuda, **kwargs)
        return copy.deepcopy(known[key])

    exported.known = known
    qat_utils._get_aten_graph_module_for_pattern = exported


def _key(pattern: Callable, inputs: tuple, is_cuda: bool, kwargs: dict) -> Optional[Hashable]:
    """What the exported pattern depends on; None if that cannot be told."""
    function = inspect.getattr_static(pattern, "fn", pattern)
    if not inspect.isfunction(function):
        return None
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    values = (*inputs, *kwargs.values())
    if not all(isinstance(cell, (bool, int, float, str)) or callable(cell) for cell in cells):
        return None
    if not all(isinstance(value, torch.Tensor) for value in values):
        return None
    tensors = tuple((tuple(value.shape), value.dtype) for value in values)
    return function.__code__, cells, tuple(kwargs), tensors, is_cuda
