"""Compiles networks that remember and writes docs/stateful_networks.md.

bazel run //tests/coverage:stateful_survey                          # prints what becomes of each network
bazel run //tests/coverage:stateful_survey -- --only rnnoise        # of those whose names contain "rnnoise"
bazel run //tests/coverage:stateful_survey -- --write               # writes the report into the source tree
"""

from __future__ import annotations

import functools

from tests.coverage.surveying import Survey, main

REPORT = "docs/stateful_networks.md"


def load() -> Survey:
    from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
    from tests.coverage.stateful_networks import STATEFUL_NETWORKS
    from tests.coverage.stateful_outcome import measure
    from tests.coverage.stateful_report import line, text

    make_torch_faster()
    return Survey(
        {name: functools.partial(measure, name, network) for name, network in STATEFUL_NETWORKS.items()},
        line,
        text,
        lambda outcomes: f"{sum(o.whole for o in outcomes.values())} of {len(outcomes)} networks are one call",
    )


if __name__ == "__main__":
    main(__doc__, REPORT, load)
