"""Loads models from Python files: `FILE.py:FUNCTION`.

The function takes no arguments and returns a torch.nn.Module, or (module, example_inputs), or a
torch.export.ExportedProgram. A file inside a package is imported as a module of that package, so that
relative imports work.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..support.errors import UserError, closest, require_file, users_code


@dataclass(frozen=True)
class LoadedModel:
    """The result of the function. `example_inputs` is None if the function returned none."""

    name: str
    module: Any  # torch.nn.Module or torch.export.ExportedProgram
    example_inputs: Any  # a tuple, list or dict


def load_model(source: str) -> LoadedModel:
    """Imports the file and calls the function. UserError says what went wrong."""
    import torch

    path_text, separator, function_name = source.rpartition(":")
    if not separator or not path_text.endswith(".py"):
        raise UserError(f"{source!r} does not name a model; write FILE.py:FUNCTION")
    path = Path(path_text)
    require_file(path, "model file ")
    function = getattr(_import(path), function_name, None)
    if not callable(function):
        functions = _functions(sys.modules[_module_name(path)[0]])
        raise UserError(f"{path} has no function {function_name!r}; {closest(function_name, functions)}")
    with users_code(f"{source} failed"):
        result = function()
    module, example_inputs = result, None
    if isinstance(result, tuple) and len(result) == 2:
        module, example_inputs = result
    if isinstance(module, torch.export.ExportedProgram) and module is result and module.example_inputs:
        args, kwargs = module.example_inputs
        return LoadedModel(function_name, module, (*args, *kwargs.values()))
    if not isinstance(module, (torch.nn.Module, torch.export.ExportedProgram)):
        raise UserError(
            f"{source} returned {type(result).__name__}; return a torch.nn.Module, or (module, example_inputs)"
        )
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    return LoadedModel(function_name, module, example_inputs)


def _module_name(path: Path) -> tuple[str, Path]:
    """Returns the dotted name of the module in `path`, and the folder that must be importable."""
    path = path.resolve()
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def _import(path: Path) -> ModuleType:
    name, folder = _module_name(path)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path.resolve()):
        return loaded
    try:
        with users_code(f"{path} cannot be imported"):
            if "." in name:
                return importlib.import_module(name)
            # Imported by file, not by name, so that an installed module of the same name does not win.
            spec = importlib.util.spec_from_file_location(name, path.resolve())
            if spec is None or spec.loader is None:
                raise ImportError("not a Python file")
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
            return module
    except BaseException:
        sys.modules.pop(name, None)
        raise


def _functions(module: ModuleType) -> list[str]:
    return sorted(
        name
        for name, item in vars(module).items()
        if not name.startswith("_") and inspect.isfunction(item) and item.__module__ == module.__name__
    )
