"""The self-test ends well on every simulated board and core."""

import os
import pathlib
import warnings

import pytest

from sim import simulator
from sim.auto import SimulatorChoice

# The core that an image is for, by the image's name.
IMAGES = dict(image.split("=") for image in os.environ["IMAGES"].split())
SKIPPED = os.environ["SKIPPED"].split()


@pytest.mark.parametrize("name", IMAGES)
def test_image_ends_well(name):
    if name in SKIPPED:
        pytest.skip(f"only Renode runs it: {os.environ['WHY_SKIPPED']}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulatorChoice)
        result = simulator.run(pathlib.Path(f"platforms/bsp/selftest/{name}.elf"), count=False)
    assert result.exit_code == 0, f"{result.uart}\n{result.explain()}"
    assert f"selftest on {IMAGES[name]}" in result.uart
