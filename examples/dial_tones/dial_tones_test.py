"""The firmware reports the keys of a held-out tape, with the bytes of the reference, on the board and on QEMU's,
and the README has what it takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from examples.dial_tones import keys, listen, tones
from examples.dial_tones.detector import HOP, NOTHING, SAMPLES
from examples.dial_tones.keys import Detection
from examples.dial_tones.tones import KEYS, RATE, Press
from examples.digits.demo import Steps
from examples.score import Score

make_torch_faster()

README = Path(__file__).parent / "README.md"


@pytest.fixture(scope="module")
def result():
    return listen.listen(Steps(1))


def numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def test_it_hears_keys_on_the_device(result):
    for name, value in result.rows():
        print(f"{name}: {value}")
    assert result.differing == 0
    assert len(result.presses) == 40 and len({press.key for press in result.presses}) > 10
    for score in (result.in_float, result.on_device):
        assert score.right >= 37 and score.wrong + score.invented <= 2
    assert abs(result.on_device.right - result.in_float.right) <= 1


def test_the_board_does_what_the_other_one_does(result):
    if result.heard_on_board is None:
        pytest.skip(result.no_board)
    board, other = result.heard_on_board, result.heard
    assert board.simulator != other.simulator
    assert np.array_equal(board.results, other.results)
    assert board.detections == other.detections
    if not board.instructions:
        pytest.skip(f"{board.simulator} does not count instructions")
    assert board.instructions == other.instructions


def test_the_firmware_debounces_as_python_does(result):
    """And reports keys once that are said more than twice."""
    heard = result.heard
    assert heard.detections == keys.detections(heard.results[SAMPLES // HOP :], SAMPLES // HOP)
    said = heard.results.argmax(1)
    assert (said != NOTHING).sum() > 2 * len(heard.detections)


def test_it_meets_its_deadline(result):
    """By the model of cycles, which is one: flash costs more."""
    assert len(result.heard.cycles) == len(result.tape)
    assert result.budget == 1_280_000
    assert max(most for _, most in result.heard.cycles) < 0.2 * result.budget


def test_what_it_takes_is_one_hop_of_samples(result):
    (samples,) = result.report["inputs"]
    assert (samples["dtype"], samples["shape"]) == ("int16", [1, HOP])
    stream = result.report["stream"]
    assert (stream["hop"], stream["window"], stream["warm_up"]) == (HOP, SAMPLES, SAMPLES // HOP)
    main = README.with_name("main.cc").read_text(encoding="utf-8")
    assert f"kWarmUp = {stream['warm_up']};" in main
    assert stream["compared"] > 0


def test_readme_shows_what_it_prints(result):
    """The weights, and with them what is detected, are those of the machine that trains."""
    shown = dict(re.findall(r"^  (\S.*?)  +(\S.*)$", README.read_text(encoding="utf-8"), re.MULTILINE))
    sizes = json.loads(listen.IMAGE.with_suffix(".size.json").read_text(encoding="utf-8"))
    real = any("third_party/cmsis_nn" in part for part in sizes["flash"]["parts"])
    compilers = {version.decode() for version in re.findall(rb"GCC: \([^)]*\) (\d+\.\d+)", listen.IMAGE.read_bytes())}
    for name, value in result.rows():
        if name.startswith("keys detected"):
            assert abs(numbers(shown[name])[0] - numbers(value)[0]) <= 3, name
        elif name.startswith(("instructions", "cycles", "share", "all of the image")):
            if real and compilers == {"12.2"}:
                found, stated = numbers(value), numbers(shown[name])
                assert found == pytest.approx(stated, rel=0.02, abs=1), name
        elif name != "simulator":
            assert shown[name] == value, name


def test_the_page_shows_what_was_heard(result, tmp_path):
    listen.write(result, tmp_path)
    page = (tmp_path / "dial_tones.report.html").read_text(encoding="utf-8")
    assert "<h2>Outputs over time</h2>" in page
    assert np.load(tmp_path / "outputs.npz")["output0"].shape == (len(result.tape), NOTHING + 1)
    samples = np.load(tmp_path / "tape.npz")["samples"]
    assert (samples.dtype, samples.shape) == (np.int16, (len(result.tape), HOP))  # as `cmsisnn run` takes it


@pytest.mark.parametrize("key", range(len(KEYS)))
def test_a_key_sounds_as_its_two_tones(key):
    """The frequencies of ITU-T Q.23, as a spectrum of one second sees them."""
    random = np.random.default_rng(key)
    spectrum = np.abs(np.fft.rfft(tones.pair(random, np.arange(RATE) / RATE, key)))
    groups = spectrum[:1075], spectrum[1075:]
    found = groups[0].argmax(), 1075 + groups[1].argmax()
    row, column = divmod(key, 4)
    assert KEYS[key] == ("123A", "456B", "789C", "*0#D")[row][column]
    expected = (697, 770, 852, 941)[row], (1209, 1336, 1477, 1633)[column]
    assert found == pytest.approx(expected, rel=0.016)


def test_a_tape_has_sounds_that_are_no_keys():
    tape = tones.tape(np.random.default_rng(3), 30)
    energy = np.square(tape.samples.astype(float))
    for press in tape.presses:
        energy[press.start : press.stop] = 0
    assert len(tape.presses) == 30
    assert all(a.stop <= b.start for a, b in zip(tape.presses, tape.presses[1:]))
    assert energy.max() > 1e6


def test_a_key_needs_six_tenths_on_average():
    """As debouncer_test has it of the firmware's."""
    results = np.zeros((2, NOTHING + 1))
    for probabilities, found in (((153, 154), [3]), ((153, 153), []), ((255, 52), [3])):
        results[:, 3] = np.array(probabilities) / 256
        results[:, NOTHING] = 1 - results[:, 3]
        assert [detection.key for detection in keys.detections(keys.as_int8(results), 0)] == found


def test_debouncing_and_its_score():
    said = [NOTHING, 3, NOTHING, 5, 5, 5, NOTHING, NOTHING, 5, 5, 7, 7, NOTHING]
    found = keys.detections(keys.as_int8(np.eye(NOTHING + 1)[said]), 10)
    # What is said once is no key, and what is held is one key.
    assert found == [Detection(15 * HOP, 5), Detection(20 * HOP, 5), Detection(22 * HOP, 7)]
    presses = (Press(13 * HOP, 16 * HOP, 5), Press(18 * HOP, 20 * HOP, 4), Press(40 * HOP, 43 * HOP, 1))
    assert keys.score(found, presses) == Score(1, 1, 1, 1)
