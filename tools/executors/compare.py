"""Prints what ExecuTorch's executor costs compared with the standalone runner, on a simulated core.

    bazel run //tools/executors:compare [-- cortex-m4 cortex-m55]

Prints the instructions of load and of one inference, RAM by allocator, and the image's flash without the model.
"""

from __future__ import annotations

import sys

from tests.end_to_end.vectors import differing_bytes
from tools.executors.running import UNAVAILABLE, run_network

NETWORKS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder")


def row(network: str, core: str) -> str:
    own = run_network(network, core, program=False, count=1)
    theirs = run_network(network, core, program=True, count=1)
    memory = theirs.report.memory
    different = differing_bytes(own.outputs, own.expected) + differing_bytes(theirs.outputs, theirs.expected)
    cells = [
        core,
        network,
        own.report.info.kernels,
        f"{own.load:,} / {theirs.load:,}",
        f"{own.execute[0]:,} / {theirs.execute[0]:,} (+{theirs.execute[0] - own.execute[0]:,})",
        f"{memory.method:,} + {memory.planned:,} + {memory.temp:,} + {memory.objects:,}",
        f"{own.report.stack_bytes:,} / {theirs.report.stack_bytes:,}",
        f"{own.flash:,} / {theirs.flash:,}",
        str(different),
    ]
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    if UNAVAILABLE:
        print(f"error: {UNAVAILABLE}", file=sys.stderr)
        return 1
    print("| core | network | kernels | load, instructions: standalone / executorch | execute | "
          "RAM: method + planned + temp + objects | stack | flash | bytes that differ |")  # fmt: skip
    print("|---" * 9 + "|")
    for core in arguments or ["cortex-m4", "cortex-m55"]:
        for network in NETWORKS:
            print(row(network, core), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
