"""Tests the driver of SIMULATOR ("qemu", "renode", ...) with the self-test firmware, on every core that it runs.

Tests the ways a run can end, the mailbox, and both instruction counts: the exact count is compared with loops
counted by hand, and SysTick's with the exact count. QEMU must be installed. Tests of another simulator that is
missing are skipped with the reason, and so are cores that the installed version cannot run.
"""

import os
import pathlib
import random
import struct
import time

import psutil
import pytest

from sim import boards, simulator
from sim.elf import Elf
from sim.renode.server import RenodeError

SIMULATOR = os.environ.get("SIMULATOR", "qemu")
CORES = sorted(cpu for cpu in boards.tested_cores() if SIMULATOR in boards.cores()[cpu].board.simulators)
# Their instructions are those of others, and so is nearly all that a driver does for them.
OTHER_CORES = sorted({core.core for core in boards.cores().values()} - set(boards.tested_cores()))
WITH_STACK_LIMIT = [core for core in CORES if boards.cores()[core].architecture.endswith(".main")]
# Commands of platforms/bsp/selftest/selftest.cc.
EXIT, FAULT, WILD_JUMP, OVERFLOW, HANG, CHECKSUM, LOOP, NESTED, UNFINISHED, LOST_STACK, ARMV7 = range(1, 12)


def image(core):
    return pathlib.Path(f"platforms/bsp/selftest/{core.replace('-', '_')}.elf")


@pytest.fixture(autouse=True)
def only_this_simulator(monkeypatch):
    monkeypatch.setenv("CND_SIMULATOR", SIMULATOR)
    if SIMULATOR != "qemu":
        try:
            simulator.create()
        except simulator.SimulatorError as error:
            pytest.skip(str(error))


def run(core, command, argument=0, data=b"", **options):
    if SIMULATOR != "qemu":
        try:
            simulator.create().require(Elf(image(core)))
        except RenodeError:
            raise  # It is installed but does not work.
        except simulator.SimulatorError as error:
            pytest.skip(str(error))
    job = struct.pack("<4sIII", b"TEST", command, argument, 0) + data
    return simulator.run(image(core), job=job, **options)


def run_counted(core, command, argument=0):
    """Returns a run with exact counts; skips the test on a QEMU with another plugin interface."""
    result = run(core, command, argument)
    if "undefined symbol: qemu_plugin_" in result.counter_note or "API version" in result.counter_note:
        pytest.skip(f"{result.simulator} has another plugin interface")
    assert result.counter in ("plugin", "hooks"), result.counter_note
    return result


@pytest.mark.parametrize("core", CORES + OTHER_CORES)
def test_exit_code_and_identity(core):
    result = run(core, EXIT, 42)
    assert (result.status, result.exit_code) == ("exit", 42), result.explain()
    assert result.simulator.startswith(boards.simulators()[SIMULATOR]["title"] + " ")
    assert Elf(image(core)).string("bsp_core") == core
    assert result.core in (
        (core, boards.cores()[core].board.core) if SIMULATOR != "qemu" else (boards.cores()[core].board.core,)
    )


@pytest.mark.parametrize("core", CORES + OTHER_CORES)
def test_fault_is_reported(core):
    result = run(core, FAULT)
    assert (result.status, result.exit_code) == ("fault", 111)
    assert "opcode=de07" in result.uart
    assert "the firmware ended in a fault" in result.explain()
    assert "##FAULT" in result.explain()


@pytest.mark.parametrize("core", CORES)
def test_an_armv7_instruction_is_a_fault_on_armv6(core):
    """Images for Cortex-M0+ run on a core that has only the instructions that they may use."""
    result = run(core, ARMV7)
    if boards.cores()[core].architecture != "armv6-m":
        assert (result.status, result.exit_code) == ("exit", 0), result.explain()
        assert "quotient=13\n" in result.uart
        return
    if SIMULATOR == "renode" and result.status == "exit":
        pytest.skip(f"{result.simulator} runs Armv7-M instructions on its Cortex-M0+")
    assert (result.status, result.exit_code) == ("fault", 111), result.explain()
    assert "opcode=fbb0f0f1" in result.uart


@pytest.mark.parametrize("core", CORES)
def test_jump_outside_memory_is_a_fault(core):
    result = run(
        core, WILD_JUMP, 0xB0000000
    )  # No memory in QEMU's nRF51 either, and an address where no core executes code.
    assert result.status == "fault", result.explain()
    if result.exit_code is not None:  # Renode stops the core for good, before its fault handler.
        assert "opcode=none" in result.uart


@pytest.mark.parametrize("core", WITH_STACK_LIMIT)
def test_stack_overflow_is_a_fault(core):
    """On cores with a stack limit register; on others, the stack would grow into the arena."""
    if SIMULATOR == "renode":
        pytest.skip("Renode does not check the stack limit register")
    result = run(core, OVERFLOW)
    assert (result.status, result.exit_code) == ("fault", 111)
    assert "cfsr=00100000" in result.uart  # UsageFault: stack overflow


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("address", [0xF0000000, 0x00000010])
def test_a_fault_without_a_stack_is_reported(core, address):
    """The core cannot save its registers there. A handler that tried to read them would lock it up."""
    if SIMULATOR == "qemu" and core in WITH_STACK_LIMIT and address < 0x1000:
        pytest.skip("below the stack limit: the fault is that of the stack pointer")
    result = run(core, LOST_STACK, address)
    assert result.status == "fault", result.explain()
    if SIMULATOR == "qemu":  # Renode before August 2026 stops the core for good.
        assert result.exit_code == 111, result.explain()
        assert " pc=00000000 lr=00000000 " in result.uart


def test_timeout_keeps_the_output():
    result = run("cortex-m4", HANG, timeout_s=3)
    assert (result.status, result.exit_code) == ("timeout", None)
    assert "hanging" in result.uart
    assert "did not end within the time limit" in result.explain()


@pytest.mark.parametrize("core", CORES)
def test_mailbox_holds_a_large_job(core):
    """All 8 MiB arrive in order: the sum depends on the order of the bytes."""
    generator = random.Random(1)
    data = generator.randbytes(4096) * 2047
    result = run(core, CHECKSUM, len(data), data, count=False)
    expected = 0
    # sum = sum * 31 + byte, one block at a time: block(s) = s * 31**4096 + block(0)
    block = 0
    for byte in data[:4096]:
        block = (block * 31 + byte) % 2**32
    for _ in range(2047):
        expected = (expected * pow(31, 4096, 2**32) + block) % 2**32
    assert f"checksum={expected}\n" in result.uart, result.explain()


def test_job_that_does_not_fit():
    with pytest.raises(simulator.SimulatorError, match="the job has .* bytes, the mailbox of cortex_m4.elf only"):
        simulator.run(image("cortex-m4"), job=bytes((16 << 20) + 1))


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("count", [1, 7, 1000, 300_000])
def test_counts_are_exact(core, count):
    """subs and bne, `count` times."""
    result = run_counted(core, LOOP, count)
    assert [region.instructions for region in result.regions] == [2 * count]


@pytest.mark.parametrize("core", CORES)
def test_systick_agrees_with_the_count(core):
    """To within a tick and the few instructions of bsp_ticks() itself."""
    result = run_counted(core, LOOP, 5_000_000)
    ticks = int(result.uart.split("ticks=")[1].split()[0])
    counted = result.regions[0].instructions
    assert abs(ticks * result.ticks_to_instructions - counted) <= 2 * result.ticks_to_instructions + 60


@pytest.mark.parametrize("core", CORES)
def test_nested_regions(core):
    """The markers are not counted."""
    (outer,) = run_counted(core, NESTED).regions
    assert outer.instructions == 6
    assert [child.instructions for child in outer.children] == [3, 0]


def test_region_that_is_left_open():
    assert [region.instructions for region in run_counted("cortex-m4", UNFINISHED).regions] == [1]


def test_counting_changes_nothing():
    counted, plain = run_counted("cortex-m55", LOOP, 1000), run("cortex-m55", LOOP, 1000, count=False)
    assert counted.uart == plain.uart
    assert (plain.counter, plain.regions) == ("systick", None)
    assert run_counted("cortex-m55", LOOP, 1000).total_instructions == counted.total_instructions


def test_between_runs_it_takes_no_processor():
    """Not even where a process stays for the next run: it would slow down the tests beside it."""
    run("cortex-m4", EXIT)
    before = processor_seconds()
    time.sleep(1)
    assert processor_seconds() - before < 0.5


def processor_seconds():
    """Returns how much processor time all processes have taken that this one has started, directly or not."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return sum(taken.user + taken.system for taken in times)


def test_cores_and_boards_are_complete():
    for core in boards.cores().values():
        mailbox = core.board.memories["MAILBOX"]
        assert mailbox.origin % 16 == 0 and mailbox.size >= 8 << 20
