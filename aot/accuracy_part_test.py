"""A shard of an accuracy_test: what it writes for Bazel, and that it fails below its limits."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from aot import accuracy_part

MODEL = """
import torch

def small():
    torch.manual_seed(0)
    return torch.nn.Linear(8, 3), (torch.zeros(1, 8),)
"""


@pytest.fixture
def shard(tmp_path, monkeypatch):
    """Runs shard 2 of 3, with further arguments."""
    (tmp_path / "model.py").write_text(MODEL)
    x = np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32)
    np.savez(tmp_path / "data.npz", input=x)
    for name, value in (
        ("TEST_SHARD_INDEX", "1"),
        ("TEST_TOTAL_SHARDS", "3"),
        ("TEST_SHARD_STATUS_FILE", f"{tmp_path}/status"),
        ("TEST_UNDECLARED_OUTPUTS_DIR", str(tmp_path)),
        ("TEST_TARGET", "//a:b"),
        ("XML_OUTPUT_FILE", f"{tmp_path}/test.xml"),
    ):
        monkeypatch.setenv(name, value)
    command = ["accuracy_part", f"{tmp_path}/model.py:small", "--data", f"{tmp_path}/data.npz"]
    return lambda *arguments: accuracy_part.main([*command, *arguments])


@pytest.mark.parametrize("limit, code", [("10", 0), ("200", 1)])
def test_a_shard(shard, tmp_path, capsys, limit, code):
    assert shard("--min-sqnr", limit) == code
    out, err = capsys.readouterr()
    assert "7 samples, part 2/3 of the data" in out and ("less than 200" in err) == bool(code)
    assert json.loads((tmp_path / "part_2_of_3.json").read_text())["samples"] == 7
    assert (tmp_path / "status").is_file()
    suite = ElementTree.parse(tmp_path / "test.xml").getroot()
    (case,) = suite.iter("testcase")
    assert case.get("name") == "//a:b" and (case.find("failure") is not None) == bool(code)


def test_an_image_that_is_not_there(shard, tmp_path, capsys):
    assert shard("--on", "simulator", "--firmware", "a.map", "a.elf") == 2
    assert "a.elf does not exist" in capsys.readouterr().err
    assert not list(tmp_path.glob("part_*"))
    assert ElementTree.parse(tmp_path / "test.xml").getroot().get("failures") == "1"
