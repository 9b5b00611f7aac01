"""`--stream`: what `compile` prints and writes, what it refuses, and what other commands say."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.files.artifacts import Artifacts
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

MODELS = """
import torch
from torch import nn

def spotter():
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Conv1d(4, 6, 3, padding=1), nn.ReLU(), nn.Conv1d(6, 6, 3), nn.ReLU(), nn.Flatten())
    return nn.Sequential(layers, nn.Linear(6 * 14, 3)), (torch.zeros(1, 4, 16),)

def attention():
    return nn.Softmax(-1), (torch.zeros(1, 4, 16),)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stream")
    (folder / "m.py").write_text(MODELS)
    np.savez(folder / "x.npz", x=np.random.default_rng(0).normal(0, 1, (12, 4, 16)).astype(np.float32))
    return folder


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


def compiling(capsys, model, *options):
    """(exit code, stdout, stderr)"""
    code = main(["compile", f"m.py:{model}", "--target", "cortex-m4", "--calibration", "x.npz", *options, "-o", "out"])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_stream_is_compared_and_reported(capsys, folder):
    code, text, err = compiling(capsys, "spotter", "--stream", "2=2", "--strict")
    assert (code, err) == (0, "")
    assert re.search(r"no byte of [2-8] windows differs from the model of the whole window", text)
    assert "2 new of 16 columns along dimension 2 in each inference; the outputs of the first 7 mean nothing" in text
    graph, _ = Artifacts.of("out/spotter").graph()
    assert [value.shape for value in graph.inputs] == [(1, 4, 2)] and graph.outputs[0].shape == (1, 3)
    document = json.loads((folder / "out" / "spotter.report.json").read_text())
    assert document["stream"]["whole_macs"] > document["macs"] > 0
    assert document["stream"]["outputs"] == [None]
    # The document can be read again, and the page shows the same.
    assert main(["report", "out/spotter", "--html", "page.html"]) == 0
    assert "for all 16 columns; an inference takes 2 new ones" in (folder / "page.html").read_text()


def test_explain_says_what_becomes_of_each_function(capsys):
    code = main(["explain", "m.py:spotter", "--target", "cortex-m4", "--stream", "2=2"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "") and re.search(r"0\.2 \(Conv1d\) +- +conv2d +call \d+: conv2d", out)
    assert "call 7: delay_line_read (portable)" in out  # what it remembers
    assert main(["explain", "m.py:attention", "--target", "cortex-m4", "--stream", "2"]) != 0
    assert "softmax computes each column from all others" in capsys.readouterr().err


def test_accuracy_is_that_of_the_whole_window(capsys):
    measured = []
    for options in ((), ("--stream", "2=2")):
        assert main(["accuracy", "m.py:spotter", "--data", "x.npz", "--json", *options]) == 0
        out, err = capsys.readouterr()
        measured.append(out)
        assert ("measuring the model of the whole window" in err) == bool(options)
    assert measured[0] == measured[1]


@pytest.mark.parametrize(
    "model, stream, message",
    [
        ("spotter", "time", "'time' is no stream: give DIM or DIM=HOP, such as 2=4"),
        ("spotter", "2=0", "a stream moves on by 0 columns: give 1 or more"),
        ("spotter", "5", "an input of shape [1, 4, 16] has no dimension 5 to stream along"),
        ("attention", "2", "computes each column from all others"),
    ],
)
def test_what_is_refused(capsys, model, stream, message):
    code, _, err = compiling(capsys, model, "--stream", stream)
    assert code in (1, 2) and message in err
