"""The folder of a submission: what is in it, and what is refused before anything is written."""

from __future__ import annotations

import json

import pytest

from examples.mlperf_tiny.device import submission
from examples.mlperf_tiny.device.submission import Session, SubmissionError

RESULTS = {
    "accuracy": "1128.131434 ulp-mlperf: Top 1% = 91.5\n1128.131434 ulp-mlperf: AUC = 0.990\n",
    "performance": "1128.131434 ulp-mlperf: Median throughput is     10.250 inf./sec.\n",
}
HEARD = (
    "Accuracy: {} True positives, {} False negatives, 2 False positives\nAverage duty cycle: 0.12\n"
    "Average period: 0.032 s\nEstimated throughput: 260.4 inf./sec.\n"
)


def session(folder, benchmark="kws01", mode="accuracy", model=None, **changed):
    folder.mkdir()
    texts = {
        "log.txt": f"Device model retrieved: {model or benchmark}\n",
        "results.json": "[]",
        "results.txt": RESULTS[mode],
        **{name.replace("_", "."): text for name, text in changed.items()},
    }
    for name, text in texts.items():
        if text is not None:
            (folder / name).write_text(text)
    return Session(benchmark, mode, folder)


def test_the_folder(tmp_path):
    sessions = [
        session(tmp_path / "1"),
        session(tmp_path / "2", mode="performance"),
        session(tmp_path / "3", "ad01", "performance"),
        session(tmp_path / "4", "sww01", "performance", results_txt=HEARD.format(49, 1)),
    ]
    left = submission.write(tmp_path / "out", "Some", "board", "rdi", sessions)
    root = tmp_path / "out/closed/Some"
    results = root / "results/board"
    assert {str(p.relative_to(results)) for p in results.rglob("*.txt")} == {
        f"{place}/{name}"
        for place in ("kws/accuracy", "kws/performance", "ad/performance", "sww/performance")
        for name in ("log.txt", "results.txt")
    }
    assert (results / "kws/accuracy/results.txt").read_text() == RESULTS["accuracy"]
    assert (root / "code/kws/board/kws01.cc").is_file() and (root / "code/ad/board/device.cc").is_file()
    assert json.loads((root / "systems/board.json").read_text())["Status"] == "rdi"
    assert (root / "code/sww/board/listening.cc").is_file() and not (root / "code/sww/board/device.cc").exists()
    assert left[2:] == [
        f"add to {root}/code/sww the driver of I2S and of the pins (audio.h)",
        "ad01 needs a session of accuracy too",
    ]
    assert "Board Name" in left[0] and "the commit of this repository" in left[1]


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"benchmark": "kws02"}, "give one of kws01, ic01"),
        ({"results_json": None}, "has no results.json"),
        ({"results_txt": "ulp-mlperf: ERROR 1\n"}, "has no result of the mode accuracy"),
        ({"model": "ic01"}, "is not of kws01"),
        ({"benchmark": "sww01"}, "has its accuracy in the session of mode performance"),
        ({"benchmark": "sww01", "mode": "performance"}, "has no result of the mode performance"),
        ({"benchmark": "sww01", "mode": "performance", "results_txt": HEARD.format(40, 9)}, "has 49 wake words"),
    ],
)
def test_what_is_not_whole_is_refused(tmp_path, wrong, message):
    with pytest.raises(SubmissionError, match=message):
        submission.write(tmp_path / "out", "Some", "board", "rdi", [session(tmp_path / "1", **wrong)])
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten(tmp_path):
    one = session(tmp_path / "1")
    for names in (("../Some", "board"), ("Some", "a board")):
        with pytest.raises(SubmissionError, match="names a folder"):
            submission.write(tmp_path / "out", *names, "rdi", [one])
    with pytest.raises(SubmissionError, match="given twice: kws01 accuracy"):
        submission.write(tmp_path / "out", "Some", "board", "rdi", [one, one])
    submission.write(tmp_path / "out", "Some", "board", "rdi", [one])
    with pytest.raises(SubmissionError, match="exists"):
        submission.write(tmp_path / "out", "Some", "board", "rdi", [one])
