"""Serial ports, by the package pyserial."""

from __future__ import annotations

import re
from typing import Protocol

from ..support.errors import UserError

SCHEME = "serial://"

_URL = re.compile(SCHEME + r"(?P<port>[^?]+)(?:\?baud=(?P<baud>\d+))?")
_BAUD = 115200


class Port(Protocol):
    """What this package needs of pyserial's Serial."""

    timeout: float | None

    def read(self, size: int = 1) -> bytes: ...

    def write(self, data: bytes) -> int | None: ...

    def close(self) -> None: ...


def port_of(url: str) -> tuple[str, int]:
    """Returns the port and the baud rate of serial://PORT or serial://PORT?baud=RATE. ValueError if it is not."""
    match = _URL.fullmatch(url)
    if match is None or not 0 < int(match["baud"] or _BAUD) < 100_000_000:
        raise ValueError(
            f"{url!r} is no serial port: write serial://PORT or serial://PORT?baud=RATE, such as "
            "serial:///dev/ttyACM0?baud=115200 or serial://COM3"
        )
    return match["port"], int(match["baud"] or _BAUD)


def open_port(url: str) -> Port:
    """Opens the port for this process alone. UserError says what is wrong and what to do."""
    port, baud = port_of(url)
    try:
        import serial
    except ImportError:
        raise UserError(
            "serial ports need the package pyserial, which is not installed: `pip install pyserial`, or install "
            "cmsis_nn_delegate with its extra `serial`"
        ) from None
    try:
        opened: Port = serial.Serial(port, baud, exclusive=True)
        return opened
    except (serial.SerialException, ValueError, OSError) as error:
        raise UserError(
            f"{port} cannot be opened: {error}. Look at the name (`python3 -m serial.tools.list_ports`), at the rights "
            "(on Linux, the group dialout), and end other programs that use it",
            exit_code=1,
        ) from error
