"""Images answer the runner's commands, and compute what the reference does of what it sends."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
import serial

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.files import serialize
from examples.mlperf_tiny.device.models import BENCHMARKS
from examples.mlperf_tiny.device.runner_port import Port
from examples.mlperf_tiny.device.simulate import port_of
from sim.elf import Elf
from sim.simulator import SimulatorError

FOLDER = Path(__file__).parent
BYTES_OF_A_COMMAND = 31  # as the runner sends them
ISAS = {"cortex_m4": "dsp", "cortex_m55": "mve"}
IMAGES = [("kws01", "cortex_m4"), ("ad01", "cortex_m4"), ("ic01", "cortex_m55")]


class Device(Port):
    """The port of an image."""

    def send(self, data: bytes) -> None:
        assert self.ask(f"db load {len(data)}") == [f"m-[Expecting {len(data)} bytes]"]
        parts = [data[at : at + BYTES_OF_A_COMMAND] for at in range(0, len(data), BYTES_OF_A_COMMAND)]
        answers = [line for part in parts for line in self.ask(f"db {part.hex()}")]
        assert answers == ["m-load-done"]


@contextlib.contextmanager
def device_of(name: str, core: str):
    try:
        with port_of(FOLDER / f"{name}_{core}.elf") as path, serial.Serial(path, timeout=20) as port:
            device = Device(port)
            device.synchronize()
            yield device
    except SimulatorError as error:
        pytest.skip(str(error))


def expected(name: str, core: str, sent: np.ndarray) -> list[str]:
    """Returns the results of the reference for one input, as the device prints them."""
    graph, _ = serialize.loads((FOLDER / ISAS[core] / f"{name}.graph.npz").read_bytes())
    real = BENCHMARKS[name].taken(sent[None])
    (x,), (y,) = graph.inputs, graph.outputs
    steps = real / np.float32(x.quant.scale[0])
    q = np.trunc(steps + np.copysign(np.float32(0.5), steps)) + x.quant.zero_point
    (output,) = reference.run(graph, [q.clip(-128, 127).astype(np.int8)])
    results = np.float32(y.quant.scale[0]) * (output.astype(np.int32) - y.quant.zero_point).astype(np.float32)
    results = results.reshape(-1)
    if name == "ad01":
        total = np.float32(0)
        for difference in real.reshape(-1) - results:
            total = total + difference * difference
        results = np.array([total / np.float32(len(results))])
    thousandths = (results * np.float32(1000) + np.float32(0.5)).astype(np.int64)
    return [f"{number // 1000}.{number % 1000:03}" for number in thousandths]


@pytest.mark.parametrize("name, core", IMAGES)
def test_results_are_those_of_the_reference(name, core):
    with device_of(name, core) as device:
        assert device.ask("name") == ["m-name-dut-[cmsis_nn_delegate]"]
        assert device.ask("profile") == ["m-profile-[ULPMark for tinyML Firmware V0.0.1]", f"m-model-[{name}]"]
        for sent in BENCHMARKS[name].sent()[:3]:
            device.send(sent.tobytes())
            lines = device.ask("infer 2 1")
            assert [re.sub(r"lap-us-\d+", "lap-us", line) for line in lines] == [
                "m-warmup-start-1",
                "m-warmup-done",
                "m-infer-start-2",
                "m-lap-us",
                "m-lap-us",
                "m-infer-done",
                f"m-results-[{','.join(expected(name, core, sent))}]",
            ]
            assert device.ask("results") == lines[-1:]


def test_a_microsecond_is_a_thousand_instructions():
    """As QEMU counts, whatever the clock of the board is."""
    report = json.loads((FOLDER / "dsp/kws01.report.json").read_text(encoding="utf-8"))
    with device_of("kws01", "cortex_m4") as device:
        device.send(BENCHMARKS["kws01"].sent()[0].tobytes())
        lines = device.ask("infer 10 0")
        begin, end = (int(line.removeprefix("m-lap-us-")) for line in lines if line.startswith("m-lap-us-"))
    assert (end - begin) / 10 == pytest.approx(report["prediction"]["instructions"] / 1000, rel=0.05)


def test_the_image_for_the_board_of_the_reference_submission():
    elf = Elf(FOLDER / "kws01_image_nucleo_l4r5zi.elf")
    assert elf.string("bsp_board") == "nucleo-l4r5zi" and elf.address("main") >= 0x08000000


def test_wrong_commands_are_answered_and_lose_nothing():
    sent = BENCHMARKS["kws01"].sent()[0]
    with device_of("kws01", "cortex_m4") as device:
        device.send(sent.tobytes())
        for command, answer in {
            "nothing": "e-[Unknown command: nothing]",
            "db": "e-[Command 'db' requires a subcommand]",
            "db load": "e-[Command 'db load' requires the # of bytes]",
            "db load 0": "e-[Command 'db load' requires the # of bytes]",
            "db load 27649": "e-[Supplied buffer size 27649 exceeds maximum of 27648]",
            "db 0": "e-[Insufficient number of hex digits]",
            "infer 0": "e-[Inference iterations must be >0]",
            "infer 1 x": "e-[Inference warmup must be >=0]",
            "x" * 2000: f"e-[Unknown command: {'x' * 1028}]",
        }.items():
            assert device.ask(command) == [answer]
        assert device.ask("db print")[0] == f"m-buffer-{sent.tobytes()[:8].hex('-')}"
        assert device.ask("infer 1 0")[-1] == f"m-results-[{','.join(expected('kws01', 'cortex_m4', sent))}]"
        device.ask("db load 4")
        assert device.ask("db 0g") == ["e-[Invalid hex digit '0g']"]
        device.send(bytes(4))
        lines = device.ask("infer 1 0")
        assert lines[0] == "e-[the input has 4 bytes, 490 are needed]"
        assert not any(line.startswith("m-results") for line in lines)
