"""Networks that stream give the bytes of the whole window under ExecuTorch's runtime on the host, hop after hop, and
take the memory that the report says."""

from pathlib import Path

import pytest

from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage.outcome import LIBRARY
from tests.coverage.streaming_networks import STREAMING_NETWORKS
from tests.coverage.streaming_outcome import compile_pairs, from_whole, hops_of
from tests.coverage.streaming_report import sizes
from tests.coverage.streaming_survey import REPORT

make_torch_faster()

REPORTED = sizes(Path(REPORT).read_text(encoding="utf-8"))
AFTER = 6  # hops after the first window


def test_every_network_is_in_the_report():
    assert set(REPORTED) == set(STREAMING_NETWORKS)


@pytest.mark.parametrize("name", STREAMING_NETWORKS)
def test_network(name):
    network = STREAMING_NETWORKS[name]
    ((stream, whole),) = compile_pairs(network, ["cortex-m55"], observer="minmax")
    report = stream.report
    found_sizes = report.arena.nbytes, report.persistent_bytes, whole.report.arena.nbytes
    assert found_sizes == REPORTED[name], f"write {REPORT} again"
    first = stream.stream.warm_up
    hops = hops_of(network, first + AFTER)
    host = HostProgram(stream.pte, LIBRARY)
    found = [host.run(hop) for hop in hops]
    assert sum(from_whole(network, stream, whole, hops, found, step) for step in range(first, len(hops))) == 0
