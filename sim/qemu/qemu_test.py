"""What is QEMU's alone: finding it, its plugin, its options. The rest is in sim/driver_test.py."""

import pathlib

import pytest

from sim import simulator
from sim.elf import Elf
from sim.qemu import qemu

IMAGE = pathlib.Path("platforms/bsp/selftest/cortex_m4.elf")


def test_falls_back_without_a_usable_plugin(tmp_path):
    """A plugin that QEMU refuses: the run is repeated without it, and the result says so."""
    broken = tmp_path / "plugin.so"
    broken.write_text("not a shared object")
    driver = qemu.Qemu(qemu.find_qemu(), plugin=broken)
    elf = Elf(IMAGE)
    for _ in range(2):
        result = driver.run(elf, simulator.board_of(elf), None, 60, count=True)
        assert (result.status, result.exit_code) == ("exit", 0), result.explain()
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
