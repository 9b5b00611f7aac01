"""Counts how many of ExecuTorch's own Cortex-M operator cases become one delegate call, and writes docs/coverage.md.

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
    from tests.coverage.outcome import outcome_of
    from tests.coverage.report import line, text

    return Survey(
        {name: functools.partial(outcome_of, name) for name in cases()},
        line,
        text,
        lambda outcomes: f"{sum(o.whole for o in outcomes.values())} of {len(outcomes)} cases are one call",
    )


if __name__ == "__main__":
    main(__doc__, REPORT, load)
