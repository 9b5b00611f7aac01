"""Runs a .pte on the host in a process of its own, because a damaged one can end the process that loads it.

ExecuTorch trusts a program that it loads, also after its check of consistency: one wrong bit can end Python by a
signal.
"""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import weakref
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ..support.errors import UserError

if TYPE_CHECKING:
    import numpy as np

# One inference, or loading the program.
_LONGEST_S = 600.0

# Not by `multiprocessing`, which would import the caller's __main__ again.
_CHILD = """\
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted parent ends this process
sys.path[:] = {path!r}
from cmsis_nn_delegate.support.quiet import quiet
quiet()
from cmsis_nn_delegate.runner.host_server import serve
serve({descriptor})
"""


class HostProcess:
    """A program in another process; attributes and methods are those of `host.HostProgram`.

    UserError also if the process dies of the program, which is called `name` then.
    """

    def __init__(self, program: bytes, library: Union[str, Path, None], name: Union[str, Path]) -> None:
        self._name = name
        self._connection, other = multiprocessing.Pipe()
        with other:
            command = _CHILD.format(path=sys.path, descriptor=other.fileno())
            self._process = subprocess.Popen(
                [sys.executable, "-c", command], stdin=subprocess.DEVNULL, pass_fds=[other.fileno()]
            )
        weakref.finalize(self, _end, self._connection, self._process)
        self.input_shapes: list[tuple[int, ...]]
        self.input_dtypes: list[str]
        self.input_shapes, self.input_dtypes = self._ask(program, None if library is None else str(library))

    def run(self, inputs: Sequence[np.ndarray], channels_last: Sequence[int] = ()) -> list[np.ndarray]:
        """Returns the outputs for one set of inputs, as `HostProgram.run` does."""
        outputs: list[np.ndarray] = self._ask("run", list(inputs), list(channels_last))
        return outputs

    def state(self) -> bytes:
        """Returns the persistent memory, as `HostProgram.state` does."""
        memory: bytes = self._ask("state")
        return memory

    def set_state(self, memory: bytes) -> None:
        """Makes the next run go on from a state, as `HostProgram.set_state` does."""
        self._ask("set_state", memory)

    def _ask(self, *question: Any) -> Any:
        try:
            self._connection.send(question)
            if not self._connection.poll(_LONGEST_S):
                self._process.kill()
                raise UserError(f"{self._name} is damaged, or runs for more than {_LONGEST_S:g} s", exit_code=1)
            answer, error, exit_code = self._connection.recv()
        except (EOFError, OSError) as gone:
            raise self._death() from gone
        if error is None:
            return answer
        if exit_code is None:
            raise RuntimeError(error)
        raise UserError(str(error).replace(_PROGRAM, str(self._name), 1), exit_code)

    def _death(self) -> Exception:
        code = self._process.wait()
        if code >= 0:
            return RuntimeError(f"the process that runs {self._name} ended with exit code {code}")
        return UserError(
            f"{self._name} is damaged, or not a program that this runtime can load: the process that ran it ended by "
            f"{signal.Signals(-code).name}. Compile the model again",
            exit_code=1,
        )


def _end(connection: Connection, process: subprocess.Popen[bytes]) -> None:
    connection.close()
    process.kill()
    process.wait()


# How the other process calls the program.
_PROGRAM = "the program"
