"""`cmsisnn targets`: lists the cores and their instruction sets."""

from __future__ import annotations

import argparse

from ..target import TARGETS


def run(arguments: argparse.Namespace) -> int:
    for target in TARGETS.values():
        print(f"{target.name:16}{target.isa.name.lower()}")
    return 0
