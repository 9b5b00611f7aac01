"""Compares the flash of networks with tuned kernels and with CMSIS-NN's, in linked images."""

import pytest

from benchmarks.flash.flash import CORES, FOLDER, PROVIDERS, measure, name_of
from sim import simulator

NETWORK = "autoencoder"  # the one that is compiled the fastest; docs/benchmarks.md has all


@pytest.mark.parametrize("core", CORES)
def test_tuned_kernels_take_no_more_flash(core):
    tuned, cmsis_nn = (measure(NETWORK, core, providers) for providers in ("tuned", "cmsis-nn"))
    print(tuned, cmsis_nn)
    assert tuned.total <= cmsis_nn.total


@pytest.mark.parametrize("providers", PROVIDERS)
@pytest.mark.parametrize("core", CORES)
def test_images_run(core, providers):
    """With a kernel too few, or a wrong payload, they would not."""
    result = simulator.run(str(FOLDER / f"{name_of(NETWORK, core, providers)}.elf"))
    assert (result.status, result.exit_code) == ("exit", 0), result.explain()


def test_an_image_that_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="ds_cnn_cortex_m4_tuned"):
        measure("ds_cnn", "cortex-m4", "tuned", tmp_path)
