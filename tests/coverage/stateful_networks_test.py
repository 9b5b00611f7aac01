"""Networks that remember are one delegate call each; step after step every byte is the same in the integer reference
and under ExecuTorch's runtime on the host, and noise stays below a bound."""

from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage.outcome import LIBRARY
from tests.coverage.stateful_networks import STATEFUL_NETWORKS
from tests.coverage.stateful_outcome import (
    compile_network,
    differing_steps,
    inputs_of,
    noise_of,
    outputs_of,
    reference_outputs,
)
from tests.coverage.stateful_report import sizes
from tests.coverage.stateful_survey import REPORT

make_torch_faster()

CALIBRATED = 100  # steps: fewer than for the report, as are those that are compared
COMPARED = 50
REPORTED = sizes(Path(REPORT).read_text(encoding="utf-8"))
# The ratio of signal to noise in dB that is left at least, of what changes in the outputs.
NOISE = {
    "rnnoise": 15,
    "voice_activity": 15,
    "keyword_crnn": 15,
    "deep_conv_lstm": 12,
    "lstm_autoencoder": 15,
    "streaming_tcn": 7,  # the first steps are louder than the few that calibrate
    "speech_bigru": 12,
    "mamba": 6,  # a layer norm makes the steps of quiet inputs loud
    "text_decoder": 20,
}


def test_every_network_is_in_the_report():
    assert set(REPORTED) == set(STATEFUL_NETWORKS)


@pytest.mark.parametrize("name", STATEFUL_NETWORKS)
def test_network(name):
    network = STATEFUL_NETWORKS[name]
    compiled = compile_network(name, network, CALIBRATED, observer="minmax")
    steps = inputs_of(network, COMPARED)
    host = HostProgram(compiled.pte, LIBRARY)
    found = [host.run(step) for step in steps]
    module, _ = network.build()
    wanted = outputs_of(module, steps)
    assert noise_of(wanted, found)(0) > NOISE[name]
    assert compiled.graph is not None, "\n".join([compiled.obstacle, *map(str, compiled.refused)])
    report = compiled.report
    found_sizes = len(report.calls), report.arena.nbytes, report.persistent_bytes
    assert found_sizes == REPORTED[name], f"write {REPORT} again"
    assert differing_steps(reference_outputs(compiled, steps), found) == 0
    # A second program starts from the initial state, and not from that of the first one.
    again = HostProgram(compiled.pte, LIBRARY).run(steps[0])
    assert all(np.array_equal(a, b) for a, b in zip(again, found[0]))
