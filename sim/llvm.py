"""Runs llvm-mca and llvm-objdump, for models of cycles.

Standard library only.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess

from sim.boards import generated
from sim.core_models import CoreModel
from sim.simulator import SimulatorError

# Written by Bazel: {"folder": of the programs, or "", "reason": why there are none}
_CONFIG = generated(pathlib.Path("third_party", "llvm", "config.json"))
# The first version with a model of every core here.
OLDEST = 19
_NEWEST_TRIED = 30
_ADVICE = (
    f"models of cycles need llvm-mca and llvm-objdump of LLVM {OLDEST} or later: build //third_party/llvm, install "
    f"them (Debian: llvm-{OLDEST}), or set LLVM_TOOLS to their folder"
)


@dataclasses.dataclass(frozen=True)
class Region:
    """What llvm-mca says about a run of instructions: cycles of all iterations, and those that an iteration takes at
    least because the core has no more units."""

    cycles: int
    bound: float


@dataclasses.dataclass(frozen=True)
class Analysis:
    """Regions by name, and the mnemonics of instructions that LLVM's model does not have, which were left out."""

    regions: dict[str, Region]
    unknown: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Tools:
    """The two programs; `version` is that of LLVM, "19.1.7"."""

    mca: str
    objdump: str
    version: str

    def listing(self, elf: pathlib.Path, model: CoreModel) -> str:
        """Returns the disassembly of an image."""
        # GCC's images for M33 do not say that they need its DSP instructions.
        options = ["--disassemble", "--no-show-raw-insn", f"--mattr={model.features}"]
        return _output([self.objdump, *options, str(elf)])[0]

    def analyze(self, model: CoreModel, core: str, regions: dict[str, list[str]], iterations: int) -> Analysis:
        """Returns what `iterations` of each region take, whose lines are instructions."""
        if not regions:  # which llvm-mca takes for a mistake
            return Analysis({}, frozenset())
        lines: list[str] = []
        for name, instructions in regions.items():
            lines += [f"# LLVM-MCA-BEGIN {name}", *instructions, "# LLVM-MCA-END"]
        command = [self.mca, f"-mtriple={model.triple}", f"-mattr={model.features}", f"-mcpu={core}"]
        # Without the `it` before it, an instruction on a condition is one all the same.
        command += ["-arm-implicit-it=always", "-all-views=false", "-summary-view", f"-iterations={iterations}"]
        command += ["-skip-unsupported-instructions=any", "-"]
        text, messages = _output(command, "\n".join(lines) + "\n")
        found = {
            name: Region(int(cycles), float(bound))
            for name, cycles, bound in re.findall(
                r"Code Region - (\S+)\n.*?Total Cycles: +(\d+)\n.*?Block RThroughput: +([\d.]+)", text, re.DOTALL
            )
        }
        # Instructions that it can write but not price, and those that it cannot read, by the number of their line.
        unknown = set(re.findall(r"note: instruction: \s*(\S+)", messages))
        numbers = re.findall(r"^<stdin>:(\d+):\d+: (?:error|warning)", messages, re.MULTILINE)
        unknown |= {lines[int(number) - 1].split()[0] for number in numbers}
        return Analysis(found, frozenset(unknown))


@functools.cache
def tools() -> Tools:
    """Returns the programs of $LLVM_TOOLS, of Bazel, or of $PATH and Debian's folders; SimulatorError if there are none
    that are new enough."""
    named = os.environ.get("LLVM_TOOLS")
    config = json.loads(_CONFIG.read_text()) if _CONFIG.exists() else {"folder": "", "reason": ""}
    problem = f" ({config['reason']})" if config["reason"] else ""
    for mca, objdump in _candidates(named, config["folder"]):
        version = _version(mca)
        if version and int(version.partition(".")[0]) >= OLDEST and _version(objdump):
            return Tools(mca, objdump, version)
        problem = f" ({mca} is {f'version {version}' if version else 'no program that runs'})"
    raise SimulatorError(f"{_ADVICE}{problem}")


def _candidates(named: str | None, fetched: str) -> list[tuple[str, str]]:
    """Returns the pairs of programs to try, in order; only those that exist, unless LLVM_TOOLS names their folder."""
    if named:
        return [(str(pathlib.Path(named, "llvm-mca")), str(pathlib.Path(named, "llvm-objdump")))]
    folders = [fetched] if fetched else []
    folders += [f"/usr/lib/llvm-{version}/bin" for version in range(OLDEST, _NEWEST_TRIED)]
    pairs = [(shutil.which("llvm-mca", path=f), shutil.which("llvm-objdump", path=f)) for f in folders]
    pairs.append((shutil.which("llvm-mca"), shutil.which("llvm-objdump")))
    return [(mca, objdump) for mca, objdump in pairs if mca and objdump]


def _version(program: str) -> str:
    """Returns the version that a program prints, "" if it does not run."""
    try:
        run = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    found = re.search(r"LLVM version (\d+\.\d+\.\d+)", run.stdout)
    return found.group(1) if found else ""


def _output(command: list[str], text: str = "") -> tuple[str, str]:
    run = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode != 0:
        last = (run.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise SimulatorError(f"{command[0]} failed: {last}")
    return run.stdout, run.stderr
