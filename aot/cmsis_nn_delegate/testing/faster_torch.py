"""Makes PyTorch's exporting and lowering of small models faster, in tests that do it hundreds of times.

What it changes are private functions of PyTorch, in this process; a version without them takes its own time.
Compilations by `cmsisnn`, such as those of `delegate_model` in the demo and the examples, run without it.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Optional

from torch._subclasses import fake_impls
from torch.export import exported_program
from torch.fx import GraphModule


def make_torch_faster() -> None:
    """Takes a third off the time in which a small model is lowered; may be called again."""
    _override_operators_from_memory()
    _compile_graphs_when_called()


def _override_operators_from_memory() -> None:
    """Each decomposition defines 12,000 functions, 20 for each of 500 operators, and registers them one by
    one: an eighth of the time of lowering. They are the same ones as long as an operator's table is."""
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


def _compile_graphs_when_called() -> None:
    """Each pass ends with the Python code of its graph, which is compiled: a sixth of the time of lowering. Most
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
