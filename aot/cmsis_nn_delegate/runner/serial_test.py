"""Images with a runner, controlled over a pseudo terminal whose bytes get lost and changed on their way to QEMU."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import select
import socket
import struct
import subprocess
import threading
import tty
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.runner import device, device_serial, profile, profile_text
from cmsis_nn_delegate.serial_line import runner
from cmsis_nn_delegate.serial_line.runner import SerialError, SerialRunner
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.device_case import assert_right, inputs, payload, write_files
from sim import simulator
from sim.elf import Elf
from sim.qemu import qemu


class Line:
    """A pseudo terminal for the client, and QEMU's UART; of the bytes between them, a share `errors` is lost, changed
    or doubled, in both directions. `cut` loses all."""

    def __init__(self, core, errors=0.0, image=None):
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self._slave = slave  # open, or the master would see an end whenever the client closes it
        self.url = f"serial://{os.ttyname(slave)}"
        self._errors, self._random = errors, random.Random(1)
        self.cut = False
        self.hurt = 0
        image = Path("runtime", f"{image or core.replace('-', '_') + '_serial'}.elf")
        known = simulator.described(simulator.board_of(Elf(image)), "qemu")
        try:
            program = qemu.find_qemu()
        except simulator.SimulatorError as error:
            pytest.skip(str(error))
        ours, theirs = socket.socketpair()
        command = [program, "-machine", known["machine"], *known.get("options", []), "-display", "none"]
        command += ["-monitor", "none", "-chardev", f"socket,id=line,fd={theirs.fileno()}", "-serial", "chardev:line"]
        self._uart = ours
        self._process = subprocess.Popen([*command, "-kernel", str(image)], pass_fds=[theirs.fileno()])
        theirs.close()
        self._end, self._ended = os.pipe()
        self._thread = threading.Thread(target=self._relay)
        self._thread.start()

    def close(self):
        self._process.kill()
        self._process.wait()
        os.write(self._ended, b"x")
        self._thread.join()
        self._uart.close()
        for descriptor in (self._master, self._slave, self._end, self._ended):
            os.close(descriptor)

    def _relay(self):
        while True:
            ready, _, _ = select.select([self._master, self._uart, self._end], [], [])
            if self._end in ready:
                return
            if self._master in ready:
                self._uart.sendall(self._damaged(os.read(self._master, 4096)))
            if self._uart in ready:
                try:
                    received = self._uart.recv(4096)
                except ConnectionResetError:  # QEMU has ended
                    received = b""
                if not received:
                    return
                os.write(self._master, self._damaged(received))

    def _damaged(self, data):
        if self.cut:
            return b""
        result = bytearray()
        for byte in data:
            if self._random.random() < self._errors:
                self.hurt += 1
                result += self._random.choice((b"", bytes([byte ^ 1 << self._random.randrange(8)]), bytes([byte] * 2)))
            else:
                result.append(byte)
        return bytes(result)


@contextlib.contextmanager
def line_of(core, *more):
    line = Line(core, *more)
    try:
        yield line
    finally:
        line.close()


def compared(core, url, count=3, **options):
    arrays = inputs(count)
    run = device.run(payload(core), arrays, url, timeout_s=30, **options)
    assert_right(run.outputs, arrays)
    return run


@pytest.mark.parametrize(
    "core, image",
    [
        ("cortex-m0plus", None),
        ("cortex-m4", None),
        ("cortex-m4", "serial_image_stm32f4_discovery_runner"),
        ("cortex-m55", None),
    ],
)
def test_a_good_line(core, image):
    """A second job finds the board ready, after its reset."""
    said = []
    with line_of(core, 0.0, image) as line:
        run = compared(core, line.url)
        assert compared(core, line.url, 1, progress=said.append).stack_bytes > 0
    assert run.info.core == core and run.through == "a serial line"
    # QEMU would count instructions, and nobody says that this is a board.
    assert run.cycles is None and "--board-name" in run.no_cycles
    assert not [text for text in said if "damaged" in text]


def test_a_bad_line():
    """One byte of 400 does not come as it was sent: of the longest frames, one in thirteen comes whole."""
    said = []
    with line_of("cortex-m4", 1 / 400) as line:
        compared("cortex-m4", line.url, 5, progress=said.append)
        assert line.hurt > 10
    (text,) = [text for text in said if text.startswith("the line: ")]
    damaged, repeated = (int(n) for n in re.findall(r"\d+", text))
    assert damaged > 0 and repeated > 0


def test_cycles_of_a_named_board():
    with line_of("cortex-m4") as line:
        run = compared("cortex-m4", line.url, 2, board="mine at 80 MHz")
    assert len(run.cycles) == 2 and min(run.cycles) > 1000
    assert run.place == "mine at 80 MHz with a cortex-m4, through a serial line"


class Counting(SerialRunner):
    """Notes the blocks of which something is written."""

    def __init__(self, url):
        self.blocks = set()
        super().__init__(url)

    def _ask_once(self, kind, data, *rest):
        if kind == "w":
            self.blocks.add(struct.unpack_from("<I", data)[0] // 4096)
        return super()._ask_once(kind, data, *rest)


def test_a_job_that_is_there_is_not_sent_again():
    """Only what differs: the board's memory outlives its reset."""
    job = random.Random(0).randbytes(20_000)
    with line_of("cortex-m4") as line:
        written = []
        for changed in (job, job, job[:9000] + b"!" + job[9001:]):
            with Counting(line.url) as board:
                board.load(changed)
                written.append(board.blocks)
    assert written == [set(range(5)), set(), {2}]


def test_going_on_after_the_client_went_away(monkeypatch):
    """In the middle of a report: the next client ends that run."""
    with line_of("cortex-m4") as line:
        receive, seen = SerialRunner._receive, []

        def interrupted(self, wait_s):
            frame = receive(self, wait_s)
            if frame is not None and frame.kind == "R":
                seen.append(frame)
                raise KeyboardInterrupt
            return frame

        with monkeypatch.context() as patched:
            patched.setattr(SerialRunner, "_receive", interrupted)
            with pytest.raises(KeyboardInterrupt):
                compared("cortex-m4", line.url, 1)
        assert seen
        compared("cortex-m4", line.url, 1)


def test_a_line_that_is_cut(monkeypatch):
    monkeypatch.setattr(runner, "_ANSWER_S", 1.0)
    with line_of("cortex-m4") as line:
        line.cut = True
        with pytest.raises(SerialError, match="no runner answers at serial:///dev/pts/.*: write its image"):
            compared("cortex-m4", line.url, 1)


def test_what_does_not_fit(monkeypatch):
    with line_of("cortex-m4") as line:
        with pytest.raises(
            UserError, match="instruction set mve, and the runner of mps2-an386 is for cortex-m4, which"
        ):
            device.run(payload("cortex-m55"), inputs(1), line.url)
        with pytest.raises(UserError, match="is on the board already: leave out --image"):
            device.run(payload("cortex-m4"), inputs(1), line.url, "runner.elf")
        with monkeypatch.context() as patched, pytest.raises(UserError, match="init.. refused the payload: .*; build "):
            patched.setattr(device_serial, "check_isa", lambda *_: None)
            device.run(payload("cortex-m55"), inputs(1), line.url)
        compared("cortex-m4", line.url, 1)


# Cycles of calls -------------------------------------------------------------


@pytest.fixture
def compiled(tmp_path):
    """The files of a model that the command reads."""
    return write_files(tmp_path, "cortex-m4")


def profiled(capsys, compiled, *more):
    image = Path("runtime/cortex_m4_profile.elf")
    code = main(["profile", *map(str, (compiled, "--image", image, "--board-name", "a stand-in at 25 MHz", *more))])
    return code, *capsys.readouterr()


def test_an_image_is_written_first(capsys, compiled, tmp_path, monkeypatch):
    tool, written = tmp_path / "pyocd", tmp_path / "written"
    tool.write_text(f'#!/bin/sh\necho "$@" > {written}\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (sample,) = zip(*inputs(2))
    np.savez(tmp_path / "x.npz", np.concatenate(sample))
    command = ["run", str(compiled), "--inputs", str(tmp_path / "x.npz"), "--compare"]
    image = Path("runtime/cortex_m4_serial.elf")
    with line_of("cortex-m4") as line:
        assert main([*command, "--on", line.url, "--image", str(image), "--flash", "pyocd:chip"]) == 0
        assert written.read_text() == f"flash --target chip {image.absolute()}\n"
        assert "writing cortex_m4_serial.elf to the board with pyocd" in capsys.readouterr().out
        for wrong in (["--image", str(image)], ["--flash", "pyocd:chip"]):
            assert main([*command, "--on", line.url, *wrong]) == 2
            assert "--image is what --flash writes to the board: give both" in capsys.readouterr().err


def test_accuracy_on_a_board(capsys, tmp_path):
    (tmp_path / "m.py").write_text(
        "import torch\n"
        "def net():\n"
        "    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval(), (torch.randn(1, 8),)\n"
    )
    np.savez(tmp_path / "x.npz", np.random.default_rng(0).standard_normal((20, 8), np.float32))
    command = ["accuracy", f"{tmp_path}/m.py:net", "--data", f"{tmp_path}/x.npz", "--calibration", f"{tmp_path}/x.npz"]
    with line_of("cortex-m4") as line:
        on = ["--target", "cortex-m4", "--on", line.url, "--board-name", "mine at 80 MHz"]
        assert main([*command, *on]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"^device .* mine at 80 MHz with a cortex-m4, through a serial line, kernels \S+$", out, re.MULTILINE
    )
    assert main([*command, "--board-name", "mine"]) == 2
    assert "--board-name is for --on gdb://HOST:PORT or serial://PORT" in capsys.readouterr().err


def test_cycles_of_calls(capsys, compiled):
    """QEMU stands in for a board here: its ticks follow no instruction exactly, and only their sums are looked at."""
    with line_of("cortex-m4", 0.0, "cortex_m4_serial_profile") as line:
        code, out, err = profiled(capsys, compiled, "--on", line.url, "--json")
        assert code == 0, err
        document = json.loads(out)
    measured = document["measured"]
    assert len(measured["calls"]) == len(document["calls"]) == 4
    assert measured["executor"] + sum(measured["calls"]) == measured["inference"] > 0
    path = compiled.with_suffix(".profile.json")
    path.write_text(out)
    _, counted, on_board = profile.load(path)
    assert profile.read(path, json.loads(compiled.with_suffix(".report.json").read_text()))["measured"] == measured
    text = profile_text.render(counted, on_board)
    assert "Measured cycles: a stand-in at 25 MHz, a cortex-m4 with the kernels tuned" in text
    assert len(re.findall(r"^call .* measured cycles +per multiplication$", text, re.MULTILINE)) == 1
    for call, cycles in zip(counted.calls, measured["calls"], strict=True):
        assert re.search(rf"^ *{call.index}  {call.kernel} .* {cycles:,}\b", text, re.MULTILINE)
    for field, value, message in (("calls", [1, 2], "are not the inference"), ("date", "today", "is impossible")):
        path.write_text(json.dumps({**document, "measured": {**measured, field: value}}))
        with pytest.raises(UserError, match=f"measured:.*{message}.*write one with"):
            profile.load(path)


def test_an_image_that_marks_no_calls(capsys, compiled):
    with line_of("cortex-m4") as line:
        code, _, err = profiled(capsys, compiled, "--on", line.url)
    assert code == 2 and "timed 0 calls, the payload has 4: link it with //runtime/runner/standalone:stand" in err


@pytest.mark.parametrize(
    "options, message",
    [
        (["--on", "simulator"], "'simulator' is no board: give gdb://HOST:PORT or serial://PORT"),
        ([], "--board-name is for a board: say with --on where it is"),
        (
            ["--on", "gdb://localhost:1"],
            "--on gdb://HOST:PORT needs --board-image, and --on serial://PORT, whose image",
        ),
        (["--on", "serial:///dev/tty", "--board-name", ""], "--on needs --board-name, with the clock of its core"),
    ],
)
def test_options_of_a_board(capsys, compiled, options, message):
    try:
        code, _, err = profiled(capsys, compiled, *options)
    except SystemExit as end:
        code, err = end.code, capsys.readouterr().err
    assert code == 2 and message in err


def test_no_such_port():
    with pytest.raises(UserError, match="/dev/no_port cannot be opened: .*serial.tools.list_ports"):
        device.run(payload("cortex-m4"), inputs(1), "serial:///dev/no_port")
