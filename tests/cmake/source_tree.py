"""The source tree, and what its Bazel and CMake files declare.

The tests read the tree itself, not copies in runfiles: a file that nobody declared is what they look for.
"""

from __future__ import annotations

import ast
import dataclasses
import pathlib
import re
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Folder -> its lists are the same in BUILD and CMakeLists.txt.
MIRRORED = (
    "runtime/backend",
    "runtime/executorch",
    "runtime/kernels/cmsis_nn",
    "runtime/kernels/portable",
    "runtime/payload",
    "runtime/standalone",
)

# Headers that a build makes, as CMake names them.
GENERATED = {
    "${_header}": "format.h",
    "${_generated}/operator_fields.h": "operator_fields.h",
    "${_generated}/operators.cc": "operators.cc",
    "${_generated}/operators.h": "operators.h",
    "${_rules_header}": "rules.h",
}

# The choice of --define kernels=..., for the runner's images, which only Bazel builds.
NOT_MIRRORED = {"selected", "selected_header"}


@dataclasses.dataclass(frozen=True)
class Target:
    """A library or test as one of the two builds has it. Files are paths from the root."""

    kind: str  # "library" or "test"
    files: frozenset[str]
    deps: frozenset[str]  # names as in CMake
    copts: tuple[str, ...]
    linkopts: tuple[str, ...]


def evaluate(text: str) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """Runs Starlark as Python: (what it defines, the rules it calls with their arguments).

    What is loaded from elsewhere records calls if it is a function, and is empty if it is a constant;
    select() is an empty list.
    """
    calls: list[tuple[str, dict[str, Any]]] = []

    def recorder(name: str):
        return lambda *args, **arguments: calls.append((name, arguments))

    names = {"select": lambda branches: [], "struct": lambda **fields: fields}
    module = ast.parse(text)
    for node in module.body:
        call = getattr(node, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "load":
            for symbol in (argument.value for argument in call.args[1:]):
                names[symbol] = {} if symbol.isupper() else recorder(symbol)
    for rule in ("load", "package", "exports_files", "filegroup", "genrule", "config_setting", "alias"):
        names.setdefault(rule, recorder(rule))
    exec(compile(module, "BUILD", "exec"), names)  # pylint: disable=exec-used
    return names, calls


def _dependency(label: str) -> str:
    """The CMake name of a Bazel label: its target, or its last folder."""
    special = {
        "//third_party/cmsis_nn": "third_party_cmsis_nn",
        "@executorch_wheel//:runtime": "executorch_runtime",
    }
    return special.get(label) or re.split("[/:]", label)[-1]


def bazel_targets(folder: str) -> dict[str, Target]:
    """The mirrored cc_library and cc_test targets of a folder, by name."""
    _, calls = evaluate((ROOT / folder / "BUILD").read_text(encoding="utf-8"))
    targets = {}
    for rule, arguments in calls:
        name = arguments.get("name")
        if rule not in ("cc_library", "cc_test") or name in NOT_MIRRORED:
            continue
        files = [f for label in arguments.get("srcs", []) + arguments.get("hdrs", []) for f in _files(folder, label)]
        deps = {_dependency(label) for label in arguments.get("deps", [])} - {"gtest_main"}
        targets[name] = Target(
            rule[len("cc_") :],
            frozenset(files),
            frozenset(deps),
            tuple(arguments.get("copts", [])),
            tuple(arguments.get("linkopts", [])),
        )
    return targets


def _files(folder: str, label: str) -> Iterator[str]:
    """The files of a source label: a file of the folder, or a filegroup of another one."""
    if not label.startswith("//"):
        yield f"{folder}/{label}"
        return
    package, _, name = label[2:].partition(":")
    _, calls = evaluate((ROOT / package / "BUILD").read_text(encoding="utf-8"))
    (group,) = [a for rule, a in calls if rule == "filegroup" and a["name"] == name]
    for source in group["srcs"]:
        yield from _files(package, source)


def cmake_targets(folder: str) -> dict[str, Target]:
    """The cmsis_nn_delegate_library and _test targets of a folder, by name."""
    return parse_cmake((ROOT / folder / "CMakeLists.txt").read_text(encoding="utf-8"), folder)


def parse_cmake(text: str, folder: str) -> dict[str, Target]:
    """What cmake_targets finds in the text of a CMakeLists.txt."""
    text = re.sub(r"#.*", "", text)
    targets = {}
    for kind, body in re.findall(r"\bcmsis_nn_delegate_(library|test)\(([^)]*)\)", text):
        name, *words = body.split()
        lists: dict[str, list[str]] = {}
        keyword = ""
        for word in words:
            if re.fullmatch(r"SRCS|HDRS|DEPS|DEFINES|COPTS|LINKOPTS|ALWAYSLINK|TESTONLY", word):
                keyword = word
            else:
                lists.setdefault(keyword, []).append(word)
        files = [
            word[2:] if word.startswith("//") else f"{folder}/{GENERATED.get(word, word)}"
            for word in lists.get("SRCS", []) + lists.get("HDRS", [])
        ]
        deps = {word for word in lists.get("DEPS", []) if "::" not in word}
        targets[name] = Target(
            kind,
            frozenset(files),
            frozenset(deps),
            tuple(lists.get("COPTS", [])),
            tuple(lists.get("LINKOPTS", [])),
        )
    return targets
