"""Images with a runner, controlled over a pseudo terminal whose bytes get lost and changed on their way to QEMU."""

from __future__ import annotations

import contextlib
import os
import random
import re
import select
import socket
import subprocess
import threading
import tty
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.ops.attrs import Clamp, Padding
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.runner import device, device_serial
from cmsis_nn_delegate.serial_line import runner
from cmsis_nn_delegate.serial_line.runner import SerialError, SerialRunner
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from sim import simulator
from sim.elf import Elf
from sim.qemu import qemu


def network():
    builder = GraphBuilder()
    image = builder.input(1, 3, 8, 8)
    x = builder.conv2d(image, 6, (3, 3), (1, 1), Padding(1, 1, 1, 1), clamp=Clamp(0.0))
    x = builder.avg_pool2d(x, (4, 4))
    return builder.graph(x, builder.softmax(builder.fully_connected(x, 5)))


GRAPH = network()


def payload(core):
    return encode(GRAPH, get_target(core)).payload


def inputs(count):
    generator = np.random.default_rng(0)
    return [[generator.integers(-128, 128, v.shape).astype(np.int8) for v in GRAPH.inputs] for _ in range(count)]


class Line:
    """A pseudo terminal for the client, and QEMU's UART; of the bytes between them, a share `errors` is lost, changed
    or doubled, in both directions. `cut` loses all."""

    def __init__(self, core, errors=0.0):
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self._slave = slave  # open, or the master would see an end whenever the client closes it
        self.url = f"serial://{os.ttyname(slave)}"
        self._errors, self._random = errors, random.Random(1)
        self.cut = False
        self.hurt = 0
        image = Path("runtime", f"{core.replace('-', '_')}_serial.elf")
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
def line_of(core, errors=0.0):
    line = Line(core, errors)
    try:
        yield line
    finally:
        line.close()


def compared(core, url, count=3, **options):
    arrays = inputs(count)
    run = device.run(payload(core), arrays, url, timeout_s=30, **options)
    for found, sample in zip(run.outputs, arrays, strict=True):
        for array, expected in zip(found, reference.run(GRAPH, sample), strict=True):
            assert array.dtype == expected.dtype and array.tobytes() == expected.tobytes()
    return run


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
def test_a_good_line(core):
    """A second job finds the board ready, after its reset."""
    said = []
    with line_of(core) as line:
        run = compared(core, line.url)
        assert compared(core, line.url, 1, progress=said.append).stack_bytes > 0
    assert run.info.core == core and run.through == "a serial line"
    # QEMU would count instructions, and nobody says that this is a board.
    assert run.cycles is None and "--board-name" in run.no_cycles
    assert not [text for text in said if "damaged" in text]


def test_a_bad_line():
    """One byte of 400 does not come as it was sent: of the longest frames, one in thirteen comes whole."""
    said = []
    with line_of("cortex-m4", errors=1 / 400) as line:
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
    """Counts the requests to write."""

    writes = 0

    def _ask_once(self, kind, *rest):
        self.writes += kind == "w"
        return super()._ask_once(kind, *rest)


def test_a_job_that_is_there_is_not_sent_again():
    """Only what differs: the board's memory outlives its reset."""
    job = random.Random(0).randbytes(20_000)
    with line_of("cortex-m4") as line:
        writes = []
        for changed in (job, job, job[:9000] + b"!" + job[9001:]):
            with Counting(line.url) as board:
                board.load(changed)
                writes.append(board.writes)
    assert writes == [24, 0, 5]


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


def test_no_such_port():
    with pytest.raises(UserError, match="/dev/no_port cannot be opened: .*serial.tools.list_ports"):
        device.run(payload("cortex-m4"), inputs(1), "serial:///dev/no_port")
