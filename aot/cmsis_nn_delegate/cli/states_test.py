"""`--state` and `--sequence`: models whose state the caller names, on data of several sequences."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.files import saved_state
from cmsis_nn_delegate.files.artifacts import Artifacts
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

MODELS = """
import torch
from torch import nn

class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.out = nn.LSTMCell(5, 8), nn.Linear(8, 3)
    def forward(self, x, h, c):
        h, c = self.cell(x, (h, c))
        return self.out(h), h, c

class Named(Lstm):
    def forward(self, x, h, c):
        y, h, c = super().forward(x, h, c)
        return {"y": y, "h2": h, "c2": c}

def lstm():
    return Lstm(), (torch.zeros(1, 5), torch.zeros(1, 8), torch.zeros(1, 8))

def named():
    return Named(), lstm()[1]

def bare():
    return Lstm()

class Stateless(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(5, 3)
    def forward(self, x):
        return self.out(x)

def stateless():
    return Stateless()
"""
STATES = ("--state", "h=1", "--state", "c=2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("states")
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (4, 12, 5)).astype(np.float32)
    (folder / "m.py").write_text(MODELS)
    np.savez(folder / "x.npz", x=x, labels=random.integers(0, 3, (4, 12)))
    np.savez(folder / "flat.npz", x=x.reshape(-1, 5))
    return folder


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    def no_library(*_):
        raise UserError("there is no library")

    monkeypatch.chdir(folder)
    monkeypatch.setattr("cmsis_nn_delegate.accuracy.measurement.HostProgram", no_library)


def run(capsys, command, model, *options):
    """(exit code, stdout, stderr)"""
    code = main([command, f"m.py:{model}", "--target", "cortex-m55", *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def compiled(capsys, model, *options, data=("--calibration", "x.npz", "--sequence"), out="out"):
    """Returns the inputs and outputs of the payload and the lines of progress."""
    code, text, err = run(capsys, "compile", model, *data, *options, "--strict", "-o", out)
    assert (code, err) == (0, "")
    graph, _ = Artifacts.of(f"{out}/{model}").graph()
    return [value.name for value in graph.inputs], [value.shape for value in graph.outputs], text


def test_compile_with_states(capsys, folder):
    inputs, outputs, text = compiled(capsys, "lstm", *STATES)
    assert inputs == ["x"] and outputs == [(1, 3)] and "calibrated with 48 samples" in text
    assert re.search(r"#define LSTM_STATE_BYTES [1-9]", (folder / "out" / "lstm.h").read_text())
    assert compiled(capsys, "named", "--state", "h=h2", "--state", "c=c2")[:2] == (inputs, outputs)


def test_samples_of_one_sequence(capsys):
    assert compiled(capsys, "lstm", *STATES, data=("--calibration", "flat.npz"), out="flat")[0] == ["x"]


def test_a_model_without_a_state_takes_sequences(capsys):
    inputs, outputs, text = compiled(capsys, "stateless")
    assert outputs == [(1, 3)] and "the model keeps no state: the steps of all sequences are samples" in text


def test_explain_needs_no_data(capsys):
    code, out, _ = run(capsys, "explain", "lstm", *STATES)
    assert code == 0 and "100" in out and "calibrated with the example inputs" in out


def test_accuracy_prints_drift(capsys):
    code, out, err = run(capsys, "accuracy", "lstm", *STATES, "--data", "x.npz", "--sequence", "--labels")
    assert (code, err) == (0, "") and "48 samples" in out
    assert re.search(r"\n +SQNR  first step +middle  last step   cosine +top-1  computed by\n", out)
    assert len(re.findall(r"\n(?:quantized|device)(?: +\d+\.\d dB){4} +0\.9", out)) == 2
    # A single sequence drifts, too; a model without a state does not.
    code, out, _ = run(capsys, "accuracy", "lstm", *STATES, "--data", "flat.npz")
    assert code == 0 and "last step" in out
    code, out, _ = run(capsys, "accuracy", "stateless", "--data", "x.npz", "--sequence")
    assert code == 0 and "48 samples" in out and "last step" not in out


@pytest.mark.parametrize(
    "model, options, message",
    [
        ("lstm", ("--state", "h=1", "--state", "h=2"), "--state h is given twice"),
        ("lstm", ("--state", "hidden=1"), "unknown input in `state`: 'hidden'"),
        (
            "lstm",
            ("--state", "h=1", "--state", "c=3"),
            r"state c: the model has no output '3'; .*2 \(float32\[1, 8\]\)",
        ),
        (
            "lstm",
            ("--state", "h=0", "--state", "c=2"),
            r"state h is float32\[1, 8\], and output 0, its new value, float",
        ),
        ("bare", STATES, "gives no example inputs, and that of a state is its initial value: return"),
    ],
)
def test_what_is_refused(capsys, model, options, message):
    code, _, err = run(capsys, "compile", model, "--calibration", "flat.npz", *options, "-o", "bad")
    assert code in (1, 2) and re.search(message, err), err


def test_an_option_that_is_no_state(capsys):
    code, _, err = run(capsys, "explain", "lstm", "--state", "h")
    assert code == 2 and "'h' is no state: give INPUT=OUTPUT, such as h=1" in err


@pytest.fixture(scope="module")
def stopped(folder):
    """A compiled model that stopped after some steps: outputs, and a state; the steps in two parts."""
    x = np.load(folder / "flat.npz")["x"]
    np.savez(folder / "first.npz", x=x[:20])
    np.savez(folder / "second.npz", x=x[20:])
    options = ["--target", "cortex-m55", "--calibration", f"{folder}/flat.npz", *STATES, "-o", f"{folder}/kept"]
    assert main(["compile", f"{folder}/m.py:lstm", *options]) == 0
    saving = ["-o", f"{folder}/first_out", "--save-state", f"{folder}/stopped"]
    assert main(["run", f"{folder}/kept/lstm", "--inputs", f"{folder}/first.npz", *saving]) == 0
    return folder


def ran(capsys, *options, model="kept/lstm"):
    """(exit code, stdout, stderr) of `run` by the reference"""
    code = main(["run", model, "--inputs", *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_run_stops_and_goes_on(capsys, stopped):
    options = ("-o", "second_out", "--load-state", "stopped.npz", "--save-state", "end")
    code, out, err = ran(capsys, "second.npz", *options)
    assert (code, err) == (0, "") and out.endswith("State after 28 samples\n  end.npz\n")
    assert ran(capsys, "flat.npz", "-o", "whole_out", "--save-state", "whole_end")[0] == 0
    first, second, whole = (np.load(f"{name}_out.npz")["output0"] for name in ("first", "second", "whole"))
    assert np.array_equal(np.concatenate([first, second]), whole)
    assert (stopped / "end.npz").read_bytes() == (stopped / "whole_end.npz").read_bytes()
    # From its beginning the second part gives something else.
    assert ran(capsys, "second.npz", "-o", "anew_out")[0] == 0
    assert not np.array_equal(np.load("anew_out.npz")["output0"], second)


def test_the_page_shows_outputs_over_time(capsys, stopped):
    report = ("report", "kept/lstm", "--outputs")
    assert main([*report, "first_out.npz", "--html", "page.html"]) == 0
    assert "<h2>Outputs over time</h2>" in (stopped / "page.html").read_text(encoding="utf-8")
    assert main([*report, "first_out.npz"]) == 2 and "--outputs is for --html" in capsys.readouterr().err
    assert main([*report, "first.npz", "--html", "page.html"]) == 2
    assert "first.npz has the arrays x, and the model's outputs are output0" in capsys.readouterr().err


def test_states_that_are_refused(capsys, stopped):
    def refused(*options, **model):
        code, _, err = ran(capsys, "second.npz", *options, **model)
        assert code == 2, err
        return err

    assert "nowhere.npz does not exist" in refused("--load-state", "nowhere.npz")
    assert "flat.npz is no file of a state, or a damaged one" in refused("--load-state", "flat.npz")
    data = (stopped / "stopped.npz").read_bytes()
    (stopped / "short.npz").write_bytes(data[:-100])
    assert "short.npz is no file of a state, or a damaged one" in refused("--load-state", "short.npz")
    with np.load("stopped.npz") as arrays:
        np.savez("changed.npz", **{**arrays, "state": arrays["state"] ^ 1})
        np.savez("no_crc32.npz", **{**arrays, "payload_crc32": -1})
    for changed in ("changed.npz", "no_crc32.npz"):
        assert f"{changed} is damaged: it was changed after it was written" in refused("--load-state", changed)
    assert "--output and --save-state both name same.npz" in refused("-o", "same", "--save-state", "same.npz")
    compiled(capsys, "stateless")
    err = refused("--load-state", "stopped.npz", model="out/stateless")
    assert "stateless keeps no state between inferences: leave --load-state out" in err
    with np.load("stopped.npz") as arrays:
        other = saved_state.dumps(arrays["state"].tobytes(), SimpleNamespace(crc32=0xABCD))
    (stopped / "other.npz").write_bytes(other)
    err = refused("--load-state", "other.npz")
    assert "other.npz is the state of another model, or of another compilation: of the payload 0000abcd" in err
    err = refused("--on", "simulator", "--executor", "executorch", "--save-state", "s.npz")
    assert "ExecuTorch's executor hands out no state: leave --save-state out" in err


def test_a_file_of_sequences_is_no_file_of_samples(capsys):
    code, _, err = run(capsys, "compile", "lstm", *STATES, "--calibration", "x.npz", "-o", "bad")
    assert code == 2 and "x.npz: input x has shape [1, 5], so its array must be (samples * 1, 5), not [4, 12, 5]" in err


def test_a_file_of_samples_is_no_file_of_sequences(capsys):
    code, _, err = run(capsys, "compile", "lstm", *STATES, "--calibration", "flat.npz", "--sequence", "-o", "bad")
    assert code == 2
    assert "has shape [1, 5] and the array [48, 5], which of sequences must be (sequences, steps, 5)" in err
