"""Counts how many cases of ExecuTorch's own Cortex-M backend become one delegate call, and writes docs/coverage.md.

bazel run //tests/coverage:survey                       # prints what becomes of each case
bazel run //tests/coverage:survey -- --only conv/       # of those whose names contain "conv/"
bazel run //tests/coverage:survey -- --write            # writes the report into the source tree
"""

from __future__ import annotations

import functools

from tests.coverage.surveying import Survey, main

REPORT = "docs/coverage.md"


def load() -> Survey:
    from tests.coverage.mcu_cases import cases
    from tests.coverage.mcu_outcome import outcome_of
    from tests.coverage.mcu_report import line, summary, text

    return Survey({name: functools.partial(outcome_of, name) for name in cases()}, line, text, summary)


if __name__ == "__main__":
    main(__doc__, REPORT, load)
