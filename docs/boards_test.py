"""docs/boards.md is of the files of docs/boards, and files that are no measurements are refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import boards
import pytest

from cmsis_nn_delegate.runner.measured import Measured
from cmsis_nn_delegate.runner.profile import CallProfile, Profile
from cmsis_nn_delegate.support.errors import UserError

FOLDER = Path(__file__).resolve().parent


def test_the_page_is_of_the_files():
    text = boards.page(sorted((FOLDER / "boards").glob("*.json")))
    assert (FOLDER / "boards.md").read_text(encoding="utf-8") == text, "run `bazel run //docs:boards`"


def measurement(board="NUCLEO at 120 MHz", cycles=None):
    call = CallProfile(0, "conv2d", "tuned", (), (), ((1, 2),), ((1, 3),), 1000, 1500, cycles, None)
    profile = Profile("net", "cortex-m4", "dsp", "tuned", "QEMU", "", 9, 9, 1600, 100, False, (call,), cycles)
    return profile, Measured(board, "cortex-m4", "tuned", "a serial line", "2026-11-28", 2500, 100, (2400,))


def write(path, profile, measured):
    path.write_text(profile.to_json(measured), encoding="utf-8")
    return path


def test_a_row_for_each_file(tmp_path):
    paths = [write(tmp_path / "b.json", *measurement("B")), write(tmp_path / "a.json", *measurement("A", (1700, 1900)))]
    rows = [line for line in boards.page(paths).splitlines() if line.startswith("|")][2:]
    assert rows == [
        "| A | cortex-m4 | net | tuned | 1,600 | 2,500 | 2.50 | 1,700 to 1,900 | a serial line | 2026-11-28 |",
        "| B | cortex-m4 | net | tuned | 1,600 | 2,500 | 2.50 |  | a serial line | 2026-11-28 |",
    ]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"schema": 0}, "its schema is 0"),
        ({"measured": None}, "measured: .* must be an object"),
        ({"calls": []}, "measured: has 1 calls, not 0"),
        ({"measured": {"date": "yesterday"}}, "measured: .*is missing"),
    ],
)
def test_what_is_no_measurement(tmp_path, change, message):
    profile, measured = measurement()
    document = {**json.loads(profile.to_json()), "measured": dataclasses.asdict(measured), **change}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError, match=f"x.json: {message}"):
        boards.page([path])
    path.write_text(profile.to_json(), encoding="utf-8")
    with pytest.raises(UserError, match="has no cycles of a board"):
        boards.page([path])
