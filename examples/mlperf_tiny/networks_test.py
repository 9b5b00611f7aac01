"""The networks have the same architecture as the originals, and compute the same."""

import numpy as np
import pytest
import torch

from examples.mlperf_tiny.networks import NETWORKS, WEIGHTS_VARIABLE, weights_folder

# Parameters of the float originals with batch norm folded.
PARAMETERS = {"ds_cnn": 22604, "resnet8": 77706, "mobilenet_v1_025": 210850, "autoencoder": 265864}

# ds_cnn's file contains int8 weights, dequantized here.
TOLERANCE = {"ds_cnn": 0.02, "resnet8": 1e-4, "mobilenet_v1_025": 1e-4, "autoencoder": 2e-4}


@pytest.mark.parametrize("name", NETWORKS)
def test_parameter_count(name):
    folded = NETWORKS[name].build(False)
    assert sum(p.numel() for p in folded.parameters()) == PARAMETERS[name]


@pytest.mark.parametrize("name", NETWORKS)
def test_random_weights_are_seeded(name):
    network = NETWORKS[name]
    x = network.random_inputs(2)
    first, again, other = (network.random(seed)(x) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("name", NETWORKS)
def test_trained_weights_answer_as_the_original(name):
    folder = weights_folder()
    if folder is None:
        pytest.skip(f"{WEIGHTS_VARIABLE} is not set")
    network = NETWORKS[name]
    inputs, expected = network.check_data(folder)
    with torch.no_grad():
        answers = network.trained(folder)(torch.from_numpy(inputs)).numpy()
    assert np.abs(answers - expected).max() <= TOLERANCE[name]


def test_missing_weights_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="ds_cnn_kws.npz"):
        NETWORKS["ds_cnn"].trained(tmp_path)
