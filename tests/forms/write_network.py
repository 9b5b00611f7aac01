"""Writes a network in both forms.

    write_network.py PAYLOAD FOLDER                   a payload, as it is
    write_network.py GRAPH.npz CORE PROVIDERS FOLDER  compiled for CORE with some providers ("cmsis-nn,portable")

FOLDER gets net.h, net.c, net.kernels.h, net.model.h, net.model.cc and net.payload.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cmsis_nn_delegate.emit import c_header, cpp_calls, kernel_table
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target

NAME = "net"


def compiled(graph: str, core: str, providers: str) -> bytes:
    lowered, _ = serialize.loads(Path(graph).read_bytes())
    return encode(lowered, get_target(core), PayloadOptions.of(providers=providers.split(","))).payload


def main(argv: list[str]) -> int:
    if len(argv) not in (3, 5):
        print(__doc__, file=sys.stderr)
        return 2
    payload = Path(argv[1]).read_bytes() if len(argv) == 3 else compiled(*argv[1:4])
    folder = Path(argv[-1])
    for suffix, text in {
        ".h": c_header.generate_header(NAME, payload),
        ".c": c_header.generate_source(NAME, payload),
        ".kernels.h": kernel_table.generate_kernel_table(NAME, payload),
        ".model.h": cpp_calls.generate_header(NAME, payload),
        ".model.cc": cpp_calls.generate_source(NAME, payload),
    }.items():
        (folder / f"{NAME}{suffix}").write_text(text)
    (folder / f"{NAME}.payload").write_bytes(payload)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
