"""Serial ports, by the package pyserial."""

from __future__ import annotations

import re
from typing import Protocol

from ..support.errors import UserError
from .frame import MAX_DATA

SCHEME = "serial://"

_URL = re.compile(SCHEME + r"(?P<port>[^?]+)(?:\?baud=(?P<baud>\d+))?")
_BAUD = 115200
_WRITE_S = 1.0  # besides the time that a frame with escapes takes


class Port(Protocol):
    """A serial port. OSError if it is gone."""

    def read(self, wait_s: float) -> bytes:
        """Returns what has been received, after waiting at most `wait_s` for the first byte."""

    def write(self, data: bytes) -> None:
        """Sends `data`, or a part if nothing fetches it for a second."""

    def close(self) -> None: ...


class _SerialPort:
    def __init__(self, port: str, baud: int) -> None:
        import serial

        self._timeout = serial.SerialTimeoutException
        self._serial = serial.Serial(port, baud, exclusive=True, write_timeout=_WRITE_S + 20 * MAX_DATA / baud)

    def read(self, wait_s: float) -> bytes:
        self._serial.timeout = wait_s
        received: bytes = self._serial.read(1)
        waiting: int = self._serial.in_waiting
        return received + self._serial.read(waiting) if waiting else received

    def write(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except self._timeout:
            pass  # whoever waits for the answer notices

    def close(self) -> None:
        self._serial.close()


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
        return _SerialPort(port, baud)
    except ImportError:
        raise UserError(
            "serial ports need the package pyserial, which is not installed: `pip install pyserial`, or install "
            "cmsis_nn_delegate with its extra `serial`"
        ) from None
    except (ValueError, OSError) as error:  # pyserial's are OSErrors
        raise UserError(
            f"{port} cannot be opened: {error}. Look at the name (`python3 -m serial.tools.list_ports`), at the rights "
            "(on Linux, the group dialout), and end other programs that use it",
            exit_code=1,
        ) from error
