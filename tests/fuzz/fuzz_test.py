"""Runs a fuzzer for a short time: no payload that init() accepts leaves its memory or has undefined behaviour."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fuzz import run_fuzzer

FUZZER = Path("tests/fuzz") / os.environ["FUZZER"]
SEEDS = Path("tests/fuzz") / os.environ["SEEDS"]
# Three quarters are the same payloads in every run, so that a change is judged by itself. FUZZ_SEED=0 draws others,
# FUZZ_PAYLOADS more.
PAYLOADS = int(os.environ.get("FUZZ_PAYLOADS", "100000"))
SEED = os.environ.get("FUZZ_SEED", "1")
SECONDS = int(os.environ.get("FUZZ_SECONDS", "25"))  # a busy machine stops here

# A shorter run would test nothing; even a busy machine runs more payloads in this time.
LEAST_PAYLOADS = 500

WHY_NO_FUZZER = os.environ["WHY_NO_FUZZER"]
pytestmark = pytest.mark.skipif(bool(WHY_NO_FUZZER), reason=WHY_NO_FUZZER or "there is one")


def report(text: str) -> dict[str, str]:
    """Returns the fields of the fuzzer's line of totals."""
    (line,) = re.findall(r"^##FUZZ (.*)$", text, re.MULTILINE)
    return dict(field.split("=") for field in line.split())


def drawn_seed() -> str:
    """Returns a seed that differs between two versions of the fuzzer or of its seeds, and is the same for the same
    inputs of the test, whose result may therefore be kept."""
    digest = hashlib.sha256(FUZZER.read_bytes() + SEEDS.read_bytes()).digest()
    return str(int.from_bytes(digest[:4], "little") or 1)  # 0 would be random


def run(tmp_path: Path, capsys, seed: str, payloads: int, seconds: int) -> dict[str, str]:
    """Runs the fuzzer, prints the seed and what ran, and returns its totals. A finding fails the test."""
    options = [f"-runs={payloads}", f"-max_total_time={seconds}", f"-seed={seed}"]
    result = subprocess.run(
        run_fuzzer.command(FUZZER.resolve(), tmp_path, SEEDS, options),
        env=run_fuzzer.environment(),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    findings = [path for path in tmp_path.iterdir() if path.is_file()]
    for path in findings:
        shutil.copy(path, os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", "."))
    assert result.returncode == 0, f"seed {seed}, {[p.name for p in findings]}:\n{result.stderr[-8000:]}"
    totals = report(result.stderr)
    with capsys.disabled():
        print(f"\n FUZZ_SEED={seed}", totals, "edges:", re.findall(r"cov: (\d+)", result.stderr)[-1])
    return totals


def test_what_init_accepts_runs_within_its_memory(tmp_path, capsys):
    totals = run(tmp_path, capsys, SEED, PAYLOADS * 3 // 4, SECONDS * 3 // 4)
    assert int(totals["payloads"]) >= LEAST_PAYLOADS
    assert int(totals["ran"]) * 10 >= int(totals["payloads"]), "the mutator makes too few valid payloads"
    assert all(int(calls) for calls in totals["calls"].split(",")), "an operator never ran"


def test_other_payloads_with_every_change(tmp_path, capsys):
    totals = run(tmp_path, capsys, drawn_seed(), PAYLOADS // 4, SECONDS // 4)
    assert int(totals["ran"]) > 0


def test_a_payload_that_is_none_is_refused(tmp_path):
    path = tmp_path / "garbage"
    path.write_bytes(os.urandom(200))
    result = subprocess.run(
        run_fuzzer.command(FUZZER.resolve(), tmp_path, SEEDS, [str(path)]),
        env=run_fuzzer.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    totals = report(result.stderr)
    assert (totals["ran"], totals["refused"]) == ("0", totals["payloads"])
