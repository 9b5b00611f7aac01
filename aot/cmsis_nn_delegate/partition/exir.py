"""What we use of ExecuTorch's compiler. It is imported here, and nowhere else, because that takes seconds, of which
`_quickly` avoids many."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import sys
import types
from collections.abc import Iterator
from typing import Any

import ruamel.yaml
import torch
import yaml

_PASSES = "torch._inductor.fx_passes.post_grad"


class _Reader:
    """Reads ExecuTorch's table of operators with libyaml: ruamel takes ten times as long where it is pure Python."""

    def __init__(self, **options: Any) -> None:
        self._else = _RuamelReader(**options)

    def load(self, text: Any) -> Any:
        """Returns the content of a YAML document."""
        if isinstance(text, str) and hasattr(yaml, "CSafeLoader"):
            with contextlib.suppress(yaml.YAMLError):
                return yaml.load(text, Loader=yaml.CSafeLoader)
        return self._else.load(text)


_RuamelReader = ruamel.yaml.YAML


def _decompose_auto_functionalized(graph: torch.fx.Graph) -> None:
    """Does what the function of PyTorch's inductor does that ExecuTorch calls for each program, and imports inductor,
    which takes a second, only if the graph has what it decomposes or removes."""
    delegate = torch.ops.higher_order.executorch_call_delegate
    for node in graph.nodes:
        is_call = isinstance(node.target, torch._ops.HigherOrderOperator) and node.target is not delegate
        if is_call or node.op == "get_attr" and not node.users:
            from torch._inductor.fx_passes.post_grad import decompose_auto_functionalized

            decompose_auto_functionalized(graph)  # type: ignore[no-untyped-call]  # of PyTorch
            return


class _Later(types.ModuleType):
    """Stands for a module that is only named while others are imported, in annotations, and is imported when it is
    used."""

    imported_now = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = importlib.machinery.ModuleSpec(name, None)  # of a module that exists

    def __getattr__(self, name: str) -> Any:
        if self.imported_now and name.startswith("__"):
            raise AttributeError(name)
        return Any if self.imported_now else getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def _quickly() -> Iterator[None]:
    """Lets ExecuTorch be imported without inductor and networkx, which PyTorch uses for training, and without searching
    for garbage among a million new objects."""
    passes, networkx = types.ModuleType(_PASSES), _Later("networkx")
    vars(passes)["decompose_auto_functionalized"] = _decompose_auto_functionalized
    vars(ruamel.yaml)["YAML"] = _Reader
    stand_ins = [module for module in (passes, networkx) if sys.modules.setdefault(module.__name__, module) is module]
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        for module in stand_ins:
            del sys.modules[module.__name__]
        networkx.imported_now = False
        vars(ruamel.yaml)["YAML"] = _RuamelReader


with _quickly():
    import executorch.kernels.quantized  # noqa: F401  quantize and dequantize that stay outside
    from executorch.exir import (
        EdgeCompileConfig,
        EdgeProgramManager,
        ExecutorchProgramManager,
        to_edge_transform_and_lower,
    )
    from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
    from executorch.exir.backend.compile_spec_schema import CompileSpec
    from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
    from executorch.exir.backend.utils import tag_constant_data
    from executorch.exir.dialects.edge._ops import EdgeOpOverload
    from executorch.exir.graph_module import contains_any_call_fn_target_op
    from executorch.exir.lowered_backend_module import LoweredBackendModule
    from executorch.exir.operator.convert import to_out_variant
    from executorch.exir.tracer import _default_decomposition_table
    from torch._functorch import aot_autograd  # noqa: F401  torch.export imports it when it is called

# The table that `to_edge_transform_and_lower` decomposes by.
default_decomposition_table = _default_decomposition_table

__all__ = [
    "BackendDetails",
    "CompileSpec",
    "DelegationSpec",
    "EdgeCompileConfig",
    "EdgeOpOverload",
    "EdgeProgramManager",
    "ExecutorchProgramManager",
    "LoweredBackendModule",
    "PartitionResult",
    "Partitioner",
    "PreprocessResult",
    "contains_any_call_fn_target_op",
    "default_decomposition_table",
    "tag_constant_data",
    "to_edge_transform_and_lower",
    "to_out_variant",
]
