"""A Renode process that takes Monitor commands over its Robot Framework server (XML-RPC).

Every call has a wall-clock limit, because Renode's own limits count virtual time, which stands still after a
"CPU abort". Standard library only.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.parsers.expat
import xmlrpc.client

from sim import scratch
from sim.simulator import SimulatorError

START_TIMEOUT_S = 90.0  # Enough for the first start on a busy machine; usually it takes 2 to 5 s.
COMMAND_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 1.0  # From a failed connection to the end of the process: guard.py looks for it 10 times a second.
_GUARD = pathlib.Path(__file__).resolve().with_name("guard.py")
# Paths that are valid both as the Monitor's @path and in a quoted Python string inside a quoted Monitor string.
_PLAIN_PATH = re.compile(r"[\w./+=,~@-]+", re.ASCII)


class RenodeError(SimulatorError):
    """Renode refused a command or does not answer. Its process can no longer be used."""


class _Transport(xmlrpc.client.Transport):
    def __init__(self, timeout_s: float):
        super().__init__()
        self._timeout_s = timeout_s

    def make_connection(self, host):
        connection = super().make_connection(host)
        connection.timeout = self._timeout_s
        return connection


class RenodeServer:
    """One Renode process; close() ends it and everything that it has started.

    If this program dies without calling close(), guard.py ends Renode.
    """

    def __init__(self, launcher: list[str]):
        """launcher: the command that starts Renode. Raises RenodeError if it does not start."""
        self._numbers = itertools.count()
        # Not renode-*: Renode removes such folders from TMPDIR when it starts, which is why it gets a separate
        # TMPDIR. The configuration is separate too, because several processes would write the same file.
        self._scratch = scratch.Folder(suits=_PLAIN_PATH.fullmatch)
        self._folder = self._scratch.path
        if not _PLAIN_PATH.fullmatch(str(self._folder)):
            self._scratch.remove()
            raise RenodeError(
                f"Renode does not accept the path {self._folder}: set TMPDIR to a folder without "
                "spaces and special characters"
            )
        temporary, config = self._folder / "tmp", self._folder / "config"
        temporary.mkdir()
        config.mkdir()
        self._messages = self._folder / "messages"
        environment = dict(os.environ, TMPDIR=str(temporary), XDG_CONFIG_HOME=str(config))
        # .NET would create a socket in TMPDIR, whose path may be too long for a socket.
        environment.setdefault("DOTNET_EnableDiagnostics", "0")
        # Without a home directory, .NET has no folder to unpack itself into.
        environment.setdefault("HOME", str(self._folder))
        # Renode looks at its current folder with every command. The caller's may be removed while this runs, so that
        # it gets its own, and words that name files from the caller's folder become whole paths.
        command = [shutil.which(launcher[0]) or launcher[0], *launcher[1:]]
        command = [os.path.abspath(word) if os.path.exists(word) else word for word in command]
        # Without --console, Renode's thread for the Monitor's input never blocks, and keeps a processor busy.
        options = ["--console", "--disable-gui", "--hide-log", "--robot-server-port", "0"]
        with open(self._messages, "wb") as messages:
            self._process = subprocess.Popen(
                [sys.executable, "-S", str(_GUARD), str(self._folder), *command, *options],
                stdin=subprocess.PIPE,
                stdout=messages,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=self._folder,
            )
        self._url = ""
        try:
            self._wait_for_server(temporary, time.monotonic() + START_TIMEOUT_S, launcher)
        except BaseException:
            self.close()
            raise

    def _wait_for_server(self, temporary: pathlib.Path, deadline: float, launcher: list[str]) -> None:
        # Port 0 means any free port; Renode writes its number to a file in its temporary folder.
        while True:
            for path in temporary.glob("renode-*/robot_port"):
                port = path.read_text().strip()
                if port.isdecimal():
                    self._url = f"http://127.0.0.1:{port}/"
                    return
            if not self.alive:
                raise RenodeError(f"Renode ({' '.join(launcher)}) ended while starting:\n{self._last_messages()}")
            if time.monotonic() > deadline:
                raise RenodeError(
                    f"Renode ({' '.join(launcher)}) did not start its robot server in time:\n{self._last_messages()}"
                )
            time.sleep(0.05)

    def _last_messages(self) -> str:
        if not self._messages.exists():
            return ""
        lines = self._messages.read_text(errors="replace").strip().splitlines()
        return "\n".join(lines[-10:]) or "(it printed nothing)"

    @property
    def alive(self) -> bool:
        """Returns whether the process is running."""
        return self._process.poll() is None

    def new_folder(self) -> pathlib.Path:
        """Returns a new folder whose path every command accepts; close() removes it."""
        folder = self._folder / f"run{next(self._numbers)}"
        folder.mkdir()
        return folder

    def keyword(self, name: str, *arguments: str) -> str:
        """Runs a keyword and returns its result as text. Raises RenodeError if it fails or takes too long."""
        what = " ".join([name, *arguments])
        try:
            with xmlrpc.client.ServerProxy(self._url, transport=_Transport(COMMAND_TIMEOUT_S)) as proxy:
                reply = proxy.run_keyword(name, list(arguments))
        except TimeoutError as error:
            raise RenodeError(f"Renode did not answer within {COMMAND_TIMEOUT_S:.0f} s: {what}") from error
        except (OSError, http.client.HTTPException, xmlrpc.client.Error, xml.parsers.expat.ExpatError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_TIMEOUT_S)
            end = "" if self.alive else f"; it has ended:\n{self._last_messages()}"
            raise RenodeError(f"Renode failed at: {what}: {error}{end}") from error
        if reply.get("status") != "PASS":
            raise RenodeError(f"Renode refused: {what}: {str(reply.get('error')).strip()}")
        return str(reply.get("return", ""))

    def command(self, text: str) -> str:
        """Executes a Monitor command and returns its output."""
        return self.keyword("ExecuteCommand", text)

    def close(self) -> None:
        """Kills the process and its group, and removes its folder."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._scratch.remove()
