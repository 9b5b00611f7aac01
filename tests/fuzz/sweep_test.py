"""Runs mutated payloads with the kernels of the build on simulated CORE, each buffer before inaccessible memory."""

from __future__ import annotations

import json
import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from sim import simulator
from tests.fuzz import run_fuzzer

# The tests rely on QEMU's memory protection unit; the tests of the guards go first.
os.environ["CND_SIMULATOR"] = "qemu"

CORE = os.environ["CORE"]
IMAGE = Path("tests/fuzz") / f"sweep_{CORE.replace('-', '_')}.elf"
KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())
_KINDS = ("", "tuned_") if KERNELS["kernels"].startswith("tuned") else ("",)
SEEDS = b"".join((Path("tests/fuzz") / f"seeds_{kind}{os.environ['ISA']}.bin").read_bytes() for kind in _KINDS)
PAYLOADS = int(os.environ.get("SWEEP_PAYLOADS", "18000"))
FIRST = int(os.environ.get("SWEEP_FIRST", "0"))

# Of sweep_main.cc.
JOB = struct.Struct("<8I")
MAGIC = 0x46555A5A
MUTATE, AS_THEY_ARE, SHOW, READ_BEYOND, WRITE_CONSTANT = range(5)
PAYLOAD_SLOT, ARENA_SLOT = 0, 1

_FIELD = re.compile(r"(\w+)=(\S+)")


def run(mode: int, first: int, count: int = 0) -> simulator.Result:
    job = JOB.pack(MAGIC, mode, first, count, len(SEEDS), 0, 0, 0) + SEEDS
    return simulator.run(str(IMAGE), job=job, count=False, timeout_s=500)


@dataclass(frozen=True)
class Sweep:
    payloads: int
    ran: int
    refused: int
    too_large: int
    failed: int
    calls: tuple[int, ...]  # by opcode, from 1

    @staticmethod
    def of(uart: str) -> Sweep:
        (line,) = re.findall(r"^##SWEEP (.*)$", uart, re.MULTILINE)
        fields = _FIELD.findall(line)
        numbers = {key: int(value) for key, value in fields if value.isdecimal()}
        calls = tuple(int(value) for key, value in fields if key == "calls")
        return Sweep(*(numbers[key] for key in ("payloads", "ran", "refused", "too_large", "failed")), calls)


def culprit(first: int, count: int) -> str:
    """Returns a description of the payload at which a run that starts at `first` ends in a fault."""
    uart = run(SHOW, first, count).uart
    index, data = re.findall(r"^##PAYLOAD index=(\d+) data=(\w+)", uart, re.MULTILINE)[-1]
    fault = re.findall(r"^##FAULT .*$", uart, re.MULTILINE)
    path = Path(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", ".")) / f"{CORE}_{index}.payload"
    path.write_bytes(bytes.fromhex(data))
    return f"payload {index}: {fault}, written to {path}"


def check(result: simulator.Result, mode: int, capsys) -> Sweep:
    if result.status == "fault" and mode == MUTATE:
        at = int(re.findall(r"^##AT index=(\d+)", result.uart, re.MULTILINE)[-1])
        pytest.fail(culprit(at, 64))
    assert (result.status, result.exit_code) == ("exit", 0), result.explain()
    sweep = Sweep.of(result.uart)
    with capsys.disabled():
        print("\n", sweep)
    return sweep


needs_cmsis_nn = pytest.mark.skipif(
    not KERNELS["with_cmsis_nn"],
    reason=f"the image has portable kernels, which tests on the host cover: {KERNELS['reason']}",
)


def test_a_read_past_a_buffer_is_a_fault():
    inside = run(READ_BEYOND, ARENA_SLOT, 0)
    assert (inside.status, inside.exit_code) == ("exit", 0), inside.explain()
    for slot in (PAYLOAD_SLOT, ARENA_SLOT, 2, 7):
        beyond = run(READ_BEYOND, slot, 1)
        assert "##INSIDE" in beyond.uart
        assert (beyond.status, "##BEYOND" in beyond.uart) == ("fault", False), beyond.explain()


@pytest.mark.skipif(CORE == "cortex-m4", reason="Armv7-M has no region left for this; tests on the host cover it")
def test_a_write_to_the_payload_is_a_fault():
    assert run(WRITE_CONSTANT, PAYLOAD_SLOT).status == "fault"


@needs_cmsis_nn
def test_compiled_payloads_stay_in_their_memory(capsys):
    sweep = check(run(AS_THEY_ARE, 0, len(list(run_fuzzer.seeds(SEEDS)))), AS_THEY_ARE, capsys)
    assert (sweep.refused, sweep.failed) == (0, 0)
    assert sweep.ran > 100


@needs_cmsis_nn
def test_whatever_init_accepts_stays_in_its_memory(capsys):
    sweep = check(run(MUTATE, FIRST, PAYLOADS), MUTATE, capsys)
    assert sweep.payloads >= PAYLOADS
    assert sweep.ran > PAYLOADS // 4, "the mutator makes too few valid payloads"
    compiled = check(run(AS_THEY_ARE, 0, len(list(run_fuzzer.seeds(SEEDS)))), AS_THEY_ARE, capsys)
    # No tuned kernel is for every instruction set.
    never = [opcode for opcode, calls in enumerate(compiled.calls, 1) if calls and not sweep.calls[opcode - 1]]
    assert not never, "an operator never ran"
    assert sum(map(bool, compiled.calls)) > 30
