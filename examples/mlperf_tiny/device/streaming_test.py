"""The image of streaming wake word hears what the integer reference does, and tells the runner and the board."""

from __future__ import annotations

import contextlib
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import serial
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.files import serialize
from examples.mlperf_tiny.device import interface_board, listener, words, write_data
from examples.mlperf_tiny.device.interface_board import InterfaceBoard, Wires
from examples.mlperf_tiny.device.listener import FRAME, HOP, RATE, SAMPLES, WAKE, WARM_UP
from examples.mlperf_tiny.device.runner_port import Port
from examples.mlperf_tiny.device.simulate import ports_with_interface_board
from sim.simulator import SimulatorError

FOLDER = Path(__file__).parent
IMAGE = FOLDER / "sww01_cortex_m4.elf"
THRESHOLD = 115  # as of listening.cc
AFTER_S = 2  # so long after a word the runner takes a detection for one of it
HOP_US = HOP * 1_000_000 // RATE


class Reference:
    """The integer reference, hop by hop."""

    def __init__(self) -> None:
        self._graph, _ = serialize.loads((FOLDER / "dsp/sww01.graph.npz").read_bytes())
        self.reset()

    def reset(self) -> None:
        self._states = reference.initial_states(self._graph)

    def __call__(self, hop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the results of the classes, and the features."""
        probabilities, features = reference.run(self._graph, [hop[None]], states=self._states)
        return probabilities.reshape(-1), features.reshape(-1)


@pytest.fixture(scope="module")
def tape() -> words.Tape:
    return words.tape(np.random.default_rng(5), 3, long_pauses=True)


@pytest.fixture(scope="module")
def ports(tape, tmp_path_factory):
    """The device, and the interface board, which has the tape."""
    card = tmp_path_factory.mktemp("card")
    write_data.write_tape(tape, card, "tape")
    with contextlib.ExitStack() as stack:
        try:
            paths = stack.enter_context(ports_with_interface_board(IMAGE, card))
        except SimulatorError as error:
            pytest.skip(str(error))
        device, board = (Port(stack.enter_context(serial.Serial(path, timeout=30))) for path in paths)
        device.synchronize()
        yield device, board


def numbers(lines: list[str], name: str) -> list[int]:
    """Returns the numbers in the brackets that follow `name`."""
    found = re.search(re.escape(name) + r"\s*\[([^\]]*)\]", " ".join(lines))
    assert found, lines
    return [int(number) for number in found[1].split(",")]


def times(lines: list[str]) -> list[int]:
    return [int(number) for line in lines for number in line.replace(" ", "").split(",") if number]


def test_who_it_is(ports):
    device, board = ports
    assert device.ask("name") == ["Received command: name", "m-name-dut-[cmsis_nn_delegate]"]
    assert device.ask("profile")[1:] == ["m-profile-[ULPMark for tinyML Firmware V0.0.1]", "m-model-[sww01]"]
    assert device.ask("infer 1")[1:] == ["e-[Unknown command: infer]"]
    assert board.ask("setbaud 115200") == ["set baud to: 115200"]
    assert board.ask("ls") == ["tape.json", "tape.wav"]
    assert board.ask("play nothing.wav")[0].startswith("e-[nothing.wav cannot be played: ")


def test_it_hears_what_the_reference_hears(ports, tape):
    """As the runner has it, twice: the second time begins anew."""
    device, board = ports
    expected = Reference()
    hops = tape.samples[: len(tape.samples) // HOP * HOP].reshape(-1, HOP)
    results = [int(expected(hop)[0][WAKE]) for hop in hops]
    detected = [i for i, result in enumerate(results) if i == 0 or (i >= WARM_UP and result > THRESHOLD)]
    for _ in range(2):
        assert device.ask("stop")[1:] == ["m-[not listening]"]
        assert device.ask("start")[1:] == ["m-[listening]"]
        assert device.ask("start")[1:] == ["m-[listening already]"]
        assert board.ask("record_detections") == ["recording detections"]
        assert board.ask("play tape.wav") == ["played tape.wav"]
        said = device.ask("stop")
        assert numbers(said, "target activations:") == results
        title, *found = board.ask("print_detections")
        assert title == "Detection Timestamps (ms)"
        begins = [(500_000 + (i + 1) * HOP_US) // 1000 for i in detected]
        # A pulse comes when the device has computed, which takes less than a millisecond here.
        assert np.isin(np.array(times(found)) - begins, (0, 1)).all()
        _check_duty_cycle(board.ask("print_dutycycle"), len(hops))
        seconds = (np.array(times(found)[1:]) - times(found)[0]) / 1000
        heard = [(w.start / RATE <= seconds) & (seconds <= w.stop / RATE + AFTER_S) for w in tape.words if w.wakes]
        assert all(some.any() for some in heard) and np.any(heard, 0).all()


def _check_duty_cycle(said: list[str], count: int) -> None:
    second = said.index("Duty cycle stop times (s)")
    assert said[0] == "Duty cycle start times (s)"
    begins, ends = np.array(times(said[1:second])), np.array(times(said[second + 1 :]))
    assert (len(begins), len(ends)) == (count, count)
    assert set(np.diff(begins)) == {HOP_US // 10}
    # In QEMU a microsecond is a thousand instructions.
    report = json.loads((FOLDER / "dsp/sww01.report.json").read_text(encoding="utf-8"))
    assert 10_000 * (ends - begins).mean() == pytest.approx(report["prediction"]["instructions"], rel=0.06)


def test_features_and_results_of_samples_that_are_sent(ports, tape):
    """As the benchmark's script that compares features has it: 512 bytes in a command."""
    device, _ = ports
    expected = Reference()
    at = tape.words[0].start
    for hop in tape.samples[at : at + 4 * HOP].reshape(-1, HOP):
        data = hop.astype("<i2").tobytes()
        assert device.ask(f"db load {len(data)}")[1:] == [f"m-[Expecting {len(data)} bytes]"]
        assert device.ask(f"db {data[:512].hex()}")[1:] == ["512 bytes received"]
        assert device.ask(f"db {data[512:].hex()}")[1:] == ["m-load-done"]
        said = device.ask("extract_uart_stream")
        probabilities, features = expected(hop)
        assert numbers(said, "m-features-") == features.tolist()
        assert numbers(said, "m-activations-") == probabilities.tolist()
    device.ask("db load 4")
    device.ask("db 00000000")
    assert device.ask("extract_uart_stream")[1:] == ["e-[the samples have 4 bytes, 1024 are needed]"]
    device.ask("start")
    assert device.ask("extract_uart_stream")[1:] == ["e-[it listens: stop that first]"]
    device.ask("stop")


def test_the_network_hears_nearly_all_made_words():
    """In float, on a tape that it was not trained with; these weights are those of the machine that trains."""
    tape = words.tape(np.random.default_rng(2), 25, long_pauses=True)
    module = listener.listener()
    with torch.no_grad():
        frames = module.frames(listener.as_float(tape.samples)[None])[0]
        wake = module.network(frames.unfold(0, listener.FRAMES, 1).contiguous())[:, WAKE].numpy()
    ends = (np.nonzero(wake > (THRESHOLD + 128) / 256)[0] * HOP + SAMPLES) / RATE
    heard = np.array(
        [(w.start / RATE <= ends) & (ends <= w.stop / RATE + AFTER_S) for w in tape.words if w.wakes], bool
    )
    assert heard.any(1).sum() >= 23
    assert (~heard.any(0)).sum() <= 2


def test_features_are_those_of_the_benchmark():
    """By the formulas of its reference, in float64, where they are not limited."""
    samples = words.tape(np.random.default_rng(6), 1).samples[: SAMPLES + 7 * HOP] / 32768
    emphasized = samples[1:] - (1 - 2**-5) * samples[:-1]
    frames = np.lib.stride_tricks.sliding_window_view(emphasized, FRAME)[::HOP] * np.hamming(FRAME)
    power = np.abs(np.fft.rfft(frames)) ** 2 / FRAME
    mel = 1127 * np.log1p(np.arange(FRAME // 2 + 1) * RATE / FRAME / 700)
    edges = np.linspace(0, 1127 * math.log1p(RATE / 2 / 700), listener.BANDS + 2)
    rising = (mel[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mel[:, None]) / (edges[2:] - edges[1:-1])
    bank = np.maximum(0, np.minimum(rising, falling))
    bank[0] = 0  # TensorFlow's has no bin at 0 Hz
    expected = ((10 * np.log10(power @ bank + 1e-30) + 52) / 64).clip(0, 1)
    with torch.no_grad():
        module = listener.Listener(torch.nn.Identity())
        found = module.frames(torch.from_numpy(samples[None].astype(np.float32)))[0].numpy()
    assert expected.max() > 0.5
    assert np.abs(found - expected).max() < 0.004  # less than a step of 8 bits: the floor at silence


def test_windows_are_of_the_class_of_what_is_in_them_as_a_whole():
    second = RATE
    tape = words.Tape(
        np.zeros(9 * second, np.int16),
        (words.Word(2 * second, 2 * second + HOP, False), words.Word(5 * second, 5 * second + HOP, True)),
    )
    classes = listener._classes(tape, (len(tape.samples) - SAMPLES) // HOP)
    starts = np.arange(len(classes)) * HOP
    of = {c: starts[classes == c] for c in (-1, *range(3))}
    assert (of[listener.OTHER].min() + SAMPLES > 2 * second) and of[listener.OTHER].max() < 2 * second + HOP
    assert (of[WAKE].min() + SAMPLES >= 5 * second + HOP) and of[WAKE].max() <= 5 * second
    assert len(of[-1]) in (1, 2, 3) and len(of[listener.SILENCE]) > 100


def test_folded_batch_norm_computes_the_same(tmp_path):
    network = listener.STREAMING_WAKEWORD.random()
    np.savez(tmp_path / listener.STREAMING_WAKEWORD.weights, **listener._folded(network))
    x = torch.rand(3, 40, 30)
    with torch.no_grad():
        assert torch.allclose(listener.STREAMING_WAKEWORD.trained(tmp_path)(x), network(x), atol=1e-5)


def test_a_board_whose_image_does_not_listen_goes_on(tape, tmp_path, monkeypatch):
    """And times a device whose clock wraps around."""
    monkeypatch.setattr(interface_board, "_QUIET_S", 0.05)
    write_data.write_tape(tape, tmp_path, "tape")
    memory = bytearray(16 + interface_board._SHARED.itemsize)
    wires = Wires(memory, 16)
    board = InterfaceBoard(wires, tmp_path)
    assert board.answer("play tape.wav") == ["played tape.wav"]
    assert board.answer("print_detections") == ["Detection Timestamps (ms)"]
    shared = np.frombuffer(memory, interface_board._SHARED, 1, 16)[0]
    assert shared["sent"] == 8192 and (shared["samples"] == tape.samples[:8192]).all()
    for i, (what, microseconds) in enumerate([(3, 2**32 - 1000), (1, 1000), (0, 1001), (2, 2000)]):
        shared["edge"][i] = (what, microseconds)
    shared["edges"] = 4
    board._playing = True
    board._look()
    assert board.answer("print_detections")[1:] == [f"{(500_000 + HOP_US + 2000) // 1000},"]
    assert board.answer("print_dutycycle")[3:] == [f"{(500_000 + HOP_US + 3000) // 10}, "]
    assert board.answer("dut name")[0].startswith("e-[")
