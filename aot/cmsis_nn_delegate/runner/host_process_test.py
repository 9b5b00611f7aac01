"""A damaged program ends the process that runs it, and the command with a message."""

import faulthandler
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from cmsis_nn_delegate import cli
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.runner import host, host_process, host_server
from cmsis_nn_delegate.support.errors import UserError

LIBRARY = os.path.abspath("runtime/libcmsis_nn_delegate.so")
X = torch.linspace(-1, 1, 4).reshape(1, 4)
BLOCK = 6  # bytes of a program, of which one is damaged: a fork of this process takes 40 ms


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the program alone in one folder, and with the files that belong to it in another."""
    folder = tmp_path_factory.mktemp("programs")
    compiled = compile_model(torch.nn.Linear(4, 3), (X,), "cortex-m55", [(X,)], name="net", check=False)
    compiled.write(folder / "whole")
    (folder / "alone").mkdir()
    (folder / "alone" / "net.pte").write_bytes(compiled.pte)
    np.savez(folder / "x.npz", input0=X.numpy())
    return folder


def run(capfd, folder, part):
    options = ["--inputs", str(folder / "x.npz"), "--on", "host", "--library", LIBRARY]
    code = cli.main(["run", str(folder / part / "net.pte"), *options])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


class Forked:
    """In the place of Popen: a fork of this process, which has imported ExecuTorch already."""

    def __init__(self, command, pass_fds, **_):
        self._code = None
        self._pid = os.fork()
        if self._pid == 0:
            faulthandler.disable()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                host_server.serve(pass_fds[0])
            finally:
                os._exit(0)

    def wait(self):
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code

    def kill(self):
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)


def test_damage_anywhere_ends_with_a_message(capfd, folder, monkeypatch):
    host.load_library(LIBRARY)
    code, wanted, _ = run(capfd, folder, "alone")  # as users run it
    assert code == 0
    monkeypatch.setattr(host_process.subprocess, "Popen", Forked)
    path = folder / "alone" / "net.pte"
    whole = path.read_bytes()
    draw = np.random.default_rng(0)
    deadly = []
    try:
        assert run(capfd, folder, "alone")[:2] == (0, wanted)
        for block in range(0, len(whole), BLOCK):
            at, bit = int(draw.integers(block, min(block + BLOCK, len(whole)))), int(draw.integers(8))
            path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :])
            code, out, err = run(capfd, folder, "alone")
            assert code in (0, 1, 2), (at, bit, code)
            if code:
                assert "cmsisnn: error: " in err and "unexpected" not in err, (at, bit, err)
                if "ended by SIG" in err:
                    deadly.append(path.read_bytes())
                    assert f"{path} is damaged, or not a program that this runtime can load" in err
        assert deadly
        monkeypatch.undo()
        path.write_bytes(deadly[-1])
        code, _, err = run(capfd, folder, "alone")
        assert code == 1 and f"{path} is damaged" in err and "Compile the model again" in err
    finally:
        path.write_bytes(whole)


def test_damage_is_found_by_the_files_beside_a_program(capfd, folder):
    path = folder / "whole" / "net.pte"
    whole = path.read_bytes()
    for at in range(0, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        code, _, err = run(capfd, folder, "whole")
        assert code == 2 and "compile the model again" in err
    path.write_bytes(whole)


def test_messages_are_those_of_the_program(folder):
    program = (folder / "alone" / "net.pte").read_bytes()
    started = host_process.HostProcess(program, LIBRARY, "net.pte")
    assert (started.input_shapes, started.input_dtypes) == ([(1, 4)], ["float32"])
    x = X.numpy()
    for inputs, message in (
        ([], "net.pte takes 1 inputs, not 0"),
        ([x.astype(np.int8)], r"input 0 of net.pte is float32\[1, 4\], not int8\[1, 4\]"),
        ([x * np.nan], "input 0 of net.pte holds NaN"),
    ):
        with pytest.raises(UserError, match=message):
            started.run(inputs)
    (expected,) = host.HostProgram(program, LIBRARY).run([x])
    (found,) = started.run([x])
    assert found.tobytes() == expected.tobytes()
    with pytest.raises(UserError, match="no.so does not exist"):
        host_process.HostProcess(program, "no.so", "net.pte")
    with pytest.raises(UserError, match="net.pte cannot be loaded"):
        host_process.HostProcess(b"no program", LIBRARY, "net.pte")


def test_a_process_that_is_not_needed_any_more_ends(folder):
    started = host_process.HostProcess((folder / "alone" / "net.pte").read_bytes(), LIBRARY, "net.pte")
    process = started._process
    assert process.poll() is None
    del started
    assert process.poll() is not None


def test_a_process_that_cannot_start_is_no_damage(monkeypatch):
    monkeypatch.setattr(host_process, "_CHILD", "{path!r}; {descriptor}; raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="ended with exit code 3"):
        host_process.HostProcess(b"", None, "net.pte")


def test_the_runtime_is_imported_without_the_compiler():
    code = """
import sys
from cmsis_nn_delegate.runner import host
found = [name for name in sys.modules if name.startswith("executorch.exir")]
import executorch.exir
print(found, len(host.Runtime.get().operator_registry.operator_names) > 100, executorch.exir._warnings.__name__)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[0] == "[] True executorch.exir._warnings"
