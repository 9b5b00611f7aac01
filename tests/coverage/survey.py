"""Counts how many of ExecuTorch's own Cortex-M operator cases become one delegate call, and writes docs/coverage.md.

bazel run //tests/coverage:survey                       # prints what becomes of each case
bazel run //tests/coverage:survey -- --only conv/       # of those whose names contain "conv/"
bazel run //tests/coverage:survey -- --write            # writes the report into the source tree
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from cmsis_nn_delegate.quiet import quiet

REPORT = "docs/coverage.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only the cases whose names contain this")
    parser.add_argument("--write", action="store_true", help=f"write {REPORT}")
    arguments = parser.parse_args()
    if arguments.only and arguments.write:
        parser.error("--write needs the outcome of all cases: leave out --only")
    quiet()
    # These import libraries that warn.
    from tests.coverage.mcu_cases import cases
    from tests.coverage.outcome import outcome_of
    from tests.coverage.report import line, text

    outcomes = {}
    for name in cases():
        if arguments.only in name:
            outcomes[name] = outcome_of(name)
            print(line(name, outcomes[name]), flush=True)
    print(f"{sum(o.whole for o in outcomes.values())} of {len(outcomes)} cases are one call")
    if arguments.write:
        root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
        (root / REPORT).write_text(text(outcomes), encoding="utf-8")


if __name__ == "__main__":
    main()
