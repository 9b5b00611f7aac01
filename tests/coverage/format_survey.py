"""Chooses formats of layers and writes docs/formats.md.

bazel run //tests/coverage:format_survey                            # prints what is chosen
bazel run //tests/coverage:format_survey -- --only unet             # of networks whose names contain "unet"
bazel run //tests/coverage:format_survey -- --write                 # writes the report into the source tree
"""

from __future__ import annotations

import functools
import sys

from tests.coverage.surveying import Survey, main

REPORT = "docs/formats.md"


def load() -> Survey:
    from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
    from tests.coverage.format_networks import FORMAT_NETWORKS
    from tests.coverage.format_outcome import measure
    from tests.coverage.format_report import line, text

    make_torch_faster()
    return Survey(
        {name: functools.partial(measure, network, _say) for name, network in FORMAT_NETWORKS.items()},
        line,
        text,
        lambda outcomes: f"{sum(not o.refused for o in outcomes.values())} of {len(outcomes)} keep what was asked",
    )


def _say(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(__doc__, REPORT, load)
