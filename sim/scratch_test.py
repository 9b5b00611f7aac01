"""Folders are removed with their program, however it ends."""

import os
import signal
import subprocess
import sys

import pytest

from sim import scratch

CODE = "from sim import scratch; folder = scratch.Folder(); print(folder.path, flush=True); "


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_TMPDIR", str(tmp_path))
    scratch._remove_stale.cache_clear()
    yield tmp_path
    scratch._remove_stale.cache_clear()


def program(code):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.Popen([sys.executable, "-c", CODE + code], env=environment, stdout=subprocess.PIPE, text=True)


def folders(temporary):
    return list(temporary.glob(scratch.PREFIX + "*"))


def age(path):
    os.utime(path, (0, 0))


def test_in_bazels_folder_and_gone_afterwards(temporary):
    with scratch.Folder() as path:
        assert path.parent == temporary
        (path / "file").write_text("")
    assert folders(temporary) == []


def test_elsewhere_in_the_systems(temporary, monkeypatch):
    monkeypatch.delenv("TEST_TMPDIR")
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "system"))
    (temporary / "system").mkdir()
    with scratch.Folder() as path:
        assert path.parent == temporary / "system"


def test_where_bazels_does_not_suit(temporary, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "system"))
    (temporary / "system").mkdir()
    with scratch.Folder(suits=lambda path: path.endswith("system")) as path:
        assert path.parent == temporary / "system"


def test_what_a_killed_program_left_is_removed(temporary):
    process = program("import os; os.kill(os.getpid(), 9)")
    assert process.wait(60) == -signal.SIGKILL
    (left,) = folders(temporary)
    (left / "job").write_text("")
    age(left)
    other = temporary / "of-somebody-else"
    other.mkdir()
    age(other)
    with scratch.Folder() as path:
        assert folders(temporary) == [path]
    assert other.exists()


def test_what_a_live_program_has_is_not(temporary):
    process = program("input()")
    with process.stdout as out:
        left = out.readline().strip()
        age(left)
        with scratch.Folder() as path:
            assert {str(p) for p in folders(temporary)} == {left, str(path)}
    process.kill()
    process.wait()


def test_nor_what_is_new(temporary):
    """A program may look at a folder after it was created and before it is locked."""
    new = temporary / (scratch.PREFIX + "new")
    new.mkdir()
    with scratch.Folder():
        assert new.exists()


@pytest.mark.parametrize("decided", ["", "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); "])
def test_a_program_that_is_ended_ends_in_order(temporary, decided):
    """A program with its own signal handler ends as that handler decides."""
    body = (
        "with scratch.ended_in_order():\n    with folder:\n        print('ready', flush=True)\n        time.sleep(600)"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    code = f"import signal, sys, time\n{decided}\n{CODE}\n{body}"
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
    with process.stdout as out:
        out.readline()
        assert out.readline() == "ready\n"
        process.terminate()
        assert process.wait(60) == (7 if decided else 143)
    assert folders(temporary) == []


def test_the_signal_is_as_before_afterwards():
    with scratch.ended_in_order():
        assert callable(signal.getsignal(signal.SIGTERM))
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
