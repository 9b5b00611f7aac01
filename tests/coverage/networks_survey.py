"""Compiles whole networks and writes docs/networks.md.

bazel run //tests/coverage:networks_survey                          # prints what becomes of each network
bazel run //tests/coverage:networks_survey -- --only resnet18       # of those whose names contain "resnet18"
bazel run //tests/coverage:networks_survey -- --write               # writes the report into the source tree

Those of torchvision and timm are measured if these packages can be imported: give their folder in PYTHONPATH.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from cmsis_nn_delegate.quiet import quiet

REPORT = "docs/networks.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only the networks whose names contain this")
    parser.add_argument("--write", action="store_true", help=f"write {REPORT}")
    arguments = parser.parse_args()
    if arguments.only and arguments.write:
        parser.error("--write needs all networks: leave out --only")
    quiet()
    # These import libraries that warn.
    from tests.coverage.hub import hub_networks, missing
    from tests.coverage.network_outcome import measure
    from tests.coverage.network_report import line, text
    from tests.coverage.networks import NETWORKS

    absent = missing()
    if absent:
        print(f"without the networks of {' and '.join(absent)}, which cannot be imported", flush=True)
        if arguments.write:
            parser.error(
                "--write needs all networks: install torchvision and timm, and give their folder in PYTHONPATH"
            )
    outcomes = {}
    for name, network in {**NETWORKS, **hub_networks()}.items():
        if arguments.only in name:
            started = time.monotonic()
            outcomes[name] = measure(*network())
            print(line(name, outcomes[name]), f"({time.monotonic() - started:.0f} s)", flush=True)
    print(f"{sum(o.whole for o in outcomes.values())} of {len(outcomes)} networks are one call")
    if arguments.write:
        root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
        (root / REPORT).write_text(text(outcomes), encoding="utf-8")


if __name__ == "__main__":
    main()
