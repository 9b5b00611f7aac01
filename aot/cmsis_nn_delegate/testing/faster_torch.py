"""Makes PyTorch's exporting and lowering of small models faster, in tests that do it hundreds of times.

What it changes are private functions of PyTorch and torchao, in this process. A version without them takes
its own time.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Optional

import torch
from torch._export import utils
from torch._subclasses import FakeTensor, fake_impls
from torch.export import exported_program
from torch.fx import GraphModule, Interpreter
from torchao.quantization.pt2e import qat_utils

from ..partition.exir import EdgeOpOverload


def make_torch_faster() -> None:
    """Takes half off the time in which a small model is lowered; may be called again."""
    _enumerate_composite_operators_once()
    _override_operators_from_memory()
    _compute_shapes_once()
    _compile_graphs_when_called()
    _export_patterns_once()


def _enumerate_composite_operators_once() -> None:
    """Each decomposition of a program asks for PyTorch's composite operators once a namespace, 39 times, so
    that one registered meanwhile is seen, and then looks at all operators of each: a quarter of the time of
    lowering. Operators registered in C++ after the first lowering are not decomposed."""
    enumerate_ops = getattr(utils, "_materialize_cpp_cia_ops", None)
    if enumerate_ops is not None and not hasattr(enumerate_ops, "cache_info"):
        utils._materialize_cpp_cia_ops = functools.cache(enumerate_ops)
    collect = getattr(utils, "_collect_all_valid_cia_ops_for_namespace", None)
    if collect is not None and not hasattr(collect, "known"):
        known: dict[Hashable, set] = {}

        def collected(namespace):
            key = namespace, tuple(namespace)
            if key not in known:
                known[key] = collect(namespace)
            return known[key]

        collected.known = known
        utils._collect_all_valid_cia_ops_for_namespace = collected


def _override_operators_from_memory() -> None:
    """Each decomposition defines 12,000 functions, 20 for each of 500 operators, and registers them one by
    one: a third of the time of lowering. They are the same ones as long as an operator's table is."""
    override = getattr(exported_program, "_override_composite_implicit_decomp", None)
    fakes = getattr(fake_impls, "op_implementations_dict", None)
    if override is None or fakes is None or hasattr(override, "known"):
        return
    known: dict[Hashable, tuple[dict, Optional[Callable]]] = {}

    @contextlib.contextmanager
    def overridden(functions: Mapping[Any, Callable]) -> Iterator[None]:
        keys = {op: _override_key(op, fn, op in fakes) for op, fn in functions.items()}
        new = [op for op, key in keys.items() if key not in known]
        saved = {op: dict(op.py_kernels) for op in functions if keys[op] in known}
        with override({op: functions[op] for op in new}):
            for op in new:
                registered_here = not keys[op][2]
                known[keys[op]] = dict(op.py_kernels), fakes[op] if registered_here else None
            for op in saved:
                kernels, fake = known[keys[op]]
                _set_kernels(op, kernels)
                if fake is not None:
                    fakes[op] = fake
            try:
                yield
            finally:
                for op, kernels in saved.items():
                    _set_kernels(op, kernels)
                    fakes.pop(op, None)

    overridden.known = known
    exported_program._override_composite_implicit_decomp = overridden


def _override_key(op: Any, function: Callable, has_fake: bool) -> Hashable:
    """What the table of an overridden operator depends on."""
    kernels = [_same_function(kernel) for kernel in op.py_kernels.values()]
    return op, _same_function(function), has_fake, *op.py_kernels, *kernels


def _same_function(function: Any) -> Hashable:
    """Equal for functions that do the same: a decomposition is a partial of a function that is defined anew
    for each program."""
    if not isinstance(function, functools.partial) or function.func.__closure__ is not None:
        return function
    return function.func.__code__, function.args, tuple(function.keywords.items())


def _set_kernels(op: Any, kernels: Mapping) -> None:
    op.py_kernels.clear()
    op.py_kernels.update(kernels)
    op._dispatch_cache.clear()


def _compute_shapes_once() -> None:
    """Each of ExecuTorch's passes calls all operators again, for the shapes and types of their results: a sixth of the
    time of lowering. Most get the very tensors that they got in the pass before."""
    from executorch.exir.pass_base import _ExportPassBase  # after partition.exir, which imports ExecuTorch quickly

    if hasattr(_ExportPassBase, "interpreter"):
        return

    class Remembering(Interpreter):
        """Calls an operator with the same tensors without data once."""

        def __init__(self, module: GraphModule) -> None:
            super().__init__(module)
            self._returned: set[Hashable] = set()  # nodes of one graph must not share their results

        def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
            op = target._op if isinstance(target, EdgeOpOverload) else target
            mode = next((x.fake_mode for x in args if isinstance(x, FakeTensor)), None)
            key = (op, _identity(args), _identity(tuple(kwargs.items())))
            mutable = not isinstance(op, torch._ops.OpOverload) or op._schema.is_mutable
            if mode is None or mutable or None in key or key in self._returned:
                return super().call_function(target, args, kwargs)
            self._returned.add(key)
            known = vars(mode).setdefault("known_results", {})
            if key not in known:
                # With its arguments, so that their identities stay theirs.
                known[key] = super().call_function(target, args, kwargs), args, kwargs
            return known[key][0]

    def interpret(self: Any, interpreter: Interpreter) -> None:
        vars(self)["interpreter"] = Remembering(interpreter.module) if type(interpreter) is Interpreter else interpreter

    _ExportPassBase.interpreter = property(lambda self: vars(self)["interpreter"], interpret)


def _identity(value: Any) -> Optional[Hashable]:
    """Equal for arguments of which an operator makes the same shape; None if that cannot be told."""
    if isinstance(value, FakeTensor):
        return FakeTensor, id(value)
    if isinstance(value, (tuple, list)):
        items = tuple(map(_identity, value))
        return None if None in items else items
    known = bool, int, float, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format
    return (type(value), value) if type(value) in known else None


def _compile_graphs_when_called() -> None:
    """Each pass ends with the Python code of its graph, which is compiled: a seventh of the time of lowering. Most
    graphs are never called."""
    if hasattr(GraphModule.recompile, "now"):
        return
    compile_now, reduce, string = GraphModule.recompile, GraphModule.__reduce__, GraphModule.__str__

    class Forward:
        """Stands for `forward` of the class of one module, until that is looked at."""

        def __init__(self, module: GraphModule) -> None:
            self._module = weakref.ref(module)

        def __get__(self, instance: Optional[GraphModule], owner: type) -> Callable:
            compile_now(instance if instance is not None else self._module())
            return (owner if instance is None else instance).forward

    class Code:
        """What `recompile` returns."""

        def __init__(self, module: GraphModule) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Any:
            return getattr(compile_now(self._module), name)

    def recompile(self: GraphModule) -> Any:
        info = getattr(self._graph._codegen, "pytree_info", None)
        if info is not None:
            self._in_spec, self._out_spec = info.in_spec, info.out_spec
        type(self).forward = Forward(self)
        self._recompile_submodules()
        return Code(self)

    def code(self: GraphModule) -> str:
        compiled(self)
        return self._code

    def compiled(self: GraphModule) -> GraphModule:
        if isinstance(vars(type(self)).get("forward"), Forward) or "_code" not in vars(self):
            compile_now(self)
        return self

    recompile.now = compile_now
    GraphModule.recompile = recompile
    GraphModule.code = property(code)
    GraphModule.__reduce__ = lambda self: reduce(compiled(self))
    GraphModule.__str__ = lambda self: string(compiled(self))


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
