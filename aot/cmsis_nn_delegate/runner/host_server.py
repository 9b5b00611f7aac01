"""The other side of `host_process`: runs the program that a `HostProcess` asks about."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

from ..support.errors import UserError
from .host import HostProgram


def serve(descriptor: int) -> None:
    """Answers what a `HostProcess` asks on a connection: first about loading a program, then with the name of a method
    of `HostProgram` and its arguments. An answer is (result, message of an error, its exit code)."""
    with Connection(descriptor) as connection:
        program = None
        while True:
            try:
                question = connection.recv()
            except EOFError:
                return
            try:
                if program is None:
                    program = HostProgram(*question)
                    answer: Any = (program.input_shapes, program.input_dtypes)
                else:
                    name, *arguments = question
                    answer = getattr(program, name)(*arguments)
                connection.send((answer, None, None))
            except UserError as error:
                connection.send((None, str(error), error.exit_code))
            except Exception as error:
                connection.send((None, f"{type(error).__name__}: {error}", None))
