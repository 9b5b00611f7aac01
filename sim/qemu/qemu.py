"""Runs firmware in QEMU (qemu-system-arm 7.2 or later).

Every run uses `-icount shift=0`: an executed instruction takes 1 ns of virtual time. SysTick therefore counts
instructions, and a run gives the same output and the same counts each time, on any host.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

from sim import regions, scratch
from sim import uart as uart_lines
from sim.boards import Board, cores, generated
from sim.core_models import CoreModel
from sim.elf import Elf
from sim.llvm import Tools
from sim.pricing import priced
from sim.simulator import Result, Simulator, SimulatorError, check_job, described

# Written by Bazel: {"qemu_system_arm": path or "", "version": what it prints about itself}
_CONFIG = generated(pathlib.Path("sim", "qemu", "config.json"))
_PLUGIN = generated(pathlib.Path("sim", "qemu", "insn_count_plugin.so"))
_CYCLES_PLUGIN = generated(pathlib.Path("sim", "qemu", "m4_cycles_plugin.so"))
_BLOCKS_PLUGIN = generated(pathlib.Path("sim", "qemu", "blocks_plugin.so"))


def find_qemu() -> str:
    """Returns the path of qemu-system-arm, from $QEMU_SYSTEM_ARM, from Bazel, or from $PATH."""
    configured = json.loads(_CONFIG.read_text())["qemu_system_arm"] if _CONFIG.exists() else ""
    path = os.environ.get("QEMU_SYSTEM_ARM") or configured or shutil.which("qemu-system-arm")
    if not path or not os.access(path, os.X_OK):
        raise SimulatorError(
            "qemu-system-arm was not found: use ./bazelw, install it (Debian: qemu-system-arm), "
            "or set QEMU_SYSTEM_ARM to its path" + (f" ({path} is no program)" if path else "")
        )
    return path


def _flash_argument(elf: Elf, job_part: tuple[int, int]) -> str:
    """Returns the plugin's argument for an image whose code and constants lie in flash, as do the bytes of the job from
    the first to before the second offset."""
    job = elf.address("__mailbox_start")
    ranges = [*elf.read_only_ranges(), (job + job_part[0], job + job_part[1])]
    return "flash=" + ":".join(f"{begin:x}-{end:x}" for begin, end in ranges if begin < end)


def machine_arguments(elf: Elf, board: Board, job_path: str | None) -> list[str]:
    """Returns QEMU's arguments for the board, the image and the job, without those for input and output."""
    known = described(board, "qemu")
    arguments = [
        "-machine",
        known["machine"],
        *known.get("options", []),
        "-icount",
        "shift=0",
        "-display",
        "none",
        "-monitor",
        "none",
        "-semihosting-config",
        "enable=on,target=native",
        "-kernel",
        str(elf.path),
    ]
    if job_path is not None:
        address = check_job(elf, os.path.getsize(job_path))
        arguments += ["-device", f"loader,file={_quote(job_path)},addr={address:#x},force-raw=on"]
    return arguments


@functools.cache
def _ending_with_this() -> list[str]:
    """Returns a prefix for a command, so that the command is killed when this program ends in any way (Linux).

    It is empty if util-linux's setpriv is missing or too old.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return []
    options = subprocess.run([setpriv, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return [setpriv, "--pdeathsig", "KILL"] if "--pdeathsig" in options.stdout else []


def _quote(path) -> str:
    """Returns a path as a value in a comma-separated QEMU option."""
    return str(path).replace(",", ",,")


class Qemu(Simulator):
    """An installed qemu-system-arm."""

    def __init__(self, path: str, plugin: pathlib.Path | None = None, in_flash: tuple[int, int] | None = None):
        """`plugin` counts. The one that models cycles takes `in_flash`, the part of the job that lies in flash."""
        self._path = path
        self._in_flash = in_flash
        self._plugin = _PLUGIN if plugin is None else plugin
        self._plugin_problem = "" if self._plugin.exists() else f"{self._plugin.name} is missing"
        self._name = None

    @property
    def name(self) -> str:
        """Name and version."""
        if self._name is None:
            text = subprocess.run([self._path, "--version"], capture_output=True, text=True, check=False).stdout
            version = re.search(r"version (\S+)", text)
            self._name = f"QEMU {version.group(1) if version else '(unknown version)'}"
        return self._name

    def interactive_command(self, elf, board, job_path, gdb_port):
        command = [*_ending_with_this(), self._path, *machine_arguments(elf, board, job_path), "-serial", "stdio"]
        if gdb_port is not None:
            command += ["-gdb", f"tcp:localhost:{gdb_port}", "-S"]
        return command

    def run(self, elf, board, job, timeout_s, count):
        if count and not self._plugin_problem:
            result = self._run_once(elf, board, job, timeout_s, use_plugin=True)
            if not self._plugin_failed(result):
                return result
            reason = result.diagnostics.strip().splitlines()[-1]
            self._plugin_problem = f"{self.name} does not load the plugin: {reason}"
        return self._run_once(elf, board, job, timeout_s, use_plugin=False)

    @staticmethod
    def _plugin_failed(result: Result) -> bool:
        return result.status == "no-exit" and not result.uart and "plugin" in result.diagnostics

    def _run_once(self, elf, board, job, timeout_s, use_plugin) -> Result:
        with scratch.Folder() as folder:
            uart_path, count_path, job_path = folder / "uart", folder / "count", None
            if job is not None:
                job_path = folder / "job"
                job_path.write_bytes(job)
            # The UART writes to a file: with a pipe that is read slowly, the firmware would wait for its UART,
            # and the instructions of the run would depend on the host.
            command = [
                self._path,
                *machine_arguments(elf, board, job_path),
                "-chardev",
                f"file,id=uart,path={_quote(uart_path)}",
                "-serial",
                "chardev:uart",
            ]
            if use_plugin:
                flash = "" if self._in_flash is None else "," + _flash_argument(elf, self._in_flash)
                command += ["-plugin", f"file={_quote(self._plugin)},out={_quote(count_path)}{flash}"]
            code, diagnostics = _execute(command, timeout_s)
            uart = uart_path.read_text(encoding="utf-8", errors="replace") if uart_path.exists() else ""
            report = self._report(count_path, elf) if use_plugin and count_path.exists() else None
            trace = regions.parse(report.regions) if report else None
        status, exit_code = _status(uart, code, diagnostics)
        note = "" if use_plugin else self._plugin_problem or "exact counting was not requested"
        return Result(
            status=status,
            exit_code=exit_code,
            uart=uart,
            ticks_to_instructions=board.instructions_per_tick,
            simulator=self.name,
            core=cores()[board.core].core,
            counter="plugin" if use_plugin else "systick",
            counter_note=note,
            regions=trace.regions if trace else None,
            total_instructions=trace.total if trace else None,
            diagnostics=diagnostics,
            cycle_model=report.model if report else "",
            cycle_note=report.note if report else "",
        )

    def _report(self, path: pathlib.Path, elf: Elf) -> _Report:
        """Returns what the plugin has written about a run of an image."""
        return _Report(path.read_text())


@dataclasses.dataclass(frozen=True)
class _Report:
    """The plugin's lines for `regions.parse`; `model` and `note` are Result.cycle_model and Result.cycle_note."""

    regions: str
    model: str = ""
    note: str = ""


class _QemuWithM4(Qemu):
    """Its plugin models the cycles of a Cortex-M4."""

    def _report(self, path: pathlib.Path, elf: Elf) -> _Report:
        return _Report(path.read_text(), "the core's reference manual")


class _QemuWithPrices(Qemu):
    """Its plugin reports blocks, which LLVM's model of a core prices."""

    def __init__(self, path: str, core: str, model: CoreModel, tools: Tools) -> None:
        super().__init__(path, _BLOCKS_PLUGIN)
        self._core, self._model, self._tools = core, model, tools

    def _report(self, path: pathlib.Path, elf: Elf) -> _Report:
        found = priced(path.read_text(), elf.path, self._core, self._model, self._tools)
        unknown = ", ".join(f"{count:,} of {mnemonic}" for mnemonic, count in found.unknown.items())
        return _Report(found.regions, f"LLVM {self._tools.version}", unknown)


def _execute(command: list[str], timeout_s: float) -> tuple[int | None, str]:
    """Returns exit code (None after a timeout) and standard error of `command`."""
    process = subprocess.Popen(
        [*_ending_with_this(), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        _, diagnostics = process.communicate(timeout=timeout_s)
        return process.returncode, diagnostics
    except subprocess.TimeoutExpired:
        # SIGTERM first: QEMU then closes its files, and the plugin reports its counts.
        process.send_signal(signal.SIGTERM)
        try:
            _, diagnostics = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            _, diagnostics = process.communicate()
        return None, diagnostics
    except BaseException:
        process.kill()
        process.wait()
        raise


def _status(uart: str, code: int | None, diagnostics: str) -> tuple[str, int | None]:
    """Returns Result.status and Result.exit_code."""
    exit_code = uart_lines.exit_code(uart)
    # A fault inside the fault handler locks the core up; QEMU then aborts.
    if uart_lines.reports_fault(uart) or "Lockup" in diagnostics:
        return "fault", exit_code
    if exit_code is not None:
        return "exit", exit_code
    return ("timeout" if code is None else "no-exit"), None


def create() -> Qemu:
    """Returns the installed QEMU; SimulatorError if there is none."""
    return Qemu(find_qemu())


def create_with_m4_cycles(in_flash: tuple[int, int]) -> Qemu:
    """Returns a QEMU that also models the cycles of a Cortex-M4, in `Region.cycles` (m4_timing.h) and
    `Region.flash_waits` (m4_flash.h). The job's bytes from the first to before the second offset stand for flash."""
    return _QemuWithM4(find_qemu(), _CYCLES_PLUGIN, in_flash)


def create_with_prices(core: str, model: CoreModel, tools: Tools) -> Qemu:
    """Returns a QEMU that also models the cycles of a core, in `Region.cycles` (sim/pricing.py)."""
    return _QemuWithPrices(find_qemu(), core, model, tools)
