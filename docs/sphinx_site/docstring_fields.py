"""Turns the docstrings of this project into reStructuredText, which Sphinx reads.

The docstrings are plain text with `code` as in Markdown. Arguments and fields are lines `name: what it is`, and
examples are indented after a colon:

    Encodes a graph.

    graph: with a kernel for every node.
    strict: whether to fail; continuation
        lines are indented.
    form: after a colon they are items:
        "flat" for all in one file;
        "deep" for a folder, whose continuation lines are
            indented further.
"""

from __future__ import annotations

import re

_FIELD = re.compile(r"(\w+(?:, \w+)*): (\S.*)")
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def convert(lines: list[str]) -> list[str]:
    """Returns the lines of a docstring, without the indentation of its first line, as reStructuredText."""
    converted: list[str] = []
    for paragraph in _paragraphs(lines):
        if paragraph[0].startswith(" ") and converted and converted[-2].endswith(":"):
            converted[-2:] = [converted[-2], "", "::", ""]
            converted += [*paragraph, ""]
            continue
        marked = [_CODE.sub(r"``\1``", line) for line in paragraph]
        converted += [*(_fields(marked) or marked), ""]
    return converted


def _paragraphs(lines: list[str]) -> list[list[str]]:
    """Returns the parts between empty lines; indented parts that follow each other are one."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    found = [part for part in found if part]
    for index in range(len(found) - 1, 0, -1):
        if found[index][0].startswith(" ") and found[index - 1][0].startswith(" "):
            found[index - 1 : index + 1] = [[*found[index - 1], "", *found[index]]]
    return found


def _fields(paragraph: list[str]) -> list[str]:
    """Returns the paragraph as fields, if all of it are arguments; otherwise nothing."""
    found = []
    for line in paragraph:
        field = _FIELD.fullmatch(line)
        if field:
            found += [f":param {name}: {field[2]}" for name in field[1].split(", ")]
        elif line.startswith("    ") and found:
            found.append(line)
        else:
            return []
    return _items(found)


def _items(fields: list[str]) -> list[str]:
    """Returns the fields with lists in the place of the lines that follow a colon."""
    found: list[str] = []
    in_list = False
    for line in fields:
        if line.startswith(":param "):
            found += [""] * in_list + [line]
            in_list = line.endswith(":")
            found += [""] * in_list
        elif in_list and not line.startswith("     "):
            found.append(f"    - {line.strip()}")
        else:
            found.append(f"      {line.strip()}" if in_list else line)
    return found
