"""Makes the folder of a submission to MLPerf Tiny from the sessions of its runner.

    bazel run //examples/mlperf_tiny/device:submission -- --out FOLDER --submitter NAME --system BOARD \\
        --session kws01 accuracy sessions/20261128_131419 --session kws01 performance sessions/20261128_131501 ...

writes FOLDER/closed/NAME: results and logs of each session, the code of the images, and systems/BOARD.json, in which
the fields about the board are left empty.
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
BENCHMARKS = {"kws01": "kws", "ic01": "ic", "vww01": "vww", "ad01": "ad"}
MODES = ("accuracy", "performance")
# Of a session, by the names that the runner gives them.
FILES = ("log.txt", "results.json", "results.txt")
# What each session must have found.
_FOUND = {
    "accuracy": re.compile(r"(?:Top 1%|AUC) = [\d.]+"),
    "performance": re.compile(r"Median throughput is\s+[\d.]+ inf\./sec\."),
}
_STATUS = ("available", "preview", "rdi")
_SOURCES = ("BUILD", "README.md", "benchmark.h", "device.cc", "device_api.h", "harness.h", "hooks.cc", "models.py")
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
        missing = [name for name in FILES if not (self.folder / name).is_file()]
        if missing:
            raise SubmissionError(
                f"{self.folder} has no {' and no '.join(missing)}: is it a folder of the runner's sessions?"
            )
        results = (self.folder / "results.txt").read_text(encoding="utf-8")
        if not _FOUND[self.mode].search(results):
            raise SubmissionError(
                f"{self.folder}/results.txt has no result of the mode {self.mode}: the runner ended early, or it ran "
                "in another mode"
            )
        log = (self.folder / "log.txt").read_text(encoding="utf-8")
        if f"Device model retrieved: {self.benchmark}" not in log:
            raise SubmissionError(f"{self.folder}/log.txt is not of {self.benchmark}: another image was on the board")


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
        for name in (*_SOURCES, f"{benchmark}.cc"):
            shutil.copyfile(_CODE / name, code / name)
    (root / "systems").mkdir()
    description = system_description(submitter, status)
    path = root / "systems" / f"{system}.json"
    path.write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    empty = [field for field, text in description.items() if not text and not field.startswith("Accelerator")]
    left = [
        f"fill in {path}: {', '.join(empty)}",
        f"add to {root}/code: the commit of this repository, the files of the compiled models (NAME.h, NAME.kernels.h "
        "and NAME.c), and the harness that the image had: the benchmark's api/ and main.cpp",
    ]
    for benchmark in BENCHMARKS:
        lacks = [mode for mode in MODES if (benchmark, mode) not in places]
        if lacks and len(lacks) < len(MODES):
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
