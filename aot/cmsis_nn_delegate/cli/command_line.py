"""The command line as a whole: its parser, and `main`, which runs a command."""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn, Optional

from .. import __version__
from ..support.errors import UserError
from ..support.quiet import quiet
from .failures import explained, shown_graph
from .late_import import late_import
from .printable import printable
from .printing import HEARTBEAT, silenced

# In the order of `--help`.
COMMANDS = {
    "compile": "quantize a model and compile it for a core",
    "explain": "say for every function of a model whether it is delegated, and why not",
    "accuracy": "compare the outputs and layers of a quantized model with the float model",
    "explore": "compile a model in many ways, and show what can be traded against what",
    "accuracy-sum": "add up what `accuracy --json --part` printed for all parts of the data",
    "profile": "count the instructions of every call on a simulated core",
    "etdump": "write what a device's profile image printed for ExecuTorch's Inspector",
    "report": "show RAM, flash and calls of a compiled model",
    "diff": "show what differs between two compiled models, images or profiles, largest first",
    "run": "run a compiled model",
    "targets": "list the cores and their instruction sets",
}
_WITHOUT_ARGUMENTS = ("targets",)

_M_MMAP_THRESHOLD = -3  # of malloc.h


class _Parser(argparse.ArgumentParser):
    """Says what is wrong without repeating the usage. A command's arguments are added when it is parsed, because their
    choices and defaults are those of modules that take a while to import."""

    arguments_of: Optional[str] = None  # the command whose arguments are to be added

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in the base class, which calls it for the parser of a command, too."""
        self.complete()
        return super().parse_known_args(args, namespace)

    def complete(self) -> None:
        """Adds the arguments of the command, unless they are there."""
        if self.arguments_of is not None:
            command, self.arguments_of = self.arguments_of, None
            _of(command, "arguments").add_arguments(self)

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see `{self.prog} --help`")


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs a command and returns its exit code."""
    debug = "--debug" in (sys.argv[1:] if argv is None else argv)
    parsing = True
    try:
        arguments = parser().parse_args(argv)
        parsing = False
        if not debug:
            quiet()
        _return_freed_memory()
        with HEARTBEAT.running():
            with silenced(debug):  # libraries may warn when they are imported
                command = _of(arguments.command, "command")
            return int(command.run(arguments))
    except BrokenPipeError:
        # The reader of stdout has gone (`| head`), so nothing more can be printed there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except BaseException as error:
        if isinstance(error, SystemExit) and parsing:
            raise  # --help
        if debug:
            traceback.print_exc()
        message, code = explained(error)
        message += shown_graph(error)
    sys.stdout.flush()
    print(f"cmsisnn: error: {printable(message)}", file=sys.stderr)
    return code


def _return_freed_memory() -> None:
    """Makes glibc return what is freed to the system, from 1 MiB on. It reuses little of the aligned memory that
    PyTorch asks for: a compilation would grow to twice what it needs."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 1 << 20)


def complete_parser() -> argparse.ArgumentParser:
    """Returns the parser with the arguments of all commands, for the page that documents them."""
    return parser(complete=True)


def parser(complete: bool = False) -> argparse.ArgumentParser:
    """Returns the parser of all commands. Unless `complete`, the arguments of a command are added when it is parsed."""
    found = _Parser(prog="cmsisnn", description="PyTorch models on Cortex-M with CMSIS-NN.")
    found.add_argument("--version", action="version", version=f"cmsisnn {__version__}")
    found.add_argument("--debug", action="store_true", help="show warnings, and where an error occurred")
    commands = found.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, description in COMMANDS.items():
        command = commands.add_parser(name, help=description, description=description)
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        command.set_defaults(command=name)
        if name not in _WITHOUT_ARGUMENTS:
            command.arguments_of = name
        if complete:
            command.complete()
    return found


def _of(command: str, part: str) -> Any:
    """Imports a module of a command."""
    return late_import(f"{command.replace('-', '_')}_{part}")
