"""Writes what firmware has of a model in two parts: write_parts.py FOLDER.

FOLDER gets the table of the kernels of both parts, parts.kernels.h, and each part alone: first.h, first.c,
first.kernels.h, second.h and second.c.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cmsis_nn_delegate.emit import c_header, kernel_table
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


def payloads() -> tuple[bytes, bytes]:
    builder = GraphBuilder()
    first = builder.graph(builder.conv2d(builder.input(1, 4, 6, 6), 4, (3, 3)))
    builder = GraphBuilder(1)
    second = builder.graph(builder.softmax(builder.fully_connected(builder.input(1, 16), 4)))
    target = get_target("cortex-m55")
    return encode(first, target).payload, encode(second, target).payload


def main(argv: list[str]) -> int:
    folder = Path(argv[1])
    parts = payloads()
    for name, payload in zip(("first", "second"), parts):
        (folder / f"{name}.h").write_text(c_header.generate_header(name, payload))
        (folder / f"{name}.c").write_text(c_header.generate_source(name, payload))
    (folder / "first.kernels.h").write_text(kernel_table.generate_kernel_table("first", parts[0]))
    (folder / "parts.kernels.h").write_text(kernel_table.generate_kernel_table_of_parts("parts", parts, 0))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
