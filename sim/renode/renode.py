"""Runs firmware in Renode, over its robot server.

One Renode process runs many images, because starting Renode takes seconds and running an image only a fraction of
a second. The process ends with the program that uses it, and is replaced after a run in which the firmware
did not reach its end: bsp_exit(), also from its fault handler.

An executed instruction takes 1 ns of virtual time (repl.py), so that SysTick counts instructions as it
does under QEMU. Exact counts come from hooks at the markers of platforms/bsp/mark.h.
"""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import time

from sim import regions
from sim import uart as uart_lines
from sim.boards import Board, cores, generated
from sim.elf import Elf
from sim.renode import hooks, repl
from sim.renode.server import RenodeError, RenodeServer
from sim.simulator import Result, Simulator, SimulatorError, board_of, check_job, described

_CONFIG = generated(
    pathlib.Path("sim", "renode", "config.json")
)  # Written by Bazel: {"renode": command, "reason": why there is none}
_PROBE = generated(pathlib.Path("sim", "renode", "probe", "cortex_m55.elf"))
_PROBE_TIMEOUT_S = 60.0
_POLL_S = 0.01
_STOP_TIMEOUT_S = 10.0  # From the exit line to the end of the firmware: a few instructions.
_ABORT = "CPU abort"
_HOOK_ERROR = "Python runtime error"
# The PC of a core that has locked up, for example by a fault in its fault handler: the architecture's value, and
# Renode's. Since August 2026 Renode stops such a core and reports it only in debug messages.
_LOCKUP_PCS = (0xFFFFFFFE, 0xEFFFFFFE)
_LOCKUP_POLL_S = 0.25
_LOG_LINES = 10  # in a diagnosis


def find_renode() -> list[str]:
    """Returns the command that starts Renode, from $RENODE, from Bazel, or from $PATH. SimulatorError if there is
    none."""
    config = json.loads(_CONFIG.read_text()) if _CONFIG.exists() else {"renode": "", "reason": ""}
    asked = os.environ.get("RENODE")
    try:
        launcher = shlex.split(asked or config["renode"] or "renode")
    except ValueError as error:
        raise SimulatorError(f"RENODE={asked or config['renode']} is not a command: {error}") from error
    if launcher and shutil.which(launcher[0]):
        return launcher
    if asked or config["renode"]:
        raise SimulatorError(f"Renode was not found: there is no program {launcher[0] if launcher else repr(asked)}")
    raise SimulatorError(
        "Renode was not found: "
        + (config["reason"] or "set RENODE to the command that starts it, or put renode on PATH")
    )


class Run:
    """An image on a board in `server`, loaded and ready to start."""

    def __init__(self, server: RenodeServer, elf: Elf, cpu: str, board: Board, job: bytes | None, count: bool):
        self._server = server
        self._folder = folder = server.new_folder()
        uart, log, self._events = folder / "uart", folder / "log", folder / "events"
        # Copies, because the Monitor does not accept every path.
        (folder / "board.repl").write_text(repl.describe(cpu, board), encoding="ascii")
        # Renode would read all symbols, which takes longer than most images run.
        (folder / "image.elf").write_bytes(elf.loaded())
        server.keyword("ResetEmulation")
        server.command(f"logFile @{log} true")
        server.command('mach create "dut"')
        server.command(f"machine LoadPlatformDescription @{folder}/board.repl")
        server.command(f"{repl.UART} CreateFileBackend @{uart} true")
        server.command(f"sysbus LoadELF @{folder}/image.elf")
        # Otherwise Renode guesses that the vectors are the first thing in the image.
        server.command(f"cpu VectorTableOffset {elf.address('__text_start'):#x}")
        if job is not None:
            (folder / "job").write_bytes(job)
            server.command(f"sysbus LoadBinary @{folder}/job {check_job(elf, len(job)):#x}")
        for address, script in hooks.scripts(elf, self._events, markers=count):
            server.command(f'cpu AddHook {address:#x} "{script}"')
        # Do not synchronize with the host's clock. This changes no count.
        server.command("emulation SetGlobalAdvanceImmediately true")
        self._uart = _Tail(uart)
        self._log = _Tail(log)
        self._locked_up = False

    def start(self) -> None:
        """Lets the core run."""
        self._server.keyword("StartEmulation")

    def wait_for_debugger(self, port: int) -> None:
        """Lets the core run when a debugger starts it."""
        self._server.command(f"machine StartGdbServer {port} true")

    def wait(self, deadline: float | None, show=lambda text: None) -> str:
        """Waits until the run ends; returns Result.status. deadline: in time.monotonic(). show: called with the UART's
        text."""
        seen = 0
        next_look = time.monotonic() + _LOCKUP_POLL_S
        while True:
            # First, so that the output read afterwards is complete.
            alive, late = self._server.alive, deadline is not None and time.monotonic() > deadline
            log, text = self._log.read(), self._uart.read()
            show(text[seen:])
            seen = len(text)
            if _HOOK_ERROR in log:
                raise RenodeError("a hook failed in Renode:\n" + self.diagnosis())
            if uart_lines.exit_code(text) is not None:
                self._wait_for_stop()
                return "fault" if uart_lines.reports_fault(text) else "exit"
            if _ABORT in log or self._locked_up:
                return "fault"
            if not alive:
                return "no-exit"
            if late:
                return "timeout"
            if time.monotonic() > next_look:
                # Read the firmware's output once more before this ends the run.
                self._locked_up = self._is_locked_up()
                next_look = time.monotonic() + _LOCKUP_POLL_S
            time.sleep(_POLL_S)

    def _is_locked_up(self) -> bool:
        """Returns whether the core has stopped for good. Reading its PC affects neither the core nor the counts."""
        try:
            return int(self._server.command("cpu PC").strip(), 0) in _LOCKUP_PCS
        except ValueError:
            return False
        except RenodeError:
            if self._server.alive:
                raise
            return False  # The caller reports that it has ended.

    def _wait_for_stop(self) -> None:
        """Waits until the firmware has executed its last instruction, where the last hook is."""
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        while time.monotonic() < deadline and self._server.alive and not self.at_end():
            if _HOOK_ERROR in self._log.read():
                raise RenodeError("a hook failed in Renode:\n" + self.diagnosis())
            time.sleep(_POLL_S)

    def at_end(self) -> bool:
        """Returns whether the core has reached the last instruction of the firmware."""
        return "total" in self.events()

    def uart(self) -> str:
        """Returns the firmware's output so far."""
        return self._uart.read()

    def events(self) -> str:
        """Returns the output of the hooks so far."""
        return self._events.read_text() if self._events.exists() else ""

    def diagnosis(self) -> str:
        """Returns the last warnings and errors, with advice if the core has stopped for good."""
        lines = [line for line in self._log.read().splitlines() if "[WARNING]" in line or "[ERROR]" in line]
        if any(_ABORT in line for line in lines):
            lines.append("The core jumped outside memory, or reached an instruction that this Renode does not know.")
        if self._locked_up:
            lines.append(
                "The core is locked up: a fault occurred in its fault handler, or it has no valid vector table."
            )
        return "\n".join(lines[-_LOG_LINES:])

    def remove(self) -> None:
        """Deletes the files; otherwise, a process that runs many images would fill the disk. Renode may hold them
        open."""
        shutil.rmtree(self._folder, ignore_errors=True)


class _Tail:
    """The text of a growing file; each byte is read once."""

    def __init__(self, path: pathlib.Path):
        self._path = path
        self._data = b""

    def read(self) -> str:
        if self._path.exists():
            with open(self._path, "rb") as file:
                file.seek(len(self._data))
                self._data += file.read()
        return self._data.decode("utf-8", errors="replace")


# By launcher; all drivers of this program share them.
_servers: dict[tuple[str, ...], RenodeServer] = {}
# By launcher and core: why this Renode must not run the core; "" if it may.
_refusals: dict[tuple[str, ...], dict[str, str]] = {}


def _close_servers() -> None:
    while _servers:
        _servers.popitem()[1].close()


atexit.register(_close_servers)


class Renode(Simulator):
    """An installed Renode."""

    def __init__(self, launcher: list[str]):
        self._launcher = tuple(launcher)
        self._name = None
        # Why it does not start: trying again would wait for the time limit with every image.
        self._no_start = ""

    def _server(self) -> RenodeServer:
        server = _servers.get(self._launcher)
        if server is not None and not server.alive:
            self._discard()
            server = None
        if server is None:
            if self._no_start:
                raise RenodeError(self._no_start)
            try:
                server = _servers[self._launcher] = RenodeServer(list(self._launcher))
            except RenodeError as error:
                self._no_start = str(error)
                raise
        return server

    def _discard(self) -> None:
        server = _servers.pop(self._launcher, None)
        if server is not None:
            server.close()

    @property
    def name(self) -> str:
        """Returns name, version and build: stable versions and nightly builds have the same version number."""
        if self._name is None:
            text = self._server().command("version")
            version = re.search(r"version ([\d.]+)(?: \(([^)]*)\))?", text)
            build = f" ({version.group(2)})" if version and version.group(2) else ""
            self._name = f"Renode {version.group(1)}{build}" if version else "Renode (unknown version)"
        return self._name

    def require(self, elf):
        cpu = elf.string("bsp_core")
        _ = self.name  # Starts Renode, if that is possible.
        if cores()[cpu].isa != "mve":  # whose instructions old versions compute wrongly
            return
        known = _refusals.setdefault(self._launcher, {})
        if cpu not in known:
            known[cpu] = self._probe(cpu)
        if known[cpu]:
            raise SimulatorError(known[cpu])

    def _probe(self, cpu: str) -> str:
        """Returns why this Renode must not run `cpu`; "" if it computes correctly."""
        if not _PROBE.exists():
            raise SimulatorError(f"{_PROBE.name} of //sim/renode/probe is needed: run `bazel build //sim:renode`")
        elf = Elf(_PROBE)
        result = self._run(elf, cpu, board_of(elf), None, _PROBE_TIMEOUT_S, count=False)
        if (result.status, result.exit_code) == ("exit", 0):
            return ""
        return (
            f"{self.name} executes instructions of the {cpu} wrongly or not at all; use a nightly build of "
            "2026-06-03 or later, or the first stable version after 1.16.1. The probe of //sim/renode/probe: "
            + result.explain()
        )

    def interactive_command(self, elf, board, job_path, gdb_port):
        # The session starts its own Renode, and probes it.
        command = [sys.executable, "-m", "sim.renode.session", "--board", str(board.path or board.name)]
        command += ["--job", str(job_path)] if job_path is not None else []
        command += ["--gdb", str(gdb_port)] if gdb_port is not None else []
        return command + [str(elf.path)]

    def interact(self, elf: Elf, board: Board, job: bytes | None, gdb_port: int | None, show) -> Result:
        """Runs `elf` until it ends, without a time limit; calls show(text) with its output."""
        described(board, "renode")
        self.require(elf)
        return self._run(elf, elf.string("bsp_core"), board, job, None, False, gdb_port, show)

    def run(self, elf, board, job, timeout_s, count):
        described(board, "renode")
        if job is not None:
            check_job(elf, len(job))
        self.require(elf)
        return self._run(elf, elf.string("bsp_core"), board, job, timeout_s, count)

    def _run(self, elf, cpu, board, job, timeout_s, count, gdb_port=None, show=lambda text: None) -> Result:
        name = self.name
        ended_well = False
        try:
            run = Run(self._server(), elf, cpu, board, job, count)
            if gdb_port is None:
                run.start()
            else:
                run.wait_for_debugger(gdb_port)
            status = run.wait(None if timeout_s is None else time.monotonic() + timeout_s, show)
            uart, events, diagnosis = run.uart(), run.events(), run.diagnosis()
            # After a fault that the firmware has reported, it has executed its last instruction too.
            if status == "exit" or (status == "fault" and run.at_end()):
                self._server().command("pause")
                run.remove()
                ended_well = True
        finally:
            # A core that has not finished can keep Renode from ever answering again.
            if not ended_well:
                self._discard()
        trace = regions.parse(hooks.plugin_lines(events)) if count else None
        return Result(
            status=status,
            exit_code=uart_lines.exit_code(uart),
            uart=uart,
            ticks_to_instructions=board.instructions_per_tick,
            simulator=name,
            core=repl.simulated_core(cpu, board),
            counter="hooks" if count else "systick",
            counter_note="" if count else "exact counting was not requested",
            regions=trace.regions if trace else None,
            total_instructions=trace.total if trace else None,
            diagnostics="" if status == "exit" else diagnosis,
        )


def create() -> Renode:
    """Returns the installed Renode; SimulatorError if there is none."""
    return Renode(find_renode())
