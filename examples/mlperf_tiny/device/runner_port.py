"""What the runner of MLPerf Tiny says to an image, or to the interface board: `Port`."""

from __future__ import annotations

import serial


class Port:
    """Sends commands, and returns the answers without the last line, "m-ready"."""

    def __init__(self, port: serial.Serial) -> None:
        self._port = port

    def synchronize(self) -> None:
        """Reads what an image said at its start, which may have come or not."""
        self._port.write(b"timestamp%")
        while not self._port.readline().startswith(b"m-lap-us-"):
            pass
        assert self._port.readline() == b"m-ready\r\n"

    def ask(self, command: str) -> list[str]:
        self._port.write(f"{command}%".encode())
        lines: list[str] = []
        while lines[-1:] != ["m-ready"]:
            line = self._port.readline()
            assert line.endswith(b"\r\n"), (command, lines, line)
            lines.append(line[:-2].decode("ascii"))
        return lines[:-1]
