"""Writes every file that follows from the declarations of the operators: `bazel run //:generate`.

They are committed, so that firmware builds need no Python; `fresh_test` says which of them is out of date. A new
kernel gets the next opcode first, in format/opcodes.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cmsis_nn_delegate.format.opcodes import Opcode
from codegen import (
    bazel_lists,
    floor_table,
    format_header,
    kernel_tables,
    opcodes,
    operator_checks,
    operator_fields,
    operator_payloads,
    operator_table,
    payload_format,
    power_table,
    rules_header,
    sigmoid_table,
)

OPCODES = "aot/cmsis_nn_delegate/format/opcodes.py"

# Path in the repository -> its text; C++ is formatted afterwards.
GENERATED: dict[str, Callable[[], str]] = {
    "docs/floors.md": floor_table.generate,
    "docs/operators.md": operator_table.generate,
    "docs/reference/payload_format.md": payload_format.generate,
    **kernel_tables.files(),
    "runtime/kernels/cmsis_nn/rules.h": rules_header.generate,
    "runtime/kernels/common/power_table.h": power_table.generate,
    "runtime/kernels/common/sigmoid_table.h": sigmoid_table.generate,
    "runtime/payload/format.h": format_header.generate,
    "runtime/payload/kernel_names.h": operator_checks.generate_names,
    "runtime/payload/operators.cc": operator_checks.generate_source,
    "runtime/payload/operators.h": operator_checks.generate_header,
    "tests/conformance/operators.bzl": bazel_lists.operators,
    "tests/payloads/operator_fields.h": operator_fields.generate,
    "tests/payloads/operator_payloads.h": operator_payloads.generate,
    "third_party/cmsis_nn/sources.bzl": bazel_lists.cmsis_nn_sources,
}


def generate(path: str, root: Path) -> str:
    """The text of the generated file `path` of the repository at `root`."""
    text = GENERATED[path]()
    if not path.endswith((".cc", ".h")):
        return text
    program = Path(sys.executable).parent / "clang-format"
    if not program.exists():
        raise SystemExit(f"{program} is missing: install third_party/python/requirements.lock")
    style = f"--style=file:{root / '.clang-format'}"
    command = [str(program), style, f"--assume-filename={path}"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    lock = root / OPCODES
    if not lock.exists():
        print(f"{lock} is missing: run `bazel run //:generate`, or this in the repository's root", file=sys.stderr)
        return 2
    numbered = opcodes.generate(Opcode)
    if lock.read_text(encoding="utf-8") != numbered:
        lock.write_text(numbered, encoding="utf-8")
        print(f"wrote {OPCODES}")
        # With the new numbers.
        os.execv(sys.executable, [sys.executable, *sys.argv])
    for path in GENERATED:
        text = generate(path, root)
        file = root / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
