"""What depends on the type of elements asks `Element`: few modules of the compiler name one that kernels compute with,
or have its numbers as their own. Each of the others would have to be changed for every further type.

Operators and providers say which types their kernels take, so `ops` and `providers` are not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "aot" / "cmsis_nn_delegate"

# With what they need it for.
KNOWN = {
    "cli/printable.py": "means a character",
    "format/element.py": "defines the types",
    "format/opcodes.py": "numbers kernels, of which one is 127",
    "format/record.py": "names the scalars of records, which are the types of elements, too",
    "format/blocks.py": "says what blocks have that name no type: those of CMSIS-NN's functions for s8",
    "quantization/samples.py": "reads booleans, which are bytes of 0 and 1",
    "quantization/specs.py": "says what activations and weights become",
    "quantization/truth_values.py": "computes with booleans, which are bytes of 0 and 1",
    "runner/host.py": "gives booleans, which are bytes of 0 and 1",
}


def numbers_and_names(tree: ast.Module) -> Iterator[ast.AST]:
    """Yields what names int8, or is -128 or 127, in code: not in documentation or messages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("INT8", "int8", "I8"):
            yield node
        elif isinstance(node, ast.Constant) and node.value in ("int8", "INT8", 127):
            yield node
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant) and node.operand.value == 128:
                yield node
        elif isinstance(node, ast.ImportFrom) and any(name.name == "I8" for name in node.names):
            yield node


def test_few_modules_name_the_type_of_activations():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.endswith("_test.py") and not name.startswith(("ops/", "providers/", "testing/")):
            lines = [node.lineno for node in numbers_and_names(ast.parse(path.read_text(encoding="utf-8")))]
            found |= {name: lines} if lines else {}
    assert len(found) > 1
    new = {name: lines for name, lines in found.items() if name not in KNOWN}
    assert not new, f"ask Element, or say why not in KNOWN: {new}"
    assert not set(KNOWN) - set(found), "these no longer name a type: take them out of KNOWN"
