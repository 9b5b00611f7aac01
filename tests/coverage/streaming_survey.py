"""Compiles networks that stream and writes docs/streaming_networks.md.

bazel run //tests/coverage:streaming_survey                          # prints what becomes of each network
bazel run //tests/coverage:streaming_survey -- --only wakeword       # of those whose names contain "wakeword"
bazel run //tests/coverage:streaming_survey -- --write               # writes the report into the source tree
"""

from __future__ import annotations

import functools

from tests.coverage.surveying import Survey, main

REPORT = "docs/streaming_networks.md"


def load() -> Survey:
    from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
    from tests.coverage.streaming_networks import STREAMING_NETWORKS
    from tests.coverage.streaming_outcome import measure
    from tests.coverage.streaming_report import line, text

    make_torch_faster()
    return Survey(
        {name: functools.partial(measure, network) for name, network in STREAMING_NETWORKS.items()},
        line,
        text,
        lambda outcomes: f"{len(outcomes)} networks",
    )


if __name__ == "__main__":
    main(__doc__, REPORT, load)
