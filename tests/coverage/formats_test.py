"""The report of chosen formats says what the compiler chooses, for the network that takes the least time."""

from pathlib import Path

from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage.format_networks import FORMAT_NETWORKS
from tests.coverage.format_outcome import measure
from tests.coverage.format_report import rows
from tests.coverage.format_survey import REPORT

make_torch_faster()

REPORTED = rows(Path(REPORT).read_text(encoding="utf-8"))


def test_every_network_is_in_the_report():
    assert set(REPORTED) == set(FORMAT_NETWORKS)


def test_a_network_has_the_figures_of_the_report():
    found = measure(FORMAT_NETWORKS["denoising_unet"])
    assert list(found.rows) == REPORTED["denoising_unet"], f"write {REPORT} again"
    *uniform, chosen = found.rows
    kept = [row for row in uniform if row.sqnr >= found.limit]
    assert uniform[0].sqnr < found.limit <= chosen.sqnr
    assert chosen.instructions <= min(row.instructions for row in kept)
