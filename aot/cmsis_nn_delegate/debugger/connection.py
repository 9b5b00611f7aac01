"""A connection to a GDB server: packets in both directions, with acknowledgements and repetitions."""

from __future__ import annotations

import re
import socket
import time
from typing import NamedTuple

from .error import DebuggerError
from .packet import checksum, content_of, frame

_ATTEMPTS = 5  # of a packet that arrives damaged
_CONNECT_TIMEOUT_S = 10.0
_URL = re.compile(r"gdb://(\[[0-9a-fA-F:]+\]|[^\s/:\[\]]+):(\d{1,5})")


class _Received(NamedTuple):
    """`kind` is "+", "-", "$" for a packet or "%" for a notification; only the last two have `content`, as it was
    sent."""

    kind: str
    content: bytes = b""
    intact: bool = True


def address_of(url: str) -> tuple[str, int]:
    """Returns host and port of gdb://HOST:PORT. ValueError if it is something else."""
    found = _URL.fullmatch(url)
    if found is None or not 0 < int(found[2]) < 65536:
        raise ValueError(f"{url!r} is no GDB server: write gdb://HOST:PORT, such as gdb://localhost:3333")
    return found[1].strip("[]"), int(found[2])


class Connection:
    """One client of a GDB server. `send` and `receive` raise DebuggerError if the server is silent for too long, closes
    the connection, or sends damaged packets again and again."""

    def __init__(self, url: str) -> None:
        """Connects to gdb://HOST:PORT. DebuggerError if nothing listens there."""
        self.url = url
        try:
            self._socket = socket.create_connection(address_of(url), _CONNECT_TIMEOUT_S)
        except OSError as error:
            raise DebuggerError(
                f"no GDB server answers at {url}: {error.strerror or error}; start it, with the board connected, and "
                "compare the port with the one that it prints"
            ) from error
        # Packets are small and wait for each other.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self.acknowledges = True  # until both sides have agreed on QStartNoAckMode

    def close(self) -> None:
        self._socket.close()

    def send(self, content: bytes, timeout_s: float) -> None:
        """Sends a packet and, if packets are acknowledged, repeats it until the server has it intact. What is left of
        earlier replies is dropped."""
        deadline = time.monotonic() + timeout_s
        if not self.acknowledges:
            self._send(frame(content))
            return
        for _ in range(_ATTEMPTS):
            self._send(frame(content))
            received = self._next(deadline)
            while received.kind not in "+-":
                if received.kind == "$":  # a reply that the server believes lost, because its "+" was
                    self._send(b"+")
                received = self._next(deadline)
            if received.kind == "+":
                return
        raise DebuggerError(f"{self.url} received {_ATTEMPTS} packets damaged: check the connection to the server")

    def receive(self, timeout_s: float) -> bytes:
        """Returns the content of the next packet. Notifications are dropped: they are of modes that are never switched
        on here."""
        deadline = time.monotonic() + timeout_s
        for _ in range(_ATTEMPTS):
            received = self._next(deadline)
            while received.kind != "$":
                received = self._next(deadline)
            problem = "" if received.intact else "its checksum is wrong"
            if not problem:
                try:
                    content = content_of(received.content)
                    if self.acknowledges:
                        self._send(b"+")
                    return content
                except ValueError as error:
                    problem = str(error)
            if not self.acknowledges:
                raise DebuggerError(f"{self.url} sent a damaged packet: {problem}; run again")
            self._send(b"-")
        raise DebuggerError(f"{self.url} sent {_ATTEMPTS} damaged packets: check the connection to the server")

    def interrupt(self) -> None:
        """Asks the server to stop the core, which is running. This is no packet, and has no reply but the stop's."""
        self._send(b"\x03")

    def _send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise self._lost(str(error.strerror or error)) from error

    def _next(self, deadline: float) -> _Received:
        """Returns what comes next, without what lies between packets."""
        while True:
            received = self._parsed()
            if received is not None:
                return received
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{self.url} did not answer in time")
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                continue  # the deadline is over
            except OSError as error:
                raise self._lost(str(error.strerror or error)) from error
            if not data:
                raise self._lost("it closed the connection")
            self._buffer += data

    def _parsed(self) -> _Received | None:
        """Takes the next complete thing out of the buffer; None if there is none."""
        while self._buffer:
            kind = chr(self._buffer[0])
            if kind in "$%":
                end = self._buffer.find(b"#")
                if end < 0 or len(self._buffer) < end + 3:
                    return None
                content, digits = bytes(self._buffer[1:end]), bytes(self._buffer[end + 1 : end + 3])
                del self._buffer[: end + 3]
                return _Received(kind, content, digits.lower() == b"%02x" % checksum(content))
            del self._buffer[:1]
            if kind in "+-":
                return _Received(kind)
        return None

    def _lost(self, reason: str) -> DebuggerError:
        return DebuggerError(
            f"the connection to {self.url} was lost: {reason}; look at what the server printed, and start it again"
        )
