"""Tests the driver with a stand-in for Renode's robot server: everything that can happen in a run.

If Renode is installed, //sim:renode_driver_test shows that it behaves like the stand-in.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from sim import auto, simulator
from sim.elf import Elf
from sim.renode import guard, hooks, renode, repl, server
from sim.renode.server import RenodeError
from sim.simulator import SimulatorError

FAKE = pathlib.Path(__file__).with_name("fake_renode.py")
M4 = pathlib.Path("platforms/bsp/selftest/cortex_m4.elf")
M55 = pathlib.Path("platforms/bsp/selftest/cortex_m55.elf")
EXIT = ["exit", "hello\n\n##EXIT rc=0##\n"]
STOP = Elf(M4).code_addresses(hooks.END)[0]


def goes_away(pid):
    """Returns whether the process ends within a few seconds."""
    for _ in range(200):
        try:
            # A zombie has ended too; no process has read its exit code yet.
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


class Installation:
    """A stand-in with a script."""

    def __init__(self, folder):
        self.folder = folder

    def script(self, *runs, **settings):
        (self.folder / "script.json").write_text(json.dumps({"runs": runs, **settings}))

    def pids(self):
        """Returns (process, its child) of each start."""
        path = self.folder / "pids.txt"
        return [tuple(map(int, line.split())) for line in path.read_text().splitlines()] if path.exists() else []

    def commands(self):
        return (self.folder / "transcript.txt").read_text().splitlines()

    def run(self, image=M4, job=None, timeout_s=60, count=True):
        return simulator.run(image, job=job, timeout_s=timeout_s, count=count)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    installation = Installation(tmp_path)
    installation.script()
    monkeypatch.setenv("FAKE_RENODE", str(tmp_path / "script.json"))
    monkeypatch.setenv("RENODE", f"{sys.executable} {FAKE}")
    monkeypatch.setenv("CND_SIMULATOR", "renode")
    monkeypatch.setattr(server, "START_TIMEOUT_S", 30.0)
    monkeypatch.setattr(renode, "_STOP_TIMEOUT_S", 1.0)
    monkeypatch.setattr(renode, "_LOCKUP_POLL_S", 0.05)
    yield installation
    renode._close_servers()
    renode._refusals.clear()
    auto._renode.cache_clear()
    assert all(goes_away(pid) for pair in installation.pids() for pid in pair)


# --- Runs -----------------------------------------------------------------------------------------


def test_exit(fake):
    """Firmware that wrote its exit line may never reach its last instruction."""
    fake.script([["uart", "one\n##EX"], ["uart", "IT rc=7##"], ["uart", "\n"]])
    result = fake.run()
    assert (result.status, result.exit_code, result.uart) == ("exit", 7, "one\n##EXIT rc=7##\n")
    assert result.simulator == "Renode 9.8.7 (fake)"
    assert result.ticks_to_instructions == 40.0
    assert result.diagnostics == ""


def test_what_is_loaded(fake):
    """Checks contents and addresses of the image, the board, and the job in the mailbox."""
    fake.script([EXIT])
    job = bytes(range(256)) * 5
    fake.run(job=job)
    board = simulator.board_of(Elf(M4))
    assert (fake.folder / "loaded.LoadELF").read_bytes() == Elf(M4).loaded()
    assert (fake.folder / "loaded.LoadBinary").read_bytes() == job
    assert (fake.folder / "loaded.LoadPlatformDescription").read_text() == repl.describe("cortex-m4", board)
    (load,) = [command for command in fake.commands() if "LoadBinary" in command]
    assert load.endswith(f" {board.memories['MAILBOX'].origin:#x}")


def test_job_that_does_not_fit(fake):
    with pytest.raises(SimulatorError, match="the job has .* bytes, the mailbox of cortex_m4.elf only"):
        fake.run(job=bytes((16 << 20) + 1))
    assert fake.pids() == []


def test_counts(fake):
    """As in QEMU's plugin, markers are not counted, but the last instruction is."""
    elf = Elf(M4)
    begin, end = elf.code_addresses(hooks.MARK_BEGIN), elf.code_addresses(hooks.MARK_END)
    marks = [["hook", begin[0], 100], ["hook", begin[1], 110], ["hook", end[0], 131], ["hook", end[1], 140]]
    fake.script([*marks, ["uart", "##EXIT rc=0##\n"], ["hook", STOP, 150]])
    result = fake.run()
    assert result.counter == "hooks"
    (outer,) = result.regions
    assert (outer.begin, outer.instructions) == (100, 37)
    assert [child.instructions for child in outer.children] == [20]
    assert result.total_instructions == 150 - 4 + 1


def test_without_counts(fake):
    """Hooks in regions would slow the run down."""
    fake.script([["hook", Elf(M4).code_addresses(hooks.MARK_BEGIN)[0], 5], EXIT, ["hook", STOP, 9]])
    result = fake.run(count=False)
    assert (result.counter, result.regions, result.total_instructions) == ("systick", None, None)
    assert len([command for command in fake.commands() if "AddHook" in command]) == len(
        Elf(M4).code_addresses(hooks.END)
    )


def test_fault_of_the_firmware(fake):
    fake.script([["exit", "##FAULT exception=3 pc=00000010\n##EXIT rc=111##\n"]])
    result = fake.run()
    assert (result.status, result.exit_code) == ("fault", 111)


def test_a_reported_fault_does_not_cost_a_new_process(fake):
    """Starting Renode takes seconds, and the core is as idle as after an exit."""
    fake.script([["exit", "##FAULT exception=3 pc=00000010\n##EXIT rc=111##\n"]], [EXIT])
    assert fake.run().status == "fault"
    assert fake.run().status == "exit"
    assert len(fake.pids()) == 1


def test_cpu_abort(fake):
    """If the core has stopped for good, the run ends as a fault at once, and the next run uses a new process."""
    fake.script([["uart", "going\n"], ["log", "[ERROR] cpu: CPU abort [PC=0xF0000000]: outside RAM"]], [EXIT])
    start = time.monotonic()
    result = fake.run(timeout_s=600)
    assert time.monotonic() - start < 300
    assert (result.status, result.exit_code, result.uart) == ("fault", None, "going\n")
    assert "CPU abort [PC=0xF0000000]" in result.explain()
    assert "jumped outside memory, or reached an instruction that this Renode does not know" in result.explain()
    fake.script([EXIT])
    assert fake.run().status == "exit"
    assert len(fake.pids()) == 2


@pytest.mark.parametrize("pc", [0xEFFFFFFE, 0xFFFFFFFE])
@pytest.mark.parametrize("first", ["uart", "pc"])
def test_locked_up(fake, pc, first):
    """The log does not say so. The firmware's output is kept, however late it arrives."""
    events = [["uart", "going\n"], ["pc", pc]]
    fake.script(events if first == "uart" else events[::-1], [EXIT])
    start = time.monotonic()
    result = fake.run(timeout_s=600)
    assert time.monotonic() - start < 300
    assert (result.status, result.exit_code, result.uart) == ("fault", None, "going\n")
    assert "The core is locked up" in result.explain()
    fake.script([EXIT])
    assert fake.run().status == "exit"


def test_a_core_that_reported_its_fault_before_it_locked_up(fake):
    """Newer versions escalate to HardFault: the handler's line and its exit code decide."""
    fake.script([["uart", "##FAULT exception=3 pc=00000010\n"], ["uart", "##EXIT rc=111##\n"], ["pc", 0xEFFFFFFE]])
    result = fake.run()
    assert (result.status, result.exit_code) == ("fault", 111)
    assert "locked up" not in result.explain()


def test_a_pc_that_cannot_be_read_is_an_error(fake):
    fake.script([["uart", "going\n"]], refuse="cpu PC")
    with pytest.raises(RenodeError, match="Renode refused: ExecuteCommand cpu PC"):
        fake.run(timeout_s=600)


def test_hang(fake):
    fake.script([["uart", "hanging\n"]])
    result = fake.run(timeout_s=1)
    assert (result.status, result.exit_code, result.uart) == ("timeout", None, "hanging\n")
    assert all(goes_away(pid) for pid in fake.pids()[0])


def test_renode_dies_in_a_run(fake):
    fake.script([["uart", "going\n"], ["die"]])
    result = fake.run()
    assert (result.status, result.uart) == ("no-exit", "going\n")


def test_one_process_for_many_runs(fake):
    fake.script(*[[["exit", f"##EXIT rc={code}##\n"]] for code in range(5)])
    assert [fake.run().exit_code for _ in range(5)] == list(range(5))
    assert len(fake.pids()) == 1


def test_runs_leave_no_files(fake, monkeypatch, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TEST_TMPDIR", str(folder))
    fake.script([EXIT], [EXIT])
    for _ in range(2):
        fake.run(job=b"work")
        assert len(list(folder.iterdir())) == 1
        assert list(folder.glob("*/run*")) == []
    renode._close_servers()
    assert list(folder.iterdir()) == []


# --- Renode refuses commands or does not answer ---------------------------------------------------


def test_refused_command(fake):
    fake.script(refuse="LoadELF")
    with pytest.raises(RenodeError, match="Renode refused: ExecuteCommand sysbus LoadELF .*Could not execute command"):
        fake.run()
    fake.script([EXIT])
    assert fake.run().status == "exit"


def test_no_answer(fake, monkeypatch):
    monkeypatch.setattr(server, "COMMAND_TIMEOUT_S", 1.0)
    fake.script(ignore="LoadELF")
    with pytest.raises(RenodeError, match="Renode did not answer within 1 s: ExecuteCommand sysbus LoadELF"):
        fake.run()
    assert all(goes_away(pid) for pid in fake.pids()[0])


def test_hook_that_fails(fake):
    fake.script([["log", "[ERROR] cpu: Python runtime error: no such name"], EXIT])
    with pytest.raises(RenodeError, match="(?s)a hook failed in Renode:.*no such name"):
        fake.run()


def test_dies_at_its_start(fake):
    fake.script(start="die")
    with pytest.raises(RenodeError, match="(?s)ended while starting:.*cannot start: no runtime"):
        fake.run()


def test_never_starts(fake, monkeypatch):
    monkeypatch.setattr(server, "START_TIMEOUT_S", 1.0)
    fake.script(start="silent")
    with pytest.raises(RenodeError, match="did not start its robot server in time"):
        fake.run()
    assert all(goes_away(pid) for pid in fake.pids()[0])


def test_launcher_that_cannot_be_executed(fake, monkeypatch, tmp_path):
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/nowhere/interpreter\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("RENODE", str(launcher))
    with pytest.raises(RenodeError, match="(?s)ended while starting:.*No such file"):
        fake.run()


def test_absent(fake, monkeypatch, tmp_path):
    monkeypatch.setenv("RENODE", str(tmp_path / "absent") + " --option")
    with pytest.raises(SimulatorError, match="Renode was not found: there is no program .*absent"):
        fake.run()
    monkeypatch.setenv("RENODE", "mono 'Renode.exe")
    with pytest.raises(SimulatorError, match="RENODE=mono 'Renode.exe is not a command: No closing quotation"):
        fake.run()
    monkeypatch.delenv("RENODE")
    config = tmp_path / "config.json"
    config.write_text('{"renode": "", "reason": "nobody has installed it"}')
    monkeypatch.setattr(renode, "_CONFIG", config)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SimulatorError, match="Renode was not found: nobody has installed it"):
        fake.run()


def test_temporary_folder_that_the_monitor_cannot_take(fake, monkeypatch, tmp_path):
    folder = tmp_path / "a b"
    folder.mkdir()
    monkeypatch.setenv("TEST_TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with pytest.raises(RenodeError, match="set TMPDIR to a folder without spaces"):
        fake.run()
    assert list(folder.iterdir()) == []


# --- Cores that are probed ------------------------------------------------------------------------

WRONG = ["exit", "cset, csetm, csel with zr: WRONG\n##EXIT rc=1##\n"]


def test_a_renode_that_fails_the_probe_is_refused(fake):
    """The message has the version and what is needed; the probe runs only once; other cores still run."""
    fake.script([WRONG], [EXIT])
    for _ in range(2):
        with pytest.raises(
            SimulatorError,
            match="(?s)Renode 9.8.7 .fake. executes instructions of the cortex-m55 wrongly"
            ".*nightly build of 2026-06-03 or later.*first stable version after 1.16.1"
            ".*csel with zr: WRONG",
        ):
            fake.run(M55)
    assert fake.run(M4).status == "exit"
    assert len(fake.pids()) == 1


@pytest.mark.parametrize(
    "events",
    [[["log", "[ERROR] cpu: CPU abort [PC=0x10]: unknown"]], [["die"]], [["exit", "##FAULT pc=1\n##EXIT rc=111##\n"]]],
)
def test_a_probe_that_does_not_end_is_a_failed_one(fake, events):
    fake.script(events)
    with pytest.raises(SimulatorError, match="executes instructions of the cortex-m55 wrongly or not at all"):
        fake.run(M55)


def test_a_renode_that_passes_the_probe(fake):
    fake.script([EXIT], [["exit", "##EXIT rc=3##\n"]], [["exit", "##EXIT rc=4##\n"]])
    assert fake.run(M55).exit_code == 3
    assert fake.run(M55).exit_code == 4
    assert len([command for command in fake.commands() if "LoadELF" in command]) == 3


def test_auto_gives_to_qemu_what_renode_cannot_run(fake, monkeypatch):
    """The result has the self-test output of the M55 image in QEMU, and the reason."""
    monkeypatch.setenv("CND_SIMULATOR", "auto")
    auto._warn.cache_clear()
    fake.script([WRONG], [EXIT])
    with pytest.warns(auto.SimulatorChoice, match="executes instructions of the cortex-m55 wrongly"):
        result = fake.run(M55, job=b"TEST" + bytes([1, 0, 0, 0, 9, 0, 0, 0]) + bytes(4))
    assert result.simulator.startswith("QEMU") and result.exit_code == 9
    assert "QEMU runs this instead of Renode" in result.simulator_note
    assert fake.run(M4).simulator.startswith("Renode")


def test_auto_with_a_renode_that_does_not_start(fake, monkeypatch):
    monkeypatch.setenv("CND_SIMULATOR", "auto")
    auto._warn.cache_clear()
    fake.script(start="die")
    with pytest.warns(auto.SimulatorChoice, match="ended while starting"):
        result = fake.run(job=b"TEST" + bytes([1, 0, 0, 0, 9, 0, 0, 0]) + bytes(4))
    assert result.simulator.startswith("QEMU") and result.exit_code == 9
    # The reason is known now, without trying again.
    fake.script()
    assert fake.run(job=b"TEST" + bytes([1, 0, 0, 0, 9, 0, 0, 0]) + bytes(4)).simulator.startswith("QEMU")


# --- Processes ------------------------------------------------------------------------------------


def test_renode_ends_with_whoever_started_it(fake):
    """Even if the program is killed."""
    fake.script([["uart", "hanging\n"]])
    code = f"from sim import simulator; simulator.run({str(M4)!r}, timeout_s=600)"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    user = subprocess.Popen([sys.executable, "-c", code], env=environment)
    transcript = fake.folder / "transcript.txt"
    while not transcript.exists() or "SetGlobalAdvanceImmediately" not in transcript.read_text():
        assert user.poll() is None
        time.sleep(0.05)
    user.send_signal(signal.SIGKILL)
    user.wait()
    assert all(goes_away(pid) for pid in fake.pids()[0])


def test_the_folder_of_the_caller_may_go(fake, tmp_path, monkeypatch):
    """Renode outlives a run, and the program's current folder may be a temporary one."""
    image, folder = M4.resolve(), tmp_path / "current"
    folder.mkdir()
    monkeypatch.chdir(folder)
    # A relative path in $RENODE is one from here.
    monkeypatch.setenv("RENODE", f"{sys.executable} {os.path.relpath(FAKE)}")
    fake.script([EXIT], [EXIT])
    fake.run(image)
    monkeypatch.chdir(tmp_path)
    folder.rmdir()
    assert fake.run(image).status == "exit"


@pytest.mark.parametrize("command, code", [("raise SystemExit(5)", 5), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_guard_ends_with_its_command(tmp_path, command, code):
    process = subprocess.Popen(
        [sys.executable, guard.__file__, str(tmp_path), sys.executable, "-c", command], stdin=subprocess.PIPE
    )
    assert process.wait(60) == code
    assert tmp_path.exists()
    process.stdin.close()


def test_the_input_of_a_guarded_command_stays_open(tmp_path):
    wait = "import select, sys; sys.exit(bool(select.select([0], [], [], 0.3)[0]))"
    process = subprocess.Popen(
        [sys.executable, guard.__file__, str(tmp_path), sys.executable, "-c", wait], stdin=subprocess.PIPE
    )
    assert process.wait(60) == 0
    process.stdin.close()


def test_guard_removes_the_folder_of_a_starter_that_is_gone(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    command = [sys.executable, "-c", "import time; time.sleep(3600)"]
    process = subprocess.Popen([sys.executable, guard.__file__, str(folder), *command], stdin=subprocess.PIPE)
    process.stdin.close()
    assert process.wait(60) == 0
    assert not folder.exists()


# --- On the terminal ------------------------------------------------------------------------------


def session(fake, *arguments):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run(
        [sys.executable, "-m", "sim.main", "--simulator=renode", *arguments, str(M4.absolute())],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_session(fake):
    job = fake.folder / "job"
    job.write_bytes(b"work")
    fake.script([["uart", "one\n"], ["uart", "two\n##EXIT rc=6##\n"], ["hook", STOP, 1]])
    result = session(fake, "--job", str(job))
    assert (result.returncode, result.stdout) == (6, "one\ntwo\n##EXIT rc=6##\n"), result.stderr
    assert (fake.folder / "loaded.LoadBinary").read_bytes() == b"work"


def test_session_with_a_debugger(fake):
    fake.script([["uart", "##EXIT rc=0##\n"], ["hook", STOP, 1]])
    result = session(fake, "--gdb", "3333")
    assert result.returncode == 0, result.stderr
    assert "target remote localhost:3333" in result.stderr
    assert "machine StartGdbServer 3333 true" in fake.commands()


def test_session_that_does_not_end_well(fake):
    fake.script([["uart", "one\n"], ["log", "[ERROR] cpu: CPU abort [PC=0x0]"]])
    result = session(fake)
    assert (result.returncode, result.stdout) == (2, "one\n")
    assert "CPU abort" in result.stderr
