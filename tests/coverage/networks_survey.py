"""Compiles whole networks and writes docs/networks.md.

bazel run //tests/coverage:networks_survey                          # prints what becomes of each network
bazel run //tests/coverage:networks_survey -- --only resnet18       # of those whose names contain "resnet18"
bazel run //tests/coverage:networks_survey -- --write               # writes the report into the source tree

Those of torchvision and timm are measured if these packages can be imported: give their folder in PYTHONPATH.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tests.coverage.surveying import Survey, main

REPORT = "docs/networks.md"


def load() -> Survey:
    from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
    from tests.coverage import network_formats
    from tests.coverage.hub import hub_networks, missing
    from tests.coverage.network_outcome import NetworkOutcome, measure
    from tests.coverage.network_presets import FORMATS
    from tests.coverage.network_report import line, summary, text
    from tests.coverage.networks import NETWORKS, Network

    def measured(network: Callable[[], Network]) -> NetworkOutcome:
        return measure(*network())

    def formatted(network: Callable[[], Network], name: str) -> network_formats.NetworkInFormat:
        return network_formats.measure(*network(), name)

    make_torch_faster()
    hub = hub_networks()
    cases = {name: functools.partial(measured, network) for name, network in {**NETWORKS, **hub}.items()}
    formats = {
        f"{name} in {given}": functools.partial(formatted, network, given)
        for name, network in hub.items()
        for given in FORMATS
    }
    absent = missing()
    return Survey(
        {**cases, **formats},
        line,
        text,
        summary,
        incomplete=f"{' and '.join(absent)} cannot be imported: install them, and give their folder in PYTHONPATH"
        if absent
        else "",
    )


if __name__ == "__main__":
    main(__doc__, REPORT, load)
