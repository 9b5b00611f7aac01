import errno
import gc
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from cmsis_nn_delegate import __main__ as entry
from cmsis_nn_delegate import reference
from cmsis_nn_delegate.cli import command_line, main, run_command
from cmsis_nn_delegate.cli.model_source import load_model
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.files.artifacts import Artifacts
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.runner import device, simulate
from cmsis_nn_delegate.runner.job import JOB_HEADER, JobFlag
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

MODELS = """
import torch
from torch import nn

X = torch.zeros(1, 2, 6, 6)

class Angles(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)
    def forward(self, x):
        y = self.conv(x)
        return torch.atan2(y, y)

class DataDependent(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x

class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 4), nn.Linear(3, 4)
    def forward(self, left, right):
        return self.second(right) + self.first(left), self.first(left)

def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)), (X,)

def quantized():
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from cmsis_nn_delegate import CmsisNnQuantizer, quantizable_module
    module, inputs = small()
    prepared = prepare_pt2e(quantizable_module(torch.export.export(module, inputs)), CmsisNnQuantizer())
    prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), inputs)

def bare():
    return small()[0]

def two():
    torch.manual_seed(0)
    return TwoInputs(), (torch.zeros(1, 6), torch.zeros(1, 3))

def angles():
    return Angles(), (X,)

def doubles():
    return small()[0], (X.double(),)

def double_weights():
    return small()[0].double(), (X,)

def data_dependent():
    return DataDependent(), (X,)

def dynamic():
    batch = torch.export.Dim("batch", min=2, max=8)
    x = torch.zeros(2, 2, 6, 6)
    return torch.export.export(small()[0], (x,), dynamic_shapes=({0: batch},))

def fails():
    raise RuntimeError("no weights here")

def returns_text():
    return "a model"

constant = 3
"""


_SMALL = ("m.py:small", "--target", "cortex-m4", "--calibration", "x.npz", "-o", "bad")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (8, 2, 6, 6)).astype(np.float32)
    (folder / "m.py").write_text(MODELS)
    np.savez(folder / "x.npz", x=x)
    np.savez(folder / "double.npz", x=x.astype(np.float64))
    np.savez(folder / "shape.npz", x=x[:, :1])
    np.savez(folder / "names.npz", a=x, b=x)
    np.savez(folder / "empty.npz", x=x[:0])
    np.save(folder / "single.npy", x)
    (folder / "text.npz").write_text("not an archive")
    left, right = (random.normal(0, 1, (5, n)).astype(np.float32) for n in (6, 3))
    np.savez(folder / "two.npz", left=left, right=right)
    np.savez(folder / "uneven.npz", left=left, right=right[:3])
    return folder


def run(capsys, *arguments):
    """(exit code, stdout, stderr)"""
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def compile_(capsys, folder, function, *options, data="x.npz", out="out"):
    return run(
        capsys,
        *["compile", f"{folder}/m.py:{function}", "--target", "cortex-m55"],
        *["--calibration", folder / data, "-o", folder / out, *options],
    )


def check_failure(result, code, *patterns):
    got, _, err = result
    assert got == code, err
    assert err.startswith("cmsisnn: error: ") and err.count("cmsisnn: error: ") == 1
    assert "Traceback" not in err
    for pattern in patterns:
        assert re.search(pattern, err), err


def compiled_small(folder, io, *options):
    """The common beginning of the files of a compiled model."""
    arguments = ["--target", "cortex-m55", "--calibration", f"{folder}/x.npz", "--io", io, *options]
    assert main(["compile", f"{folder}/m.py:small", *arguments, "--strict", "-o", f"{folder}/{io}"]) == 0
    return folder / io / "small"


@pytest.fixture(scope="module")
def small(folder):
    return compiled_small(folder, "int8")


@pytest.fixture(scope="module")
def small_float(folder):
    (folder / "q.yaml").write_text("preset: minmax\neverywhere: {activations: symmetric}\n")
    return compiled_small(folder, "float", "--quantizer", f"{folder}/q.yaml")


@pytest.mark.parametrize("arguments", ["--help", "targets", "run --help", "report --help", "etdump"])
def test_commands_that_do_not_compile_start_quickly(arguments):
    """They import neither NumPy nor our operators, which takes a quarter of a second, nor PyTorch."""
    code = """
import sys
from cmsis_nn_delegate.cli import command_line, main
try:
    main()
finally:
    print(*(name for name in sys.modules if name in ("numpy", "torch", "yaml") or "delegate.ops" in name), "imported")
"""
    command = [sys.executable, "-c", code, *arguments.split()]
    run = subprocess.run(command, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "imported", run.stdout + run.stderr


def test_help_lists_the_commands_that_there_are():
    folder = Path(command_line.__file__).parent
    modules = {path.stem.removesuffix("_command") for path in folder.glob("*_command.py")}
    assert {name.replace("-", "_") for name in command_line.COMMANDS} == modules


def test_targets(capsys):
    code, out, _ = run(capsys, "targets")
    assert code == 0
    found = dict(line.split() for line in out.splitlines())
    assert (found["cortex-m0plus"], found["cortex-m33"], found["cortex-m33+nodsp"]) == ("scalar", "dsp", "scalar")


def test_compile_writes_everything(capsys, folder, small):
    code, out, err = compile_(capsys, folder, "small", out="all")
    assert (code, err) == (0, "")
    written = {path.name for path in (folder / "all").iterdir()}
    suffixes = (".pte", ".payload.bin", ".h", ".kernels.h", ".c", ".graph.npz", ".report.txt", ".report.json")
    assert written == {f"small{suffix}" for suffix in suffixes}
    assert "- calibrated with 8 samples" in out and "gap 0" in out
    payload = (folder / "all" / "small.payload.bin").read_bytes()
    assert [t.dtype for t in decode(payload).inputs] == [Element.FLOAT32]
    assert payload in (folder / "all" / "small.pte").read_bytes()
    report = json.loads((folder / "all" / "small.report.json").read_text())
    assert report["flash_bytes"] == len(payload)
    assert (folder / "all" / "small.report.txt").read_text() in out
    _, about = Artifacts.of(f"{folder}/all/small").graph()
    modules = list(dict.fromkeys(json.loads(about.modules).values()))
    assert modules == ["0 (Conv2d)", "1 (ReLU)", "2 (Flatten)", "3 (Linear)"]


def test_compile_writes_the_calls_as_cpp(capsys, folder, small):
    code, out, err = compile_(capsys, folder, "small", "--emit", "cpp", out="cpp")
    assert (code, err) == (0, "") and "small.model.cc (" in out
    artifacts = Artifacts.of(f"{folder}/cpp/small.model.cc")
    assert artifacts.name == "small"
    artifacts.check()
    assert f"kCall{len(artifacts.payload().calls) - 1} = {{" in artifacts.read(".model.cc").decode()


def test_a_model_that_exceeds_its_budget_is_not_written(capsys, folder, small):
    limits = ("--max-arena", "16", "--max-flash", "32", "--max-instructions", "10")
    code, _, err = compile_(capsys, folder, "small", *limits, out="budget")
    assert code == 1 and not list((folder / "budget").glob("small*"))
    assert re.search(
        r"small exceeds its budget for cortex-m\S+: the arena takes .* limit of 16\..*the payload takes.*limit of 10\.",
        err,
    )
    assert "Traceback" not in err
    limits = ("--max-arena", "100000", "--max-flash", "100000", "--max-instructions", "1000000")
    code, out, _ = compile_(capsys, folder, "small", *limits, out="budget")
    assert re.search(r"about [\d,]+ instructions predicted for the calls on cortex-m\S+; of \d+ networks", out)
    assert code == 0 and (folder / "budget" / "small.payload.bin").is_file()


def test_a_model_in_several_memories(capsys, folder, small):
    memories = ("--memory", "dtcm=64", "--memory", "sram=64K")
    code, out, _ = compile_(capsys, folder, "small", *memories, out="memories")
    assert code == 0 and re.search(r"dtcm +\d+ +64 ", out) and re.search(r"sram \(arena\) +[\d,]+ +65,536 ", out)
    files = folder / "memories" / "small"
    assert "SMALL_REGION1_BYTES" in files.with_suffix(".h").read_text()
    code, shown, _ = run(capsys, "report", files)  # compiles the graph again, for the same memories
    assert code == 0 and "sram (arena)" in shown
    refused = compile_(capsys, folder, "small", *memories, "--emit", "cpp", out="refused")
    check_failure(refused, 2, "one arena, .* give one --memory that holds no weights, or none")
    assert "calibrated" not in refused[1]  # before the work, not after it
    refused = compile_(capsys, folder, "small", "--memory", "dtcm=16", "--memory", "sram=16", out="refused")
    check_failure(refused, 1, "does not fit its memories: sram would take .* more than its 16")
    assert not (folder / "refused").exists()


def test_a_model_whose_weights_init_copies(capsys, folder, small):
    weights = ("--memory", "tcm=1K:weights")
    code, out, _ = compile_(capsys, folder, "small", *weights, out="copies")
    files = folder / "copies" / "small"
    copied = re.search(r"copies of constants in tcm: ([\d,]+) of 1,008 bytes, .* 100% of what an inference reads", out)
    assert code == 0 and copied
    assert f"copies of constants, {copied[1]} bytes" in files.with_suffix(".h").read_text()
    code, shown, _ = run(capsys, "report", files)  # compiles the graph again, for the same memories
    assert code == 0 and copied[0] in shown
    refused = compile_(capsys, folder, "small", *weights, "--emit", "cpp", out="refused")
    check_failure(refused, 2, "give one --memory that holds no weights, or none")
    refused = compile_(capsys, folder, "small", "--memory", "tcm=1K:code", out="refused")
    check_failure(refused, 2, "tcm is for 'code', which is none of activations, scratch, state, weights")


def test_a_model_for_a_board(capsys, folder, small):
    description = {"name": "mine", "core": "cortex-m33", "memories": {"FLASH": {"size": 1 << 20}}}
    board = folder / "mine.board.json"
    options = ("--calibration", folder / "x.npz", "-o", folder / "board")

    def compile_for_board(*memories, **sizes):
        sized = {name: {"size": size, "wait_states": wait} for name, (size, wait) in sizes.items()}
        found = {**description, "memories": {**description["memories"], **sized}}
        board.write_text(json.dumps(found))
        return run(capsys, "compile", f"{folder}/m.py:small", "--board", board, *options, *memories)

    code, out, _ = compile_for_board(RAM=(4096, 0))
    assert code == 0 and "for cortex-m33" in out and re.search(r"RAM \(arena\) +[\d,]+ +4,096 ", out)
    memories = ("--memory", "TCM:weights,activations,scratch", "--memory", "RAM=2K")
    code, out, _ = compile_for_board(*memories, RAM=(4096, 2), TCM=(512, 0))
    assert code == 0 and re.search(r"TCM +\d+ +496 ", out) and re.search(r"RAM \(arena\) +[\d,]+ +2,048 ", out)
    refused = compile_for_board("--memory", "RAM", "--memory", "TCM", RAM=(4096, 2), TCM=(512, 0))
    check_failure(refused, 2, "RAM comes before TCM, but is slower: .* Give the fastest memory first")
    check_failure(compile_for_board(RAM=(16, 0)), 1, "does not fit its memories: RAM would take .* more than its 16")
    refused = compile_for_board(RAM=(4096, 0), FLASH=(64, 0))
    check_failure(refused, 1, "the payload takes .* limit of 64.* That limit is the flash of board mine")
    refused = run(capsys, "compile", f"{folder}/m.py:small", *options)
    check_failure(refused, 2, "give --target, a core that `cmsisnn targets` lists, or --board")


def test_diff_compares_compiled_models_and_other_reports(capsys, folder, small, tmp_path):
    beginning = small
    code, out, err = run(capsys, "diff", beginning, beginning)
    assert (code, err) == (0, "") and "arena, bytes" in out and out.endswith("nothing else differs\n")
    sizes = {"flash": {"total": 9, "parts": {}}, "ram": {"total": 4, "sections": {}, "parts": {}}}
    (tmp_path / "image.size.json").write_text(json.dumps(sizes))
    code, _, err = run(capsys, "diff", beginning, tmp_path / "image.size.json")
    assert code == 2 and "give two of one kind" in err
    code, out, _ = run(capsys, "diff", *[tmp_path / "image.size.json"] * 2, "--format", "markdown")
    assert code == 0 and "| flash, bytes | 9 | 9 | 0 |" in out
    code, _, err = run(capsys, "diff", tmp_path / "image.size.json", tmp_path / "none.json")
    assert code == 2 and "none.json does not exist" in err


def test_compile_is_deterministic(capsys, folder, small):
    compile_(capsys, folder, "small", "--io", "int8", out="again")
    for path in small.parent.iterdir():
        assert path.read_bytes() == (folder / "again" / path.name).read_bytes(), path.name


def test_the_compiler_chooses_formats_and_keeps_them_in_a_file(capsys, folder):
    written = folder / "chosen.yaml"
    options = ["--io", "int8", "--min-sqnr", "20", "--data", folder / "x.npz", "--write-quantizer", written]
    code, out, err = compile_(capsys, folder, "small", *options, out="chosen")
    assert code == 0, err
    assert "Formats that keep at least 20 dB, by " in out and f"  {written}\n" in out
    assert re.search(r"chosen: int8 throughout +\d\d\.\d\d dB +[\d,]+ +[\d,]+ +[\d,]+\n", out)
    assert written.read_text().startswith("# Chosen to keep at least 20 dB: int8 throughout, ")
    assert compile_(capsys, folder, "small", "--io", "int8", "--quantizer", written, out="kept")[0] == 0
    for name in ("small.payload.bin", "small.report.json", "small.graph.npz"):
        assert (folder / "chosen" / name).read_bytes() == (folder / "kept" / name).read_bytes(), name
    result = compile_(capsys, folder, "small", "--min-sqnr", "150", "--write-quantizer", folder / "no.yaml", out="no")
    check_failure(result, 1, r"no formats keep at least 150 dB.*: .*float32 throughout, .* \d+\.\d\d dB")
    assert not (folder / "no").exists() and not (folder / "no.yaml").exists()


def test_explore_shows_what_its_commands_compile(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = ["m.py:small", "--target", "cortex-m4", "--calibration", "x.npz", "--io", "int8", "-o", "explored"]
    # A simulator that takes a cycle for each byte of the payload, or two.
    monkeypatch.setattr(simulate, "default_image", lambda core: Path(f"{core}.elf"))
    simulated = lambda payload, *_, **options: SimpleNamespace(cycles=[(len(payload), 2 * len(payload))])  # noqa: E731
    monkeypatch.setattr(simulate, "run", simulated)
    code, out, err = run(capsys, "explore", *arguments, "--assignments", "2", "--json", "--cycles")
    assert code == 0, err
    document = json.loads(out)
    assert document == json.loads((folder / "explored" / "small.explore.json").read_text())
    assert "compilations that no other one beats" in (folder / "explored" / "small.explore.html").read_text()
    points = document["points"]
    assert points and document["compiled"] > len(points)
    assert [point["cycles"] for point in points] == [[point["flash"], 2 * point["flash"]] for point in points]
    for point in (points[0], points[-1]):
        program, *command = shlex.split(point["command"])
        assert program == "cmsisnn" and run(capsys, *command)[0] == 0
        report = json.loads((folder / "explored" / "small.report.json").read_text())
        figures = report["flash_bytes"], report["arena"]["nbytes"], report["prediction"]["instructions"]
        assert figures == (point["flash"], point["ram"], point["instructions"])


def test_a_module_without_example_inputs_takes_their_shape_from_the_calibration(capsys, folder):
    code, _, _ = compile_(capsys, folder, "bare", "--name", "other", out="bare")
    assert code == 0
    assert (folder / "bare" / "other.payload.bin").exists()


def test_partly_delegated_models_say_why(capsys, folder):
    (folder / "partial").mkdir(exist_ok=True)
    (folder / "partial" / "angles.payload.bin").write_bytes(b"of an earlier version")
    code, out, err = compile_(capsys, folder, "angles", out="partial")
    assert (code, err) == (0, "")
    assert "unsupported-operator" in out and "aten.atan2" in out
    files = {path.name for path in (folder / "partial").iterdir()}
    assert files == {"angles.pte", "angles.kernels.h", "angles.parts.json"}
    code, shown, _ = run(capsys, "report", folder / "partial" / "angles")
    assert code == 0 and shown.rstrip() in out and "torch.atan2(y, y)" in shown
    assert "\nPart 1 of 1\n" in shown and "\nFlash, bytes\n" in shown
    code, shown, _ = run(capsys, "report", folder / "partial" / "angles", "--json")
    assert code == 0 and shown == (folder / "partial" / "angles.parts.json").read_text()


def test_the_page_of_a_partly_delegated_model(capsys, folder):
    code, out, _ = compile_(capsys, folder, "angles", "--html", out="page")
    page, data = (folder / "page" / f"angles.{suffix}" for suffix in ("report.html", "parts.json"))
    assert code == 0 and f"{page} (" in out
    written = page.read_bytes()
    for model in (folder / "page" / "angles", data):
        page.unlink()
        code, _, _ = run(capsys, "report", model, "--html")
        assert code == 0 and page.read_bytes() == written
    refused = run(capsys, "report", data, "--html", "--profile", data)
    check_failure(refused, 2, "--profile is for models that are one delegate call")
    compared = ("report", data, "--html", folder / "page" / "compared.html", "--against", data, "--max-arena", "1")
    assert run(capsys, *compared)[0] == 0
    shown = (folder / "page" / "compared.html").read_text()
    assert "unchanged" in shown and "budget exceeded" in shown and "<h2>Changes</h2><p>None against" in shown
    refused = run(capsys, "report", data, "--html", "--accuracy", data)
    check_failure(refused, 2, "has no accuracy: write one with")
    for path in (page, data, folder / "page" / "angles.kernels.h"):
        content = path.read_text()
        path.write_text(content.replace(json.loads(data.read_text())["program_crc32"], "00000000"))
        refused = run(capsys, "report", folder / "page" / "angles")
        check_failure(refused, 2, f"{path} and .*angles.pte are from different compilations")
        path.write_text(content)
    # Without the program, the other files still tell.
    program, content = page.with_name("angles.pte"), data.read_text()
    program.unlink()
    assert run(capsys, "report", folder / "page" / "angles")[0] == 0
    data.write_text(content.replace(json.loads(content)["program_crc32"], "00000000"))
    refused = run(capsys, "report", folder / "page" / "angles")
    check_failure(refused, 2, r"different compilations \(programs [0-9a-f]{8} and 00000000\)")
    data.write_text("{}")
    check_failure(run(capsys, "report", data, "--html"), 2, "does not describe the parts of a model")


def test_a_budget_for_a_partly_delegated_model(capsys, folder):
    refused = compile_(capsys, folder, "angles", "--max-flash", "10", out="partial_budget")
    check_failure(refused, 1, "angles exceeds its budget .* the payload takes .* limit of 10")
    refused = compile_(capsys, folder, "angles", "--max-instructions", "10", out="partial_budget")
    check_failure(refused, 1, "an inference, without operators outside of the delegate, takes .* limit of 10")
    assert not list((folder / "partial_budget").glob("angles*"))


def test_explain(capsys, folder):
    source = f"{folder}/m.py:angles"
    code, out, _ = run(capsys, "explain", source, "--target", "cortex-m4")
    assert code == 0
    pattern = r"m\.py:\d+ +atan2 +outside: unsupported-operator\n +\S.*atan2.*\n    no kernel for aten\.atan2"
    assert re.search(pattern, out)
    assert re.search(r"\(Conv2d\) +m\.py:\d+ +conv2d +partition 0, call \d: conv2d_pairs \(tuned\)\n", out)
    assert "quantize_per_tensor" not in out
    assert run(capsys, "explain", source, "--target", "cortex-m4", "--strict")[0] == 1


def test_explain_as_json(capsys, folder):
    code, out, _ = run(capsys, "explain", f"{folder}/m.py:angles", "--target", "cortex-m4", "--json")
    document = json.loads(out)
    assert (code, document["schema"], document["whole"]) == (0, 1, False)
    decisions = {f["function"]: f for f in document["functions"]}
    angles, convolution = decisions["aten.atan2.default"], decisions["aten.conv2d.default"]
    assert (angles["severity"], angles["reason"], angles["calls"]) == ("warning", "unsupported-operator", [])
    assert "atan2" in angles["code"] and "runs in float" in angles["message"]
    assert convolution["severity"] == "ok" and convolution["calls"][0]["kernel"] == "conv2d_pairs"
    assert document["work"]["calls"] == convolution["partition"] + 1


def test_print_after(capsys, folder):
    code, out, _ = compile_(capsys, folder, "small", "--print-after", "io", "--print-after", "passes", out="printed")
    assert code == 0
    assert "After io:\n" in out and "After passes:\ngraph(%" in out
    assert out.count("After ") == 2
    code, _, err = compile_(capsys, folder, "small", "--print-after", "layouts", out="printed")
    assert code == 2
    assert "no stage 'layouts'; choose one of capture, canonicalize," in err


def test_the_graph_of_a_failing_pass_is_in_a_file(capsys, folder, tmp_path, monkeypatch):
    def reverse(graph):
        graph.nodes.reverse()

    monkeypatch.setattr("cmsis_nn_delegate.passes.run_passes.PASSES", (reverse,))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, _, err = compile_(capsys, folder, "small", out="failing")
    assert code == 1 and "reverse left an invalid graph" in err
    (path,) = re.findall(r"the graph is in (\S+)", err)
    assert "= conv2d(%" in Path(path).read_text()


def test_report(capsys, small):
    code, out, _ = run(capsys, "report", small)
    assert code == 0
    assert out == small.with_name("small.report.txt").read_text()
    code, out, _ = run(capsys, "report", f"{small}.payload.bin", "--json")
    assert json.loads(out) == json.loads(small.with_name("small.report.json").read_text())


def test_the_page_of_a_report(capsys, small, tmp_path):
    for file in small.parent.glob("small.*"):
        shutil.copy(file, tmp_path)
    code, out, err = run(capsys, "report", tmp_path / "small", "--html")
    assert (code, err) == (0, "") and "small.report.html" in out and "cmsisnn profile" in out
    assert run(capsys, "report", tmp_path / "small.report.html")[0] == 0  # it belongs to the payload
    alone = tmp_path / "alone" / "other.report.json"
    alone.parent.mkdir()
    shutil.copy(tmp_path / "small.report.json", alone)
    code, _, err = run(capsys, "report", alone, "--html", tmp_path / "page.html", "--against", alone)
    assert (code, err) == (0, "")
    report = json.loads(alone.read_text())
    assert f"None against small for {report['target']}" in (tmp_path / "page.html").read_text()
    check_failure(run(capsys, "report", small, "--against", alone), 2, "--against is for --html")
    check_failure(run(capsys, "report", small, "--max-arena", 9), 2, "--max-arena is for --html")
    check_failure(run(capsys, "report", small, "--html", "--max-flash", -1), 2, "'-1' is no number of bytes")
    part = {"code": 5, "constants": 0, "initial": 0, "total": 5, "objects": {"main.o": 5}}
    (tmp_path / "app.size.json").write_text(
        json.dumps(
            {"flash": {"total": 5, "parts": {"app": part}}, "ram": {"total": 1, "sections": {".bss": 1}, "parts": {}}}
        )
    )
    options = ["--image", tmp_path / "app.size.json", "--max-arena", 10_000, "--html", tmp_path / "page.html"]
    assert run(capsys, "report", alone, *options)[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert "flash-map" in page and "of the limit of 10,000" in page
    calls = [call for call in report["calls"] if call["sources"]]
    assert calls and all(call["modules"] for call in calls)
    page = (tmp_path / "small.report.html").read_text()
    (tmp_path / "small.report.html").write_text(page.replace(report["payload_crc32"], "00000000"))
    check_failure(run(capsys, "report", tmp_path / "small"), 2, "different compilations")


def test_the_report_names_the_quantizer(capsys, small_float):
    _, out, _ = run(capsys, "report", small_float)
    assert "quantizer: minmax; everywhere: activations symmetric\n" in out


def test_run_on_the_reference(capsys, folder, small):
    """float32 inputs are quantized for int8 models, int8 ones are taken as they are."""
    code, out, _ = run(capsys, "run", small, "--inputs", folder / "x.npz", "-o", folder / "y.npz")
    assert code == 0 and "quantizing with scale" in out
    with np.load(folder / "y.npz") as results:
        first = results["output0"]
    assert (first.shape, first.dtype) == ((8, 3), np.int8)

    (tensor,) = decode(small.with_name("small.payload.bin").read_bytes()).inputs
    with np.load(folder / "x.npz") as data:
        steps = np.rint(data["x"] * np.float32(1 / np.float64(tensor.scale)))
    q = np.clip(steps + tensor.zero_point, -128, 127).astype(np.int8)
    np.savez(folder / "q.npz", x=q)
    code, out, _ = run(capsys, "run", small, "--inputs", folder / "q.npz", "-o", folder / "z.npz")
    assert code == 0 and "quantizing" not in out
    with np.load(folder / "z.npz") as results:
        assert np.array_equal(results["output0"], first)


def test_several_inputs_and_outputs_keep_the_order_of_the_model(capsys, folder):
    code, _, err = compile_(capsys, folder, "two", "--strict", data="two.npz", out="two")
    assert (code, err) == (0, "")
    view = decode((folder / "two" / "two.payload.bin").read_bytes())
    assert [t.shape for t in view.inputs] == [(1, 6), (1, 3)]
    code, out, _ = run(capsys, "run", folder / "two" / "two", "--inputs", folder / "two.npz", "-o", folder / "y2.npz")
    assert code == 0

    sys.path.insert(0, str(folder))
    try:
        import m
    finally:
        sys.path.remove(str(folder))
    module, _ = m.two()
    with np.load(folder / "two.npz") as data, np.load(folder / "y2.npz") as results:
        wanted = module(*(torch.from_numpy(data[name]) for name in ("left", "right")))
        for index, want in enumerate(wanted):
            assert np.abs(results[f"output{index}"] - want.detach().numpy()).max() < 0.1


# Bad input ------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, options, code, patterns",
    [
        ("missing", (), 2, ["no function 'missing'", "choose one of angles, "]),
        ("constant", (), 2, ["no function 'constant'"]),
        ("fails", (), 2, ["RuntimeError: no weights here"]),
        ("returns_text", (), 2, ["returned str", "torch.nn.Module"]),
        ("doubles", (), 2, ["example input 0 is float64", r"\.float\(\)"]),
        ("double_weights", (), 2, ["0.weight of the model is float64"]),
        (
            "data_dependent",
            (),
            1,
            ["depends on values that only an inference knows, at m.py:", r"'return x if x\.sum\(\) > 0 else -x'"],
        ),
        ("dynamic", (), 1, ["dynamic shape", "fixed shapes"]),
        ("angles", ("--strict",), 1, ["1 operator is not delegated", "aten.atan2", "unsupported-operator"]),
        ("small", ("--io", "int9"), 2, ["--io", "unknown io 'int9'; choose one of float, int8"]),
        ("small", ("--io-placement", "flash"), 2, ["--io-placement"]),
        ("small", ("--linear-weights", "per-row"), 2, ["--linear-weights"]),
        ("small", ("--unknown",), 2, ["--unknown"]),
    ],
)
def test_models_that_cannot_be_compiled(capsys, folder, function, options, code, patterns):
    check_failure(compile_(capsys, folder, function, *options, out="bad"), code, *patterns)
    assert not (folder / "bad").exists()


@pytest.mark.parametrize(
    "option, value",
    [
        ("--target", "cortex-m99"),
        ("--io", "int9"),
        ("--io-placement", "flash"),
        ("--linear-weights", "per-row"),
        ("--observer", "guess"),
        ("--quantizer", "guess"),
        ("--quantizer", "missing.yaml"),
        ("--name", "a/b"),
    ],
)
def test_options_are_checked_before_the_model_is_loaded(capsys, folder, option, value):
    result = compile_(capsys, folder, "fails", option, value, out="bad")
    check_failure(result, 2, re.escape(value))
    assert "no weights here" not in result[2] and "loading" not in result[1]


def test_a_preset_by_each_of_its_names(capsys, folder):
    """Help and errors list them, and a report has the same preset for both."""
    listed = r"default \(or int8\), minmax"
    check_failure(compile_(capsys, folder, "small", "--quantizer", "int9", out="bad"), 2, f"a preset: {listed}")
    with pytest.raises(SystemExit):
        main(["compile", "--help"])
    assert re.search(listed, " ".join(capsys.readouterr().out.split()))
    code, out, _ = compile_(capsys, folder, "small", "--quantizer", "int8", out="alias")
    assert code == 0 and "quantizer: default\n" in out


def test_formats_by_layer_are_no_preset_but_a_search(capsys, folder):
    result = compile_(capsys, folder, "small", "--quantizer", "mixed", out="bad")
    check_failure(result, 2, "there is no preset 'mixed'", "give compile --min-sqnr")


@pytest.mark.parametrize(
    "data, pattern",
    [
        ("nowhere.npz", "nowhere.npz does not exist"),
        ("double.npz", "float64.*astype"),
        ("shape.npz", r"samples \* 1, 2, 6, 6\), not \[8, 1, 6, 6\]"),
        ("names.npz", "no array 'input' or 'input0'.*holds a, b"),
        ("empty.npz", "no samples"),
        ("single.npy", "single array"),
        ("text.npz", "not a readable .npz file: it is no archive of arrays; write it with numpy.savez"),
        ("", "is a folder, not a file"),
        ("pipe", "is a pipe or a device: write its contents to a file first"),
    ],
)
def test_bad_calibration_data(capsys, folder, data, pattern):
    if data == "pipe":
        os.mkfifo(folder / data)
    check_failure(compile_(capsys, folder, "small", data=data, out="bad"), 2, pattern)


def no_library(*_):
    raise UserError("there is no library")


def test_a_quantized_model_needs_no_calibration_data(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    command = ["compile", "m.py:quantized", "--target", "cortex-m4", "-o", "quantized"]
    code, out, _ = run(capsys, *command)
    assert code == 0 and "quantizer: none, quantized before" in out
    check_failure(run(capsys, *command, "--calibration", "x.npz"), 2, "the model is quantized already")
    check_failure(run(capsys, *command, "--quantizer", "minmax"), 2, "the model is quantized already")
    # The integer reference computes the device's outputs: another test needs that no library is loaded.
    monkeypatch.setattr("cmsis_nn_delegate.accuracy.measurement.HostProgram", no_library)
    code, out, _ = run(capsys, "accuracy", "m.py:quantized", "--data", "x.npz")
    assert code == 0 and re.search(r"\nquantized  .*\ndevice .* the integer reference\n", out) and "\nfloat" not in out


def test_what_does_not_fit_names_the_users_modules_and_leaves_no_file(capsys, folder, tmp_path, monkeypatch):
    """Names of PyTorch's nodes say nothing to readers, and a graph helps nobody to find more memory."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for options, named in (
        (["--memory", "dtcm=200"], "quantize of input_1 as int8"),
        (["--max-arena", "0K", "--max-flash", "100"], r"of 0 \(Conv2d\) with"),
    ):
        result = compile_(capsys, folder, "small", *options, out="bad")
        check_failure(result, 1, named)
        assert not re.search("aten|quantized_decomposed|the graph is in", result[2])
    assert not list(tmp_path.iterdir())


def test_the_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0 and re.fullmatch(r"cmsisnn \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_ctrl_c_while_the_command_line_is_imported(capsys, monkeypatch):
    class Interrupted:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "cmsis_nn_delegate.cli", Interrupted())
    assert entry.main() == 130
    assert capsys.readouterr().err == "cmsisnn: error: interrupted\n"


def test_the_end_of_a_command_searches_for_no_garbage(monkeypatch):
    """That takes a second after PyTorch is imported."""
    monkeypatch.setitem(sys.modules, "cmsis_nn_delegate.cli", SimpleNamespace(main=lambda: 3))
    gc.unfreeze()
    assert entry.main() == 3 and gc.get_freeze_count() > 0
    gc.unfreeze()


def test_inputs_with_different_numbers_of_samples(capsys, folder):
    result = compile_(capsys, folder, "two", data="uneven.npz", out="bad")
    check_failure(result, 2, "different numbers of samples: .*'left': 5.*'right': 3")


@pytest.mark.parametrize(
    "arguments, pattern",
    [
        (["compile", "m.py:small", "--target", "cortex-m55", "-o", "bad"], "calibration data is missing"),
        (["compile", "m.py:small", "--calibration", "x.npz", "-o", "bad"], "--target"),
        (
            ["compile", "m.py:small", "--target", "cortex-m99", "--calibration", "x.npz", "-o", "bad"],
            "unknown target 'cortex-m99'; choose one of cortex-m0plus",
        ),
        (["compile", *_SMALL, "--data", "x.npz"], "--data is for --min-sqnr, --min-top1 and --max-drop"),
        (["compile", *_SMALL, "--min-top1", "0.9", "--labels"], "--labels names an array of --data"),
        (["compile", *_SMALL, "--min-top1", "0.9"], "a limit of top-1 needs labels: give --labels"),
        (["compile", *_SMALL, "--max-drop", "0.1", "--data", "x.npz", "--labels"], "x.npz has no array 'labels'"),
        (["compile", *_SMALL, "--min-top1", "90"], "the least top-1 is 90; it must be a share from 0 to 1"),
        (["compile", *_SMALL, "--min-sqnr", "9", "--write-quantizer", "q.txt"], "a name that ends in .yaml"),
        (["compile", *_SMALL, "--min-sqnr", "9", "--print-after", "io"], "--print-after shows one compilation"),
        (["explore", *_SMALL, "--prefer", "ram"], "--prefer is for compile: explore tries all of its values"),
        (["explore", *_SMALL, "--target", "cortex-m3", "--cycles"], "modelled for .*, and this is for cortex-m3"),
        (["explore", *_SMALL, "--assignments", "1"], "assignments is 1; give 2 or more"),
        (["explore", "m.py:small", "--calibration", "x.npz", "-o", "bad"], "give --target, .* or --board"),
        (["explain", "m.py:small", "--target", "m4"], "unknown target 'm4'; did you mean cortex-m4\\?"),
        (
            ["explain", "m.py:small", "--target", "cortex-m3+nodsp"],
            "cortex-m3 has no features that can be switched off",
        ),
        (["profile", "nowhere/model", "--core", "cortex-m3+nodsp"], "--core: .*cortex-m3 has no features"),
        (
            ["compile", "nowhere.py:f", "--target", "cortex-m4", "--calibration", "x.npz", "-o", "bad"],
            "nowhere.py does not exist",
        ),
        (["compile", "m.py", "--target", "cortex-m4", "--calibration", "x.npz", "-o", "bad"], "FILE.py:FUNCTION"),
        (["explain", "m.py:bare", "--target", "cortex-m4"], "gives no example inputs"),
        (["report", "nowhere/model"], "no compiled model"),
        (["report", "nowhere/model.pte"], "does not exist"),
        (["run", "nowhere/model", "--inputs", "x.npz"], "no compiled model"),
        (["explain", "m.py:smal", "--target", "cortex-m4"], "no function 'smal'; did you mean 'small'"),
        (["explain", "m.py:Zq", "--target", "cortex-m4"], "no function .Zq.; choose one of (?!.*DataDep)"),
        (["compile", "m.py:small", "--target", "cortex-m4", "--calibration", "x.npz", "-o", ""], "empty name"),
        (["explain", "m.py:small", "--target", "cortex-m4", "--max-flash-growth", "2X"], "'2X' is no number of bytes"),
        (["report", "no\x1b[31mwhere"], r"no\\x1b\[31mwhere is no compiled model"),
        (["fly"], "invalid choice: 'fly'"),
        ([], "COMMAND"),
    ],
)
def test_wrong_arguments(capsys, folder, monkeypatch, arguments, pattern):
    monkeypatch.chdir(folder)
    check_failure(run(capsys, *arguments), 2, pattern)


@pytest.mark.parametrize(
    "text, pattern",
    [
        ("import sys\nsys.exit(0)\n", r"x.py cannot be imported: it calls sys.exit\(0\).*__main__"),
        ("def f():\n    raise SystemExit('done')\n", r"x.py:f failed: it calls sys.exit\('done'\)"),
    ],
    ids=["file", "function"],
)
def test_a_model_file_that_ends_the_program_is_an_error(capsys, tmp_path, text, pattern):
    path = tmp_path / "x.py"
    path.write_text(text)
    check_failure(run(capsys, "explain", f"{path}:f", "--target", "cortex-m4"), 2, pattern)


ENDING = """
import sys
import torch

class End(BaseException):
    pass

class Ending(torch.nn.Module):
    def forward(self, x):
        ERROR

class EndingCopy(torch.nn.Module):
    def forward(self, x):
        return x + 1
    def __deepcopy__(self, memo):
        ERROR

def forward():
    return Ending(), (torch.zeros(1, 2, 6, 6),)

def copy():
    return EndingCopy(), (torch.zeros(1, 2, 6, 6),)

def function():
    ERROR
"""


@pytest.mark.parametrize("error", ["sys.exit(0)", "raise GeneratorExit", "raise End('of all')"])
@pytest.mark.parametrize("where", ["forward", "copy", "function"])
def test_code_of_the_user_that_ends_the_program_is_an_error(capsys, folder, tmp_path, where, error):
    path = tmp_path / f"ending_{where}.py"  # a module of each name is loaded once
    path.write_text(ENDING.replace("ERROR", error))
    arguments = ["--target", "cortex-m4", "--calibration", folder / "x.npz", "-o", tmp_path / "out"]
    result = run(capsys, "compile", f"{path}:{where}", *arguments)
    check_failure(result, 2, {"sys": "sys.exit", "raise": "GeneratorExit|End: of all"}[re.split(r"\W", error)[0]])
    assert "unexpected" not in result[2] and not (tmp_path / "out").exists()
    with pytest.raises(UserError):
        compile_model(
            load_model(f"{path}:forward").module, (torch.zeros(1, 2, 6, 6),), "cortex-m4", [(torch.zeros(1, 2, 6, 6),)]
        )


def copied(small, folder, name):
    """The files of `small` under another name, to be damaged."""
    for path in small.parent.iterdir():
        shutil.copy(path, folder / path.name.replace("small", name, 1))
    return folder / name


def test_truncated_payloads(capsys, small, tmp_path):
    model = copied(small, tmp_path, "cut")
    payload = tmp_path / "cut.payload.bin"
    whole = payload.read_bytes()
    for size in (0, 10, 63, 64, len(whole) // 2, len(whole) - 1):
        payload.write_bytes(whole[:size])
        check_failure(run(capsys, "report", model), 2, "cut.payload.bin: .*(header|truncated)")


def test_payload_of_another_model(capsys, small, tmp_path):
    model = copied(small, tmp_path, "other")
    path = tmp_path / "other.payload.bin"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    crc_at = schema.HEADER.offset_of("crc32")
    struct.pack_into("<I", data, crc_at, 0)
    struct.pack_into("<I", data, crc_at, zlib.crc32(data))
    path.write_bytes(data)
    check_failure(run(capsys, "report", model), 2, "compile the model again")


@pytest.mark.parametrize("suffix", [".pte", ".payload.bin", ".graph.npz", ".report.json", ".report.txt", ".h", ".c"])
def test_files_of_two_compilations_are_refused_by_everything(capsys, small, small_float, tmp_path, suffix):
    """The same model with float inputs: a run with one file of it would go well."""
    model = copied(small, tmp_path, "mixed")
    shutil.copy(f"{small_float}{suffix}", f"{model}{suffix}")
    pattern = r"from different compilations.*compile the model again"
    check_failure(run(capsys, "report", model), 2, pattern)
    for where in ("reference", "host", "simulator"):
        # Before anything else is looked for, as inputs, a library or an image.
        check_failure(run(capsys, "run", model, "--inputs", "nowhere.npz", "--on", where), 2, pattern)


def test_outputs_that_cannot_be_written_are_told_before_the_work(capsys, folder, small, tmp_path, monkeypatch):
    monkeypatch.setattr("cmsis_nn_delegate.cli.model.load_model", lambda source: pytest.fail("too late"))
    (tmp_path / "file").write_text("")
    check_failure(compile_(capsys, folder, "small", out=tmp_path / "file"), 2, "file is a file, not a folder")
    check_failure(compile_(capsys, folder, "small", out="/proc/x"), 2, "/proc/x cannot be made")
    (tmp_path / "results.npz").mkdir()
    inputs = ("--inputs", folder / "nowhere.npz")
    for output, pattern in (
        (tmp_path / "file" / "y.npz", "file cannot be made|file is a file"),
        (tmp_path / "results", r"results\.npz is a folder"),
        ("", "names no file"),
    ):
        check_failure(run(capsys, "run", small, *inputs, "-o", output), 2, pattern)


def test_a_folder_in_the_place_of_a_file_is_told_before_calibration(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "cmsis_nn_delegate.cli.model_compilation.compile_model", lambda *a, **k: pytest.fail("too late")
    )
    (tmp_path / "small.report.txt").mkdir()
    check_failure(compile_(capsys, folder, "small", out=tmp_path), 2, r"small\.report\.txt is a folder")


@pytest.mark.parametrize("name", ["", "a/b", "..", "net.pte", 'a"b'])
def test_names_are_checked_before_anything(capsys, folder, tmp_path, monkeypatch, name):
    monkeypatch.setattr("cmsis_nn_delegate.cli.model.load_model", lambda source: pytest.fail("too late"))
    result = compile_(capsys, folder, "small", "--name", name, out=tmp_path / "named")
    check_failure(result, 2, "cannot be the name of a model")
    assert not (tmp_path / "named").exists()


def test_results_are_replaced_whole(capsys, folder, small, tmp_path, monkeypatch):
    inputs = ("--inputs", folder / "x.npz", "-o", tmp_path / "y")
    assert run(capsys, "run", small, *inputs)[0] == 0
    whole = (tmp_path / "y.npz").read_bytes()

    def full(path, content):
        path.write_bytes(content[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("cmsis_nn_delegate.files.outputs._write", full)
    check_failure(run(capsys, "run", small, *inputs), 2, r"y\.npz: No space left on device")
    assert [p.name for p in tmp_path.iterdir()] == ["y.npz"]
    assert (tmp_path / "y.npz").read_bytes() == whole


def test_damaged_graph_file(capsys, small, tmp_path):
    model = copied(small, tmp_path, "broken")
    (tmp_path / "broken.graph.npz").write_bytes(b"nothing")
    check_failure(run(capsys, "report", model), 2, "not a graph file")


def test_inputs_of_another_shape(capsys, folder, small):
    check_failure(run(capsys, "run", small, "--inputs", folder / "shape.npz"), 2, r"not \[8, 1, 6, 6\]")


def test_host_library_that_is_missing(capsys, folder, small, monkeypatch):
    monkeypatch.delenv("CMSISNN_HOST_LIBRARY", raising=False)
    result = run(capsys, "run", small, "--inputs", folder / "x.npz", "--on", "host", "--library", folder / "no.so")
    check_failure(result, 2, "no.so does not exist; build it with")


def test_firmware_that_is_missing(capsys, folder, small):
    result = run(capsys, "run", small, "--inputs", folder / "x.npz", "--on", "simulator", "--image", folder / "no.elf")
    check_failure(result, 2, "no.elf does not exist|simulator driver is part of the project")


def test_unexpected_errors_are_one_line_unless_debugging(capsys, folder, monkeypatch):
    def broken(argument):
        raise KeyError("surprise\nsecond line")

    monkeypatch.setattr("cmsis_nn_delegate.files.artifacts.Artifacts.of", broken)
    check_failure(run(capsys, "report", "x"), 1, "KeyError.*unexpected; --debug")
    assert "Traceback" in run(capsys, "report", "x", "--debug")[2]


# Simulated device -----------------------------------------------------------


class FakeSimulator:
    """Answers jobs as the firmware does, with the integer reference's outputs."""

    class SimulatorError(RuntimeError):
        pass

    def __init__(self, artifacts, flip=False, note="", core="cortex-m55"):
        self.artifacts, self.flip, self.jobs, self.note, self.core = artifacts, flip, [], note, core
        self.graph, _ = artifacts.graph()

    def run(self, elf, job, timeout_s):
        self.jobs.append(job)
        header = JOB_HEADER.unpack(job)
        program = header["flags"] & JobFlag.PROGRAM
        model = job[header["payload_offset"] :][: header["payload_bytes"]]
        assert model == self.artifacts.read(".pte" if program else ".payload.bin")
        view = self.artifacts.payload()
        executor = "executorch" if program else "standalone"
        lines = [
            f"##RUN core=cortex-m55 isa=mve kernels=portable executor={executor} revision=dbf45dbf",
            f"##INIT error=0 ticks=1 runtime_bytes=8 arena_bytes={view.arena_bytes}",
        ]
        regions = [SimpleNamespace(instructions=100, children=[])]
        for index in range(header["set_count"]):
            at = header["inputs_offset"] + index * header["set_bytes"]
            inputs = []
            for tensor in view.inputs:
                inputs.append(simulate.from_bytes(job[at : at + tensor.nbytes], tensor))
                at += -(-tensor.nbytes // 16) * 16
            lines.append(f"##EXEC set={index} error=0 ticks=5")
            regions.append(SimpleNamespace(instructions=1000 + index, children=[]))
            for number, (output, tensor) in enumerate(zip(reference.run(self.graph, inputs), view.outputs)):
                data = bytearray(simulate.to_bytes(output, tensor))
                data[0] ^= self.flip
                lines.append(
                    f"##OUT set={index} index={number} bytes={len(data)} crc={zlib.crc32(data):08x} data={data.hex()}"
                )
        lines += ["##STACK bytes=700", "##EXIT rc=0##"]
        return SimpleNamespace(
            status="exit",
            uart="\n".join(lines),
            regions=regions,
            simulator="fake 1",
            simulator_note=self.note,
            cycle_model="",
            cycle_note="",
            core=self.core,
        )


@pytest.mark.parametrize("executor", ["standalone", "executorch"])
@pytest.mark.parametrize("flip", [False, True])
def test_run_on_the_simulator(capsys, folder, small, monkeypatch, flip, executor):
    fake = FakeSimulator(Artifacts.of(str(small)), flip)
    monkeypatch.setattr(simulate, "_drivers", lambda: (fake, None))
    image = folder / "image.elf"
    image.write_bytes(b"")
    arguments = ["--inputs", folder / "x.npz", "--on", "simulator", "--image", image, "--compare"]
    arguments += ["--executor", executor]
    code, out, err = run(capsys, "run", small, *arguments)
    assert (code, err) == (int(flip), "")
    assert f"{8 * flip} of 24 bytes differ" in out
    assert f"executor {executor}" in out
    assert "instructions: 100 for init, 1,003 for an inference" in out


@pytest.mark.parametrize("simulated", ["cortex-m55", "cortex-m33"])
def test_a_core_that_is_simulated_for_another_is_named(capsys, folder, small, monkeypatch, simulated):
    monkeypatch.setattr(simulate, "_drivers", lambda: (FakeSimulator(Artifacts.of(str(small)), core=simulated), None))
    image = folder / "image.elf"
    image.write_bytes(b"")
    out = run(capsys, "run", small, "--inputs", folder / "x.npz", "--on", "simulator", "--image", image)[1]
    place = "fake 1" if simulated == "cortex-m55" else "fake 1, simulated on a Cortex-M33"
    assert f"core cortex-m55, mve; kernels portable; executor standalone; {place}\n" in out


def test_the_firmware_of_a_target_has_its_name(capsys, folder, small):
    """Whatever the order in which the user gives the features."""
    arguments = ["run", small, "--inputs", folder / "x.npz", "--on", "simulator", "--core", "cortex-m55+nofp+nomve"]
    check_failure(run(capsys, *arguments), 2, "bazel build //runtime:cortex_m55_nomve_nofp")


def test_why_another_simulator_runs_it_is_told_once(capsys, folder, small, monkeypatch):
    """Although a command shows no warnings; and not again for the next image."""
    note = "QEMU runs this, as Renode does not: it is not there"
    fake = FakeSimulator(Artifacts.of(str(small)), note=note)
    monkeypatch.setattr(simulate, "_drivers", lambda: (fake, None))
    monkeypatch.setattr(simulate, "_told", set())
    image = folder / "image.elf"
    image.write_bytes(b"")
    arguments = ["run", small, "--inputs", folder / "x.npz", "--on", "simulator", "--image", image]
    assert [run(capsys, *arguments)[1].count(f"- {note}\n") for _ in range(2)] == [1, 0]


def test_an_image_that_is_no_firmware(capsys, folder, small, monkeypatch):
    fake = FakeSimulator(Artifacts.of(str(small)))

    def refuse(*arguments, **options):
        raise ValueError("x.npz is not a 32-bit little-endian ELF file")

    fake.run = refuse
    monkeypatch.setattr(simulate, "_drivers", lambda: (fake, None))
    inputs = folder / "x.npz"
    code, _, err = run(capsys, "run", small, "--inputs", inputs, "--on", "simulator", "--image", inputs)
    assert (code, err) == (1, "cmsisnn: error: x.npz is not a 32-bit little-endian ELF file\n")


@pytest.mark.parametrize(
    "option, places",
    [
        (("--executor", "executorch"), "simulator"),
        (("--core", "cortex-m4"), "simulator or gdb://HOST:PORT"),
        (("--image", "x.elf"), "simulator or gdb://HOST:PORT or serial://PORT"),
        (("--flash", "pyocd:x"), "serial://PORT"),
        (("--layers",), "simulator"),
        (("--board-name", "x"), "gdb://HOST:PORT or serial://PORT"),
    ],
)
def test_what_only_firmware_has_is_refused_elsewhere(capsys, folder, small, option, places):
    code, _, err = run(capsys, "run", small, "--inputs", folder / "x.npz", *option)
    assert code == 2
    assert f"{option[0]} is for --on {places}, not --on reference" in err


def test_places_to_run(capsys, folder, small):
    inputs = folder / "x.npz"
    code, _, err = run(capsys, "run", small, "--inputs", inputs, "--on", "gdb://localhost")
    assert code == 2 and "choose one of reference, host, simulator, gdb://HOST:PORT or serial://PORT" in err
    code, _, err = run(capsys, "run", small, "--inputs", inputs, "--on", "gdb://localhost:1", "--layers", "--compare")
    assert code == 2 and "--layers is for --on simulator, not --on gdb://localhost:1" in err
    code, _, err = run(capsys, "run", small, "--inputs", inputs, "--on", "serial:///dev/ttyACM0?baud=fast")
    assert code == 2 and "is no serial port: write serial://PORT or serial://PORT?baud=RATE" in err


@pytest.mark.parametrize(
    "board, server, cycles, text",
    [
        (
            "NUCLEO",
            "OpenOCD 0.12",
            [900, 800, 850],
            "900 for the first inference, 800 to 850 for the 2 others",
        ),
        (
            "",
            "",
            [1234],
            "1,234 for the first inference, counted by a board without a name with",
        ),
        ("", "QEMU 7.2", None, "not available: it has none"),
    ],
)
def test_cycles_are_said_to_be_of_what_counted_them(board, server, cycles, text):
    made = device.DeviceRun(
        [], None, "cortex-m7", server, not cycles, board, cycles, "it has none", [], [], 0, 0, 0, None
    )
    said = run_command.about_cycles(made)
    assert said.startswith(text) and board in said and ("--board-name" in said) == (cycles is not None and not board)


@pytest.mark.parametrize("options", [(), ("--compare", "--executor", "executorch")])
def test_layers_that_cannot_be_compared(capsys, folder, small, options):
    code, _, err = run(capsys, "run", small, "--inputs", folder / "x.npz", "--on", "simulator", "--layers", *options)
    assert code == 2 and "--layers needs --compare, and the standalone executor" in err


def test_many_inputs_are_simulated_in_batches(monkeypatch, small, folder, tmp_path):
    artifacts = Artifacts.of(str(small))
    fake = FakeSimulator(artifacts)
    monkeypatch.setattr(simulate, "_drivers", lambda: (fake, None))
    payload = artifacts.payload()
    monkeypatch.setattr(simulate, "_JOB_BYTES", len(payload.data) + 4096 + 3 * 80)
    (tmp_path / "image.elf").write_bytes(b"")
    random = np.random.default_rng(0)
    inputs = [[random.integers(-128, 128, (1, 2, 6, 6)).astype(np.int8)] for _ in range(7)]
    result = simulate.run(payload.data, inputs, tmp_path / "image.elf")
    assert len(fake.jobs) == 3
    assert len(result.outputs) == len(result.instructions) == 7
