"""Images that simulators run as they are, loaded and controlled through the GDB servers of two of them.

What QEMU and Renode are started with has no image of ours: it comes through the server.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.debugger.error import DebuggerError
from cmsis_nn_delegate.debugger.execution import markers_of
from cmsis_nn_delegate.debugger.image import Image, Segment
from cmsis_nn_delegate.runner import device, device_debugger
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.device_case import assert_right, inputs, payload, write_files
from sim import simulator
from sim.elf import Elf
from sim.qemu import qemu
from sim.renode import renode, repl
from sim.renode.server import RenodeServer


def image_of(core):
    return Path("runtime", f"{core.replace('-', '_')}.elf")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def qemu_server(core, *more):
    """Yields the address of a QEMU with the board of an image, and nothing in its memory."""
    board = simulator.board_of(Elf(image_of(core)))
    known, port = simulator.described(board, "qemu"), free_port()
    try:
        program = qemu.find_qemu()
    except simulator.SimulatorError as error:
        pytest.skip(str(error))
    command = [program, "-machine", known["machine"], *known.get("options", []), "-display", "none", "-monitor", "none"]
    process = subprocess.Popen([*command, "-serial", "none", "-S", "-gdb", f"tcp:127.0.0.1:{port}", *more])
    try:
        wait_for(port, process)
        yield f"gdb://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def wait_for(port, process):
    """Waits until a server listens, without connecting to it: it serves one client."""
    local = f"0100007F:{port:04X}"
    for _ in range(200):
        if any(line.split()[1] == local for line in Path("/proc/net/tcp").read_text().splitlines()[1:]):
            return
        assert process.poll() is None, "the simulator ended"
        time.sleep(0.05)
    pytest.fail("the simulator does not listen")


def compared(core, url, count=3, **options):
    """Runs the network and compares all bytes."""
    arrays = inputs(count)
    run = device.run(payload(core), arrays, url, image_of(core), timeout_s=40, **options)
    assert_right(run.outputs, arrays)
    return run


@pytest.mark.parametrize("core, simulated", [("cortex-m4",) * 2, ("cortex-m55",) * 2, ("cortex-m0plus", "cortex-m0")])
def test_qemu(core, simulated):
    """A second run finds the image there, and the core where the first one left it."""
    with qemu_server(core) as url:
        run = compared(core, url)
        assert compared(core, url, 1).stack_bytes > 0
    assert (run.core, run.info.core, run.simulated) == (simulated, core, True)
    assert re.fullmatch(r"QEMU [\d.]+", run.through) and run.cycles is None
    assert "simulated on a" in run.place and "not cycles" in run.no_cycles


def test_the_command(capsys, tmp_path):
    model = write_files(tmp_path, "cortex-m4")
    np.savez(tmp_path / "x.npz", *inputs(2)[0])
    with qemu_server("cortex-m4") as url:
        arguments = ("run", model, "--inputs", tmp_path / "x.npz", "--on", url, "--compare")
        code = main([*map(str, arguments), "--image", str(image_of("cortex-m4"))])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "\n0 of 29 bytes differ from the integer reference\n" in out
    assert re.search(r"\ncycles: not available: QEMU [\d.]+ simulates instructions, not cycles\n", out)
    assert "simulated on a cortex-m4 by QEMU" in out


def test_batches(monkeypatch):
    """As on a board with a small mailbox: the image starts anew for each."""
    monkeypatch.setattr(device, "_sets_at_once", lambda *_: 2)
    with qemu_server("cortex-m4") as url:
        compared("cortex-m4", url, 5)


def test_renode():
    launcher = renode_launcher()
    elf = Elf(image_of("cortex-m4"))
    server, port = RenodeServer(launcher), free_port()
    try:
        folder = server.new_folder()
        (folder / "board.repl").write_text(repl.describe("cortex-m4", simulator.board_of(elf)), encoding="ascii")
        server.command('mach create "dut"')
        server.command(f"machine LoadPlatformDescription @{folder}/board.repl")
        # Renode halts a core for good that has no program when it starts. This one is an endless loop.
        for address, word in enumerate((0x20001000, 0x9, 0xE7FEE7FE)):
            server.command(f"sysbus WriteDoubleWord {4 * address} {word}")
        server.command(f"machine StartGdbServer {port} true")
        run = compared("cortex-m4", f"gdb://127.0.0.1:{port}", 1)
    finally:
        server.close()
    # Its counter, which the core would show, counts instructions.
    assert run.through.startswith("Renode ") and run.simulated and run.cycles is None


def renode_launcher():
    try:
        launcher = renode.find_renode()
    except simulator.SimulatorError as error:
        pytest.skip(str(error))
    return launcher


def test_another_core():
    with qemu_server("cortex-m4") as url:
        with pytest.raises(DebuggerError, match="the board has a cortex-m4, and .* is for cortex-m55"):
            device.run(payload("cortex-m55"), inputs(1), url, image_of("cortex-m55"))


def test_another_instruction_set():
    """Is refused before anything is connected."""
    with pytest.raises(
        UserError, match="is for cores with the instruction set mve, and .* for cortex-m4, which has dsp"
    ):
        device.run(payload("cortex-m55"), inputs(1), "gdb://127.0.0.1:1", image_of("cortex-m4"))


def test_a_payload_that_the_image_refuses(monkeypatch):
    """For a reason that is not known before."""
    monkeypatch.setattr(device_debugger, "check_isa", lambda *_: None)
    with qemu_server("cortex-m4") as url:
        with pytest.raises(UserError, match="init.. refused the payload: payload made for another format.*; build "):
            device.run(payload("cortex-m55"), inputs(1), url, image_of("cortex-m4"))


class Faulty(Image):
    """An image whose code has an instruction that no core has, where an inference begins."""

    def __init__(self, path):
        super().__init__(path)
        begin, _ = markers_of(self)
        ((start, code),) = (s for s in self.segments if s.address <= begin < s.address + len(s.data))
        at = begin + 2 - start
        self.segments = [Segment(start, code[:at] + b"\x00\xde" + code[at + 2 :])]


def test_a_fault(monkeypatch):
    """The core is then in an exception, and QEMU has no command of OpenOCD's that would end that."""
    with qemu_server("cortex-m4") as url:
        monkeypatch.setattr(device_debugger, "Image", Faulty)
        with pytest.raises(UserError, match=r"exit code 111, after a fault at .* in .*7execute.*cfsr=00010000"):
            compared("cortex-m4", url, 1)
        with pytest.raises(DebuggerError, match="the core is in its exception .*: reset the board, or start the"):
            compared("cortex-m4", url, 1)


def test_a_simulator_is_no_board():
    with qemu_server("cortex-m4") as url:
        with pytest.raises(UserError, match="is QEMU .*, a simulator, and no NUCLEO-H743ZI: leave out --board-name"):
            compared("cortex-m4", url, 1, board="NUCLEO-H743ZI")
