"""Imports in the compiler go only from a part to earlier parts, and never in a circle."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / "aot" / "cmsis_nn_delegate"

# Folders, and the modules beside them, in the order in which they may import each other.
LAYERS = (
    "",  # __init__.py
    "support",
    # The format, which imports only the standard library because firmware builds use it.
    "format",
    "targets",
    "debugger",
    "serial_line",
    "graph",
    "edge",
    "ops",
    "providers",
    "reference",
    "passes",
    "planner",
    "selection",
    "payload",
    "emit",
    "files",
    "report",
    "report.page",
    "quantization",
    "quantization.comparison",
    "frontend",
    "streaming",
    "partition",
    "compiled",
    "runner",
    "compile_options",
    "pipeline_text",
    "pipeline",
    "compile",
    "precision",
    "accuracy",
    "search",
    "cli",
    "__main__",
    "testing",
)

# Imports inside of functions, and for type checkers: each with the reason why it is not at the top of the file.
LAZY = {
    ("__main__", "cli"): "Ctrl-C while it is imported ends like any other",
    ("edge.program_types", "edge.context"): "operators are imported without PyTorch, which takes three seconds",
    ("edge.program_types", "edge.import_context"): "as above",
}

# Modules that import others by a name that they compute: names of the package when they are used, what the command
# line needs for the chosen command, models of users, all operators, and what stands for ExecuTorch.
BY_NAME = {"", "frontend", "cli.late_import", "cli.model_source", "ops.registry", "partition.exir"}
# Those of the command line: the modules of a command, what compiles a model, and the page of a report.
LATE = {
    "cli.accuracy_command",
    "cli.command_line",
    "cli.compile_command",
    "cli.explore_command",
    "cli.model",
    "cli.report_command",
}


class Import(NamedTuple):
    module: str  # as in LAYERS
    imported: str
    lazy: bool


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> dict[str, Path]:
    return {name_of(path): path for path in sorted(PACKAGE.rglob("*.py")) if not path.stem.endswith("_test")}


def imports() -> Iterator[Import]:
    """Returns the imports between all modules of the package except tests."""
    known = modules()
    for name, path in known.items():
        parts = name.split(".") if name else []
        package = parts if path.name == "__init__.py" else parts[:-1]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom):
                continue
            if node.level:
                base = package[: len(package) - node.level + 1]
            elif (node.module or "").split(".")[0] == PACKAGE.name:
                base = []
            else:
                continue
            inner = (node.module or "").split(".") if node.module else []
            base = base + (inner if node.level else inner[1:])
            for alias in node.names:
                full = ".".join([*base, alias.name])
                yield Import(name, full if full in known else ".".join(base), node.col_offset > 0)


def layer(module: str) -> int:
    """Returns the index of the longest name in LAYERS that is `module` or contains it."""
    names = [name for name in LAYERS if module == name or (name and module.startswith(name + "."))]
    assert names, f"{module} is in no layer: add it to LAYERS"
    return LAYERS.index(max(names, key=len))


def test_imports_point_down():
    found = list(imports())
    assert len(found) > 300
    wrong = [f"{name} imports {imported}" for name, imported, _ in found if layer(imported) > layer(name)]
    assert not wrong


def test_no_import_circle():
    """Not by imports inside of functions either."""
    graph: dict[str, set[str]] = {}
    for name, imported, _ in imports():
        if name != imported:
            graph.setdefault(name, set()).add(imported)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        raise AssertionError(f"imports in a circle: {' -> '.join(error.args[1])}") from None


def test_imports_inside_of_functions_are_listed():
    assert {(name, imported) for name, imported, lazy in imports() if lazy} == LAZY.keys()


def test_few_modules_import_by_name():
    found = {name for name, path in modules().items() if "import_module(" in path.read_text(encoding="utf-8")}
    assert found == BY_NAME
    assert {name for name, imported, _ in imports() if imported == "cli.late_import"} == LATE
