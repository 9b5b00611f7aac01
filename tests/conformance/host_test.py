"""Integer reference == portable kernels == CMSIS-NN's plain C on the host, byte for byte, for each of OPERATORS.

Usage:

    ./bazelw test //tests/conformance:all --test_arg=--cases=5000
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path

import pytest

from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.targets.target import TARGETS, get_target
from tests.conformance import cases, suite
from tests.conformance.outcome import parse

OPERATORS = os.environ["OPERATORS"].split()
CASES = 60
RUNNER = Path("tests/conformance/run_on_host")
KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())
NAMES = {"portable": "portable", "cmsis_nn": "cmsis-nn"}


@functools.cache
def drawn(operator: str, seeds: range, kernels: str = NAMES["portable"]):
    """Cases for a table of `kernels`."""
    if operator in cases.TUNED:
        isa = min(cases.TUNED[operator].isas)
        return tuple(cases.cases(operator, seeds, next(t for t in TARGETS.values() if t.isa is isa)))
    # CMSIS-NN is plain C on the host, so it needs the same scratch memory as on a scalar core.
    return tuple(cases.cases(operator, seeds, get_target("cortex-m3"), cases.providers_of(kernels)))


# Tuned kernels have twins among the portable ones alone.
PAIRS = [(op, provider) for op in OPERATORS for provider in NAMES if provider == "portable" or op not in cases.TUNED]


@pytest.mark.parametrize("operator, provider", PAIRS)
def test_every_byte_equals_the_reference(operator, provider, seeds, tmp_path):
    if provider == "cmsis_nn" and not KERNELS["cmsis_nn_available"]:
        pytest.skip(f"CMSIS-NN is unavailable: {KERNELS['reason']}")
    path = tmp_path / "suite"
    suite_cases = drawn(operator, seeds, NAMES[provider])
    path.write_bytes(suite.pack(suite_cases))
    result = subprocess.run([RUNNER.resolve(), provider, path], capture_output=True, text=True, check=False)
    outcome = parse(result.stdout)
    assert (outcome.kernels, outcome.cases) == (NAMES[provider], len(seeds))
    assert outcome.failed == 0, outcome.explain(suite_cases)
    assert result.returncode == 0


if cases.NETWORK in OPERATORS:

    def test_networks_lie_in_several_memories():
        payloads = [decode(case.payload) for case in drawn(cases.NETWORK, range(CASES))]
        assert {1, 2} <= {sum(nbytes > 0 for nbytes in payload.region_bytes) for payload in payloads}
        assert any(payload.copied_bytes for payload in payloads)


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_wrong_byte_is_seen(operator, tmp_path):
    (first,) = drawn(operator, range(1))
    damaged = bytes([first.outputs[0][0] ^ 1]) + first.outputs[0][1:]
    wrong = suite.Case(first.text, first.payload, first.inputs, (damaged,))
    path = tmp_path / "suite"
    path.write_bytes(suite.pack([wrong]))
    result = subprocess.run([RUNNER.resolve(), "portable", path], capture_output=True, text=True, check=False)
    outcome = parse(result.stdout)
    assert result.returncode == 1 and outcome.failed == 1
    assert "differing bytes" in outcome.problems[0][1]
