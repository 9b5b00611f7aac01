"""Types of arguments that several commands have."""

from __future__ import annotations

import argparse

from ..debugger.connection import address_of
from ..partition.io_types import IoTypes
from ..runner.flash import parse as parse_flash
from ..serial_line.port import SCHEME, port_of
from ..streaming.option import Stream
from ..support import byte_counts
from ..support.errors import UserError
from ..targets.target import get_target

PLACES = ("reference", "host", "simulator")


def byte_count(text: str) -> int:
    """Returns a number of bytes, such as 64K."""
    try:
        return byte_counts.byte_count(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def core(text: str) -> str:
    """Returns the name of the target that `text` names; ArgumentTypeError says which there are."""
    try:
        return get_target(text).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def named_state(text: str) -> tuple[str, str]:
    """Returns an input and the output that is its next value, of h=1."""
    name, separator, output = text.partition("=")
    if not (name and separator and output):
        raise argparse.ArgumentTypeError(f"{text!r} is no state: give INPUT=OUTPUT, such as h=1")
    return name, output


def io(text: str) -> str:
    """Returns `text` if it says the types of inputs and outputs, such as int8 or x=int16,outputs=int8."""
    try:
        return str(IoTypes.of(text))
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def place(text: str) -> str:
    """Returns `text` if it says where to run a model: one of `PLACES`, gdb://HOST:PORT or serial://PORT."""
    if text in PLACES:
        return text
    try:
        if text.startswith(SCHEME):
            port_of(text)
        else:
            address_of(text)
        return text
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"choose one of {', '.join(PLACES)}, gdb://HOST:PORT or serial://PORT ({error})"
        ) from error


def flash_tool(text: str) -> str:
    """Returns `text` if it names a tool that writes flash, and a chip, such as pyocd:stm32l4r5zitx."""
    try:
        parse_flash(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def board_place(text: str) -> str:
    """Returns `text` if it says where a board is: gdb://HOST:PORT or serial://PORT."""
    if text in PLACES:
        raise argparse.ArgumentTypeError(f"{text!r} is no board: give gdb://HOST:PORT or serial://PORT")
    return place(text)


def accuracy_place(text: str) -> str:
    """Returns `text` if it says where outputs are computed: host, simulator, gdb://HOST:PORT or serial://PORT."""
    if text == "reference":
        raise argparse.ArgumentTypeError("choose one of host, simulator, gdb://HOST:PORT or serial://PORT")
    return place(text)


def stream(text: str) -> Stream:
    """Returns the stream that `text` means, such as 2=4."""
    try:
        return Stream.of(text)
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
