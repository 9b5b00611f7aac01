"""Tests what committed_files.py finds, prints and writes."""

import pytest

from tools import committed_files


@pytest.fixture
def files(tmp_path):
    generated, committed = tmp_path / "generated", tmp_path / "workspace" / "folder" / "committed"
    generated.write_text("one\ntwo\n")
    committed.parent.mkdir(parents=True)
    return generated, committed


def test_the_same_bytes_pass(files, capsys):
    generated, committed = files
    committed.write_text("one\ntwo\n")
    assert committed_files.main([f"{generated}={committed}"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("text", ["one\n", "one\ntwo", "one\r\ntwo\r\n", ""])
def test_other_bytes_fail_with_the_command(files, capsys, text):
    generated, committed = files
    committed.write_bytes(text.encode())
    assert committed_files.main(["--command", "refresh it", f"{generated}={committed}"]) == 1
    output = capsys.readouterr().out
    assert str(committed) in output and "Update it: refresh it" in output


def test_write_makes_the_file_fresh_in_the_workspace(files, capsys, monkeypatch, tmp_path):
    generated, committed = files
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path / "workspace"))
    for expected in ("folder/committed: written\n", "folder/committed: up to date\n"):
        assert committed_files.main(["--write", f"{generated}=folder/committed"]) == 0
        assert capsys.readouterr().out == expected
        assert committed.read_bytes() == generated.read_bytes()
