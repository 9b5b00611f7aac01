"""Direct calls compute the bytes of the reference, in as many instructions as before on every run."""

import numpy as np
import pytest

from benchmarks.direct import direct
from benchmarks.direct.generate import Writer
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

# As published for MLPerf Tiny: nothing is left out of these networks.
MULTIPLICATIONS = {"ds_cnn": 2_656_768, "autoencoder": 264_192}


@pytest.mark.parametrize("core", direct.CORES)
@pytest.mark.parametrize("network", MULTIPLICATIONS)
def test_bytes_and_counts(network, core):
    found = direct.measure(network, core)
    assert found.differing == 0
    assert found.multiplications == MULTIPLICATIONS[network]
    # Two multiplications an instruction at most on M4, 16 on M55.
    assert found.inference * {"cortex-m4": 2, "cortex-m55": 16}[core] > found.multiplications
    assert direct.measure(network, core) == found


def test_differences_are_seen(monkeypatch):
    about = direct.generated("ds_cnn")
    wrong = bytes(byte ^ 1 for byte in bytes.fromhex(about["expected"]["dsp"]))
    monkeypatch.setattr(direct, "generated", lambda _: {**about, "expected": {"dsp": wrong.hex()}})
    assert direct.measure("ds_cnn", "cortex-m4").differing == len(wrong)
    monkeypatch.setattr(direct, "generated", lambda _: {**about, "expected": {"dsp": wrong.hex()[:-2]}})
    with pytest.raises(direct.DirectError, match="printed 12 bytes, the reference has 11"):
        direct.measure("ds_cnn", "cortex-m4")


def test_an_image_that_is_missing():
    with pytest.raises(direct.DirectError, match=r"there is no other_cortex_m4\.elf: it needs the sources of CMSIS-NN"):
        direct.measure("other", "cortex-m4")


def encoded(build):
    builder = GraphBuilder()
    graph = builder.graph(build(builder, builder.input(1, 4, 4, 4)))
    return encode(graph, get_target("cortex-m4"), PayloadOptions(providers=(CMSIS_NN, PORTABLE)))


def test_a_layer_that_has_no_direct_call_is_an_error():
    writer = Writer("pools", encoded(lambda builder, x: builder.max_pool2d(x, (2, 2))), bytes(64))
    with pytest.raises(ValueError, match="call 0 is max_pool2d, for which this program writes no C"):
        writer.text()


def test_the_least_number_is_a_literal_of_c():
    """A minus before 2147483648 would be a 64-bit number."""
    text = Writer._array("int32_t", "x", np.array([-(1 << 31), -1, (1 << 31) - 1]))
    assert "INT32_MIN, -1, 2147483647," in text
