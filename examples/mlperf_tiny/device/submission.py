"""Makes the folder of a submission to MLPerf Tiny from the sessions of its runner.

    bazel run //examples/mlperf_tiny/device:submission -- --out FOLDER --submitter NAME --system BOARD \\
        --session kws01 accuracy sessions/20261128_131419 --session kws01 performance sessions/20261128_131501 ...

writes FOLDER/closed/NAME: results and logs of each session, the code of the images, and systems/BOARD.json, in which
the fields about the board are left empty. Streaming wake word, sww01, has one session, in performance mode, which has
its accuracy too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

# The folder of each in a submission.
BENCHMARKS = {"kws01": "kws", "ic01": "ic", "vww01": "vww", "ad01": "ad", "sww01": "sww"}
MODES = ("accuracy", "performance")
_STREAMING = "sww01"
# Of a session, by the names that the runner gives them.
FILES = ("log.txt", "results.json", "results.txt")
# What each session must have found.
_FOUND = {
    "accuracy": re.compile(r"(?:Top 1%|AUC) = [\d.]+"),
    "performance": re.compile(r"Median throughput is\s+[\d.]+ inf\./sec\."),
}
_FOUND_STREAMING = re.compile(
    r"Accuracy: (\d+) True positives, (\d+) False negatives, \d+ False positives\s.*Estimated throughput: [\d.]+ inf",
    re.DOTALL,
)
_WAKE_WORDS = 50  # that the benchmark's wave has
_STATUS = ("available", "preview", "rdi")
_SOURCES = (
    *("BUILD", "README.md", "benchmark.h", "device_api.h", "device_serial.cc", "harness.h"),
    *("listener.py", "models.py", "words.py"),
)
# The harness of the others is the benchmark's. That of streaming wake word is part of its reference submission for one
# board.
_STREAMING_SOURCES = (
    *("audio.h", "listening.cc", "streaming_api.h"),
    *("harness.cc", "harness_commands.h", "harness_stream.cc"),
)
_OTHER_SOURCES = ("device.cc", "hooks.cc")
_CODE = Path(__file__).parent.resolve()
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class SubmissionError(ValueError):
    """A session cannot be submitted; the text says which, why, and what to do."""


@dataclass(frozen=True)
class Session:
    """One run of the runner: its folder has FILES."""

    benchmark: str
    mode: str
    folder: Path

    def check(self) -> None:
        """SubmissionError if it is not a whole one of this benchmark in this mode."""
        if self.benchmark not in BENCHMARKS or self.mode not in MODES:
            raise SubmissionError(
                f"{self.benchmark} {self.mode}: give one of {', '.join(BENCHMARKS)}, and {' or '.join(MODES)}"
            )
        if self.mode not in modes(self.benchmark):
            raise SubmissionError(f"{self.benchmark} has its accuracy in the session of mode performance: leave it out")
        missing = [name for name in FILES if not (self.folder / name).is_file()]
        if missing:
            raise SubmissionError(
                f"{self.folder} has no {' and no '.join(missing)}: is it a folder of the runner's sessions?"
            )
        results = (self.folder / "results.txt").read_text(encoding="utf-8")
        found = (_FOUND_STREAMING if self.benchmark == _STREAMING else _FOUND[self.mode]).search(results)
        if not found:
            raise SubmissionError(
                f"{self.folder}/results.txt has no result of the mode {self.mode}: the runner ended early, or it ran "
                "in another mode"
            )
        if self.benchmark == _STREAMING and int(found[1]) + int(found[2]) != _WAKE_WORDS:
            raise SubmissionError(
                f"{self.folder} has {int(found[1]) + int(found[2])} wake words, a submission {_WAKE_WORDS}: take the "
                "wave of sww_long_test.json"
            )
        log = (self.folder / "log.txt").read_text(encoding="utf-8")
        if f"Device model retrieved: {self.benchmark}" not in log:
            raise SubmissionError(f"{self.folder}/log.txt is not of {self.benchmark}: another image was on the board")


def modes(benchmark: str) -> tuple[str, ...]:
    """Returns the modes of which a benchmark needs a session each."""
    return MODES[1:] if benchmark == _STREAMING else MODES


def sources(benchmark: str) -> tuple[str, ...]:
    """Returns the files of this folder that are the code of a benchmark's image."""
    return (*_SOURCES, *(_STREAMING_SOURCES if benchmark == _STREAMING else _OTHER_SOURCES), f"{benchmark}.cc")


def system_description(submitter: str, status: str) -> dict[str, str]:
    """Returns systems/BOARD.json; what is empty only the submitter knows."""
    return {
        "Submitter": submitter,
        "Status": status,
        "Board Name": "",
        "Processor(s) Name": "",
        "Processor(s) Frequencies": "",
        "Processor memory type and capacity": "",
        "Accelerator": "none",
        "Accelerator(s) Frequencies": "",
        "Accelerator memory type and capacity": "",
        "Hardware Notes": "",
        "Inference Framework": "cmsis_nn_delegate (ExecuTorch delegate)",
        "Software Libraries": "CMSIS-NN",
        "Software Notes": "",
    }


def write(out: Path, submitter: str, system: str, status: str, sessions: list[Session]) -> list[str]:
    """Writes the folder, which must not exist, and returns what is left to do, one line each. SubmissionError, and
    nothing is written, if a session is not whole, or comes twice."""
    for name in (submitter, system):
        if not _NAME.fullmatch(name):
            raise SubmissionError(f"{name!r} names a folder: give letters, digits, '-', '_' and '.'")
    for session in sessions:
        session.check()
    places = [(session.benchmark, session.mode) for session in sessions]
    twice = {f"{name} {mode}" for name, mode in places if places.count((name, mode)) > 1}
    if twice:
        raise SubmissionError(f"given twice: {', '.join(sorted(twice))}")
    root = out / "closed" / submitter
    if root.exists():
        raise SubmissionError(f"{root} exists: remove it, or give another folder")
    for session in sessions:
        target = root / "results" / system / BENCHMARKS[session.benchmark] / session.mode
        target.mkdir(parents=True)
        for name in FILES:
            shutil.copyfile(session.folder / name, target / name)
    for benchmark in sorted({session.benchmark for session in sessions}):
        code = root / "code" / BENCHMARKS[benchmark] / system
        code.mkdir(parents=True)
        for name in sources(benchmark):
            shutil.copyfile(_CODE / name, code / name)
    (root / "systems").mkdir()
    description = system_description(submitter, status)
    path = root / "systems" / f"{system}.json"
    path.write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    empty = [field for field, text in description.items() if not text and not field.startswith("Accelerator")]
    others = any(name != _STREAMING for name, _ in places)
    left = [
        f"fill in {path}: {', '.join(empty)}",
        f"add to {root}/code: the commit of this repository, the files of the compiled models (NAME.h, NAME.kernels.h "
        "and NAME.c)" + (", and the harness that the image had: the benchmark's api/ and main.cpp" if others else ""),
    ]
    if (_STREAMING, MODES[1]) in places:
        left.append(f"add to {root}/code/{BENCHMARKS[_STREAMING]} the driver of I2S and of the pins (audio.h)")
    for benchmark in BENCHMARKS:
        lacks = [mode for mode in modes(benchmark) if (benchmark, mode) not in places]
        if lacks and len(lacks) < len(modes(benchmark)):
            left.append(f"{benchmark} needs a session of {lacks[0]} too")
    return left


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--submitter", required=True)
    parser.add_argument("--system", required=True, help="a name without spaces")
    parser.add_argument("--status", choices=_STATUS, default="rdi", help="of the board (default: rdi)")
    parser.add_argument(
        "--session", nargs=3, action="append", required=True, metavar=("BENCHMARK", "MODE", "FOLDER"), dest="sessions"
    )
    options = parser.parse_args(argv[1:])
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # relative paths are the user's
    sessions = [Session(name, mode, Path(folder)) for name, mode, folder in options.sessions]
    try:
        left = write(options.out, options.submitter, options.system, options.status, sessions)
    except SubmissionError as error:
        print(error, file=sys.stderr)
        return 1
    print(*left, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
