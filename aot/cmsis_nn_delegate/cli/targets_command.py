"""`cmsisnn targets`: lists the targets and their instruction sets."""

from __future__ import annotations

import argparse

from ..targets.cores import CORES


def run(arguments: argparse.Namespace) -> int:
    for name, (isa, _, _) in CORES.items():
        print(f"{name:24}{isa}")
    return 0
