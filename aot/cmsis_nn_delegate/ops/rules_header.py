"""Generates runtime/kernels/cmsis_nn/rules.h from `cmsis_nn_rules`.

    python -m cmsis_nn_delegate.ops.rules_header OUTPUT

Knows as much of Python as the rules use: constants, and functions of integers and booleans made of
assignments and a return; anything else is an error.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap

from . import cmsis_nn_rules

_BANNER = """\
// Generated from aot/cmsis_nn_delegate/ops/cmsis_nn_rules.py. Do not edit.
//
// What CMSIS-NN's kernels take for granted and do not check. All numbers are those of a call
// that passed every other check.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate {
namespace cmsis_nn {
namespace rules {
"""
_END = """
}  // namespace rules
}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
"""
_WIDTH = 100
_TYPES = {"int": "std::int32_t", "bool": "bool"}
# By how tightly they bind, in both languages.
_BINARY = {ast.Add: ("+", 5), ast.Sub: ("-", 5), ast.Mult: ("*", 6), ast.Mod: ("%", 6)}
_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_BOOLEAN = {ast.And: ("&&", 2), ast.Or: ("||", 1)}


def generate(source: str | None = None) -> str:
    """The text of the header, of the rules or of other `source`."""
    module = ast.parse(source if source is not None else inspect.getsource(cmsis_nn_rules))
    text = _BANNER
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef):
            text += "\n" + _function(statement)
        elif isinstance(statement, ast.Assign):
            (target,) = statement.targets
            text += f"\ninline constexpr std::int32_t {_constant(target.id)} = {_expression(statement.value)};\n"
        elif not isinstance(statement, (ast.Expr, ast.ImportFrom)):
            raise _unknown(statement)
    return text + _END


def _function(function: ast.FunctionDef) -> str:
    arguments = [f"{_TYPES[arg.annotation.id]} {arg.arg}" for arg in function.args.args]
    head = f"constexpr {_TYPES[function.returns.id]} {function.name}("
    lines = _comment(ast.get_docstring(function))
    lines += _wrap(head, [*(a + "," for a in arguments[:-1]), arguments[-1] + ") {"], "")
    for statement in function.body[1:]:
        if isinstance(statement, ast.Assign):
            (target,) = statement.targets
            start = f"const auto {target.id} = "
        elif isinstance(statement, ast.Return):
            start = "return "
        else:
            raise _unknown(statement)
        lines += _wrap(start, _parts(f"{_expression(statement.value)};", _WIDTH - 2 - len(start)), "  ")
    return "\n".join([*lines, "}"]) + "\n"


def _wrap(start: str, parts: list[str], indent: str) -> list[str]:
    """`start` and `parts`, spaces between these, in lines that continue behind the bracket that is
    open there, else behind `start`."""
    lines = [indent + start + parts[0]]
    brackets = [len(indent + start)]  # columns at which lines continue
    for part, following in zip(parts, parts[1:]):
        line = lines[-1]
        for column in range(len(line) - len(part), len(line)):
            if line[column] == "(":
                brackets.append(column + 1)
            elif line[column] == ")" and len(brackets) > 1:
                brackets.pop()
        if len(line) + 1 + len(following) <= _WIDTH:
            lines[-1] += " " + following
        else:
            lines.append(" " * brackets[-1] + following)
    return lines


def _parts(text: str, width: int) -> list[str]:
    """`text` in parts of at most `width`, if need be: cut behind && and || and commas, in as few
    brackets as possible."""
    if len(text) <= width:
        return [text]
    cuts = list(re.finditer(r"(?:&&|\|\||,) ", text))
    if not cuts:
        return [text]
    depths = [text[: cut.end()].count("(") - text[: cut.end()].count(")") for cut in cuts]
    ends = [cut.end() for cut, depth in zip(cuts, depths) if depth == min(depths)]
    parts = [text[start:end].rstrip() for start, end in zip([0, *ends], [*ends, None])]
    return [piece for part in parts for piece in _parts(part, width)]


def _comment(docstring: str) -> list[str]:
    lines = []
    for index, paragraph in enumerate(docstring.split("\n\n")):
        if index:
            lines.append("///")
        lines += textwrap.wrap(" ".join(paragraph.split()), _WIDTH, initial_indent="/// ", subsequent_indent="/// ")
    return lines


def _expression(node: ast.expr, outer: int = 0) -> str:
    """`node` in C++, in brackets if it binds less tightly than `outer`."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return str(node.value)
    if isinstance(node, ast.Name):
        return _constant(node.id) if node.id.isupper() else node.id
    if isinstance(node, ast.Call):
        return f"{node.func.id}({', '.join(_expression(argument) for argument in node.args)})"
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        sign, level = _BINARY[type(node.op)]
        # One that is as tight at the right needs brackets: a - (b - c).
        text = f"{_expression(node.left, level)} {sign} {_expression(node.right, level + 1)}"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        level = 3
        sign = _COMPARISONS[type(node.ops[0])]
        text = f"{_expression(node.left, level + 1)} {sign} {_expression(node.comparators[0], level + 1)}"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        level = 7
        text = f"!{_expression(node.operand, level)}"
    elif isinstance(node, ast.BoolOp):
        sign, level = _BOOLEAN[type(node.op)]
        # Compilers ask for brackets where && and || meet.
        text = f" {sign} ".join(_expression(value, 3) for value in node.values)
    else:
        raise _unknown(node)
    return f"({text})" if level < outer else text


def _constant(name: str) -> str:
    return "k" + "".join(part.capitalize() for part in name.split("_"))


def _unknown(node: ast.AST) -> ValueError:
    return ValueError(f"line {node.lineno}: cannot write {ast.unparse(node)} in C++")


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write(generate())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
