"""Says what becomes of ExecuTorch's operator suite, and writes docs/operator_suite.md.

bazel run //tests/coverage:suite_survey                       # prints what becomes of each case
bazel run //tests/coverage:suite_survey -- --only conv2d/     # of those whose names contain "conv2d/"
bazel run //tests/coverage:suite_survey -- --write            # writes the report into the source tree

The installed executorch has the suite; if it lacks it, set EXECUTORCH_DIR to ExecuTorch's sources.
"""

from __future__ import annotations

import functools

from tests.coverage.surveying import Survey, main

REPORT = "docs/operator_suite.md"


def load() -> Survey:
    from tests.coverage.suite_cases import cases
    from tests.coverage.suite_outcome import outcome_of
    from tests.coverage.suite_report import line, summary, text

    return Survey({name: functools.partial(outcome_of, name) for name in cases()}, line, text, summary)


if __name__ == "__main__":
    main(__doc__, REPORT, load)
