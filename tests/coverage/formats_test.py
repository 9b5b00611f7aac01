"""The report of chosen formats says what the compiler chooses, for the network whose weights are kept."""

from pathlib import Path

import numpy as np
import pytest
import torch

from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage.format_data import Part, crops, digits_on_photos, generator_of, sounds
from tests.coverage.format_networks import FORMAT_NETWORKS
from tests.coverage.format_outcome import measure
from tests.coverage.format_report import rows, text
from tests.coverage.format_survey import REPORT
from tests.coverage.format_training import keep, restore, train_denoiser
from tests.coverage.stateful_networks import Rnnoise

make_torch_faster()

REPORTED = rows(Path(REPORT).read_text(encoding="utf-8"))


def test_every_network_is_in_the_report():
    assert set(REPORTED) == set(FORMAT_NETWORKS)


def test_a_network_has_the_figures_of_the_report():
    found = measure(FORMAT_NETWORKS["denoising_unet"])
    assert list(found.rows) == REPORTED["denoising_unet"], f"write {REPORT} again"
    assert rows(text({"denoising_unet": found})) == {"denoising_unet": list(found.rows)}
    *uniform, chosen = found.rows
    kept = [row for row in uniform if row.sqnr >= found.limits.min_sqnr]
    assert uniform[0].sqnr < found.limits.min_sqnr <= chosen.sqnr
    assert chosen.instructions < min(row.instructions for row in kept)
    # The network takes noise off, in float and as the device computes it.
    assert found.without + 4 < chosen.accuracy <= found.exact + 0.05


def _windows(part: Part) -> set[bytes]:
    """Returns what lies in pieces of photographs: every fourth window of 8 x 8, mirrored or not."""
    pieces = (255 * crops(part, 60, 64, generator_of(part))).round().byte()
    windows = torch.cat([pieces, pieces.flip(3)]).unfold(2, 8, 1).unfold(3, 8, 4).reshape(-1, 64).numpy()
    return set(map(bytes, np.unique(windows, axis=0)))


def test_no_piece_of_a_photograph_is_in_two_parts():
    training, choice, held_out = map(_windows, Part)
    assert not training & held_out and not choice & held_out and not training & choice


@pytest.mark.parametrize("make", [digits_on_photos, lambda part, count, g: sounds(count, 5, g)[:2]])
def test_data_comes_from_its_generator_alone(make):
    first, again, other = (make(Part.CHOICE, 4, generator_of(Part.CHOICE, seed)) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(first, again))
    assert not torch.equal(first[0], other[0])


def test_sounds_have_gains_where_something_sounds():
    data = sounds(4, 60, generator_of(Part.CHOICE))
    assert data.features.shape == (4, 60, 42) and data.gains.shape == (4, 60, 22)
    assert torch.equal(data.gains.amax(2) > 0, data.sounding > 0) and data.gains.max() <= 1
    assert 0.1 < data.sounding.mean() < 0.9


def test_training_goes_through_the_states_and_leaves_them_as_they_were():
    torch.manual_seed(0)
    module = Rnnoise()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    train_denoiser(module, steps=2, batch=3, length=4)
    after = module.state_dict()
    assert all(torch.equal(after[name], before[name]) for name, _ in module.named_buffers())
    # What a step before has left multiplies these weights. The first state is 0: by itself it lets them decay alike.
    assert (after["denoise.weight_hh"] / before["denoise.weight_hh"]).std() > 1e-3
    assert not module.training


def test_kept_weights_are_those_of_16_bits(tmp_path):
    torch.manual_seed(0)
    first, second = Rnnoise(), Rnnoise()
    keep(first, tmp_path / "weights.npz")
    restore(second, tmp_path / "weights.npz")
    for one, other in zip(first.state_dict().values(), second.state_dict().values()):
        assert torch.equal(one.half().float(), other)
