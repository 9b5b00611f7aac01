"""The network that remembers reads held-out digits on the simulated core, with the bytes of the reference, and the
README has what it takes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from examples.digits.demo import Steps
from examples.line_camera import line_camera, read_tape
from examples.line_camera.line_camera import NOTHING, Reading
from examples.score import Score

make_torch_faster()

README = Path(__file__).parent / "README.md"


@pytest.fixture(scope="module")
def result():
    return read_tape.read(Steps(3))


def numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def test_it_reads_digits_on_the_device(result):
    for name, value in result.rows():
        print(f"{name}: {value}")
    assert result.differing == 0
    for score in (result.in_float, result.on_device):
        assert score.right >= 0.85 * read_tape.DIGITS and score.invented <= 0.05 * read_tape.DIGITS
    # Quantization costs little, and one step at a time gives what the whole tape gives.
    assert abs(result.on_device.right - result.in_float.right) <= 0.03 * read_tape.DIGITS


def test_the_compiler_compared_two_whole_pieces(result):
    """As the README says. That it would find a difference is a test of the compiler's."""
    stream = result.compiled.report.stream
    assert (stream.window, stream.compared, stream.since_start) == (96, 2, True)


def test_a_reader_without_memory_could_not_do_that(result):
    """The columns in which it says a digit are empty, and so alike."""
    ends = [end for end, _ in result.tape.ends]
    assert not result.tape.columns[:, ends].any()
    assert len({digit for _, digit in result.tape.ends}) == 10


def test_readme_shows_what_it_prints(result):
    """The weights, and with them what is read, are those of the machine that trains."""
    shown = dict(re.findall(r"^  (\S.*?)  +(\S.*)$", README.read_text(encoding="utf-8"), re.MULTILINE))
    for name, value in result.rows():
        if name.startswith("digits read"):
            assert abs(numbers(shown[name])[0] - numbers(value)[0]) <= 0.05 * read_tape.DIGITS
        elif name.startswith("instructions"):
            if result.run.info.kernels == "tuned+cmsis-nn" and result.run.instructions:
                assert numbers(shown[name])[0] == pytest.approx(numbers(value)[0], rel=0.02)
        else:
            assert shown[name] == value, name


def test_the_page_shows_what_was_read(result, tmp_path):
    read_tape.write(result, tmp_path)
    page = (tmp_path / "line_camera.report.html").read_text(encoding="utf-8")
    assert "<h2>Outputs over time</h2>" in page
    assert np.load(tmp_path / "outputs.npz")["output0"].shape == (result.tape.columns.shape[1], NOTHING + 1)


def test_readings_and_their_score():
    said = [NOTHING, 3, 3, NOTHING, NOTHING, 5, 4, 4, NOTHING, 7]
    probabilities = np.eye(NOTHING + 1)[said]
    found = line_camera.readings(probabilities)
    assert found == [Reading(1, 3), Reading(5, 4), Reading(9, 7)]
    assert line_camera.score(found, ((1, 3), (6, 8), (20, 1))) == Score(1, 1, 1, 1)
    assert line_camera.readings(np.eye(NOTHING + 1)[[NOTHING] * 3]) == []
