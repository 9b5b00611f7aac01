"""Tests of QEMU only: how it is found, its plugin, its options. sim/driver_test.py tests the rest."""

import contextlib
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import pytest

from sim import simulator
from sim.elf import Elf
from sim.qemu import qemu

IMAGE = pathlib.Path("platforms/bsp/selftest/cortex_m4.elf")


def test_falls_back_without_a_usable_plugin(tmp_path):
    """If QEMU refuses the plugin, the run is repeated without it, and the result says so."""
    broken = tmp_path / "plugin.so"
    broken.write_text("not a shared object")
    driver = qemu.Qemu(qemu.find_qemu(), plugin=broken)
    elf = Elf(IMAGE)
    ends_with_9 = struct.pack("<4sIII", b"TEST", 1, 9, 0)
    for _ in range(2):
        result = driver.run(elf, simulator.board_of(elf), ends_with_9, 60, count=True)
        assert (result.status, result.exit_code) == ("exit", 9), result.explain()
        assert (result.counter, result.regions) == ("systick", None)
        assert "does not load the plugin" in result.counter_note


def test_missing_qemu(monkeypatch, tmp_path):
    monkeypatch.setenv("QEMU_SYSTEM_ARM", str(tmp_path / "absent"))
    with pytest.raises(simulator.SimulatorError, match="qemu-system-arm was not found"):
        simulator.run(IMAGE)


def test_paths_with_commas_are_quoted(tmp_path):
    folder = tmp_path / "a,b"
    folder.mkdir()
    job = folder / "job"
    job.write_bytes(b"12")
    elf = Elf(IMAGE)
    arguments = qemu.machine_arguments(elf, simulator.board_of(elf), str(job))
    assert f"loader,file={str(job).replace(',', ',,')},addr=0x21000000,force-raw=on" in arguments


def processes_with(text):
    """Returns the commands of running processes that have `text` in an argument."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            command = path.read_bytes().split(b"\0")
            if any(text.encode() in argument for argument in command):
                found.append(command)
    return found


def comes(condition):
    """Returns whether the condition becomes true within a minute."""
    for _ in range(1200):
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_qemu_ends_with_whoever_started_it(tmp_path, end):
    """Its folder is also removed: at once or, if no process is left to remove it, before the next run."""
    if end == signal.SIGKILL and not qemu._ending_with_this():
        pytest.skip("this needs setpriv from util-linux 2.33 or later")
    hang = struct.pack("<4sIII", b"TEST", 5, 0, 0)
    code = f"from sim import simulator; simulator.run({str(IMAGE)!r}, job={hang!r}, timeout_s=600)"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), TEST_TMPDIR=str(tmp_path))
    user = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL)

    def runs():
        return processes_with(f"path={tmp_path}/")

    assert comes(runs)
    user.send_signal(end)
    user.wait(60)
    assert comes(lambda: not runs())
    left = list(tmp_path.iterdir())
    assert len(left) == (end == signal.SIGKILL)
