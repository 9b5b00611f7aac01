"""Tests external_source.bzl and source_servers.bzl in a workspace with three sources.

One exists, one does not exist, and the server of the third accepts connections but never answers.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading

import pytest

_RULES = ("external_source.bzl", "source_servers.bzl")
_PINS = """
PINS = {{
    "gone": {{"commit": "0", "env": "GONE_DIR", "remote": "file://{folder}/gone.git"}},
    "silent": {{"commit": "0", "env": "SILENT_DIR", "remote": "http://127.0.0.1:{port}/silent.git"}},
    "there": {{"commit": "{commit}", "env": "THERE_DIR", "remote": "file://{folder}/there"}},
}}
"""
_REPOSITORIES = """
load("//third_party:external_source.bzl", "external_source_rule")
load("//third_party:source_servers.bzl", "source_servers")

gone_source = external_source_rule("gone")
silent_source = external_source_rule("silent")
there_source = external_source_rule("there")

def repositories():
    source_servers(name = "source_servers", pins = ["gone", "silent", "there"], seconds = 2)
    for name, rule in [("gone", gone_source), ("silent", silent_source), ("there", there_source)]:
        rule(name = name, servers = "@source_servers//:answers.json", unless_had = "Done without " + name)
"""
_BUILD = """
load("@gone//:info.bzl", GONE = "SOURCE")
load("@silent//:info.bzl", SILENT = "SOURCE")
load("@there//:info.bzl", THERE = "SOURCE")

genrule(
    name = "found",
    outs = ["unused"],
    cmd = "<" + json.encode({"gone": GONE, "silent": SILENT, "there": THERE}) + ">",
)
"""


def _absent() -> str:
    """Returns why the inner Bazel cannot run, or ""."""
    bazel = shutil.which("bazel") or shutil.which("bazelisk")
    if bazel is None:
        return "no bazel on PATH"
    version = subprocess.run([bazel, "--version"], capture_output=True, text=True, check=True).stdout
    major = re.search(r"\d+", version)
    return "its workspace is for Bazel 4 to 6" if major and int(major.group()) > 6 else ""


class _SilentServer:
    """Accepts and counts connections, and never answers."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            self.connections.append(self._socket.accept())


def _git(*arguments, cwd):
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(bool(_absent()), reason=_absent() or "present")
def test_servers_are_asked_once_and_what_is_missing_is_said_once(tmp_path):
    server = _SilentServer()
    there = tmp_path / "there"
    there.mkdir()
    (there / "source.c").write_text("int x;\n")
    _git("init", "--quiet", cwd=there)
    _git("add", ".", cwd=there)
    _git("commit", "--quiet", "-m", "source", cwd=there)
    commit = _git("rev-parse", "HEAD", cwd=there).strip()

    workspace = tmp_path / "workspace"
    (workspace / "third_party").mkdir(parents=True)
    for name in _RULES:
        shutil.copy(pathlib.Path("third_party", name), workspace / "third_party" / name)
    (workspace / "third_party/BUILD").write_text("")
    (workspace / "third_party/pins.bzl").write_text(_PINS.format(folder=tmp_path, port=server.port, commit=commit))
    (workspace / "repositories.bzl").write_text(_REPOSITORIES)
    (workspace / "WORKSPACE").write_text('load("//:repositories.bzl", "repositories")\nrepositories()\n')
    (workspace / "BUILD").write_text(_BUILD)

    bazel = [
        shutil.which("bazel") or shutil.which("bazelisk"),
        f"--output_user_root={tmp_path}/out",
        "--max_idle_secs=5",
        "--host_jvm_args=-XX:TieredStopAtLevel=1",  # it lives for seconds
    ]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("TEST_", "RUNFILES", "PYTHON"))},
        "HOME": str(tmp_path),
    }

    def find(**variables):
        """Returns the state of the sources and the output of Bazel, which is started for this."""
        result = subprocess.run(
            [*bazel, "query", "--noshow_progress", "--output=build", "//:found"],
            cwd=workspace,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        subprocess.run([*bazel, "shutdown"], cwd=workspace, env=environment, capture_output=True, check=False)
        assert result.returncode == 0, result.stderr
        found = json.loads(re.search(r'cmd = "<(.*)>"', result.stdout).group(1).replace('\\"', '"'))
        return found, [line for line in result.stderr.splitlines() if "Done without" in line]

    first, said = find()
    assert first["there"] == {"available": True, "origin": f"commit {commit}", "reason": ""}
    assert not first["gone"]["available"] and "gone.git cannot be reached" in first["gone"]["reason"]
    assert "Set SILENT_DIR to a checkout" in first["silent"]["reason"]
    assert "silent.git cannot be reached: no answer within 2 s" in first["silent"]["reason"]
    assert sorted(re.search(r"Done without (\w+)", line).group(1) for line in said) == ["gone", "silent"]
    asked = len(server.connections)
    assert asked > 0

    assert find() == (first, [])

    # A variable resolves only its own source again.
    after, said = find(GONE_DIR=str(there))
    assert after == {**first, "gone": {"available": True, "origin": "GONE_DIR", "reason": ""}}
    assert said == []
    assert len(server.connections) == asked
