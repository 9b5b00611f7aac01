"""Networks of the kinds that people bring are one delegate call each, and every byte is the same in the integer
reference, under ExecuTorch's runtime on the host, and on simulated cores."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage import network_formats
from tests.coverage.network_outcome import IMAGES
from tests.coverage.network_presets import FORMATS, MORE
from tests.coverage.network_report import line
from tests.coverage.networks import NETWORKS, random_like
from tests.coverage.networks_survey import REPORT
from tests.coverage.outcome import LIBRARY

make_torch_faster()

Sample = tuple[torch.Tensor, ...]

SAMPLES = 3
# By network, the columns of the report that do not depend on the data.
REPORTED = {
    row[0]: tuple(int(column.replace(",", "")) for column in row[1:4])
    for row in re.findall(
        r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", Path(REPORT).read_text(encoding="utf-8"), re.M
    )
}


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name):
    module, inputs = NETWORKS[name]()
    samples = [tuple(map(random_like, inputs)) for _ in range(SAMPLES)]
    compiled = _compiled(module, inputs, samples, name)
    (report,) = (r for r in compiled if r.target.name == "cortex-m55")
    sizes = len(report.encoded.calls), report.work.multiplications.total, report.encoded.plan.arena_bytes
    assert sizes == REPORTED[name], f"write {REPORT} again"
    _check(compiled, samples)


def test_a_network_in_a_format():
    """As the report measures those of other packages, which tests need not have."""
    int8, int16, mixed = (network_formats.measure(*NETWORKS["m5"](), name) for name in ("int8", "int16", "mixed"))
    assert all(int8.instructions[core] < int16.instructions[core] for core in IMAGES)
    assert int8.sqnr + 20 < int16.sqnr and int8.arena_bytes < int16.arena_bytes
    assert mixed.chosen and mixed.sqnr >= int8.sqnr + MORE - 0.1
    assert not any(o.differing_bytes or o.simulated_bytes for o in (int8, int16, mixed))
    assert f"| {int16.arena_bytes:,} | {int16.payload_bytes:,} | {int16.sqnr:.1f} dB | 0 | 0 |" in line(
        "m5 in int16", int16
    )


def test_every_network_of_other_packages_is_reported_in_every_format():
    report = Path(REPORT).read_text(encoding="utf-8")
    names = list(dict.fromkeys(re.findall(r"^\| (\w+/\w+) \|", report, re.M)))
    rows = re.findall(r"^\| (\w+/\w+) \| ([a-z]\w+)(?:: [^|]+)? \|.* \| (\d+) \| (\d+) \|$", report, re.M)
    notes = re.findall(r"^- `(\w+/\w+)` in (\w+): \S", report, re.M)
    assert sorted([*(row[:2] for row in rows), *notes]) == sorted((name, given) for name in names for given in FORMATS)
    assert all(row[2:] == ("0", "0") for row in rows) and len(names) == 13


def test_an_index_that_leaves_the_delegate():
    """The class of every pixel, int64, and its score."""

    class Segmentation(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Conv2d(2, 5, 3, padding=1)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            x = self.layer(x)
            return x.argmax(1), x.amax(1)

    samples = [(torch.randn(1, 2, 9, 7),) for _ in range(SAMPLES)]
    compiled = _compiled(Segmentation(), samples[0], samples, "segmentation")
    assert [value.element.value for value in compiled[0].graph.outputs] == ["int64", "float32"]
    _check(compiled, samples)


def _compiled(module: nn.Module, inputs: Sample, samples: Sequence[Sample], name: str) -> list[Compiled]:
    """Compiles for all simulated cores; everything must be one call."""
    compiled = compile_for_targets(module, inputs, list(IMAGES), samples, observer="minmax", name=name)
    for result in compiled:
        assert result.graph is not None, "\n".join([result.obstacle, *map(str, result.refused)])
    return compiled


def _check(compiled: Sequence[Compiled], samples: Sequence[Sample]) -> None:
    """Compares every byte on the host and on simulated cores with the reference."""
    arrays = [[x.numpy() for x in sample] for sample in samples]
    wanted = [reference.run(compiled[0].graph, sample) for sample in arrays]
    host = HostProgram(compiled[0].pte, LIBRARY)
    found = {"host": [host.run(sample) for sample in arrays]}
    for result in compiled:
        found[result.target.name] = simulate.run(result.payload, arrays, IMAGES[result.target.name]).outputs
    for where, outputs in found.items():
        differing = sum(
            int(np.count_nonzero(a.view(np.uint8) != b.view(np.uint8)))
            for sample, expected in zip(outputs, wanted, strict=True)
            for a, b in zip(sample, expected, strict=True)
        )
        assert differing == 0, f"{where}: {differing} bytes differ"
