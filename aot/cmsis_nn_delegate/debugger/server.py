"""What a GDB server can be asked: memory, registers, breakpoints, to run the core, its own commands.

Every command here is one of GDB's manual, in the appendix "GDB Remote Serial Protocol". Of those that a server may
lack, there is another way: P and G, X and M, hardware and software breakpoints.
"""

from __future__ import annotations

import contextlib
import re
import time
from types import TracebackType
from typing import Optional

from .connection import Connection
from .error import DebuggerError
from .packet import escape

_TIMEOUT_S = 20.0  # of a command that takes no time
_STOP_TIMEOUT_S = 5.0  # from an interrupt to the stop
_DEFAULT_PACKET_BYTES = 400  # what servers of old took that do not say more
_LARGEST_PACKET_BYTES = 1 << 14
_STOPPED = re.compile(rb"[ST][0-9a-fA-F]{2}")
_XPSR = 25  # of servers without a description of registers
SP, LR, PC = 13, 14, 15
_NAMES = {SP: "SP", LR: "LR", PC: "PC"}


class Server:
    """The core behind a GDB server. It is halted, except during `wait`.

    Addresses and registers are 32-bit numbers. Every method raises DebuggerError if the server refuses or does not
    answer.
    """

    def __init__(self, url: str) -> None:
        """Connects to gdb://HOST:PORT and agrees with the server on what both can."""
        self.url = url
        self._connection = Connection(url)
        self._breakpoints: dict[int, int] = {}  # by address: 1 for a unit of the core, 0 for an instruction in memory
        try:
            self._introduce()
        except BaseException:
            self._connection.close()
            raise

    def _introduce(self) -> None:
        offered = self._text("qSupported:swbreak+;hwbreak+;xmlRegisters=arm").split(";")
        sizes = [int(item[len("PacketSize=") :], 16) for item in offered if re.match(r"PacketSize=[0-9a-fA-F]+$", item)]
        self._packet_bytes = min(_LARGEST_PACKET_BYTES, max([64, *sizes] if sizes else [_DEFAULT_PACKET_BYTES]))
        self.features = {item[:-1] for item in offered if item.endswith("+")}
        # Some servers can do it and do not offer it; others answer with nothing.
        if self._text("QStartNoAckMode") == "OK":
            self._connection.acknowledges = False
        stopped = self._text("?")
        if stopped[:1] not in ("S", "T"):
            raise DebuggerError(
                f"{self.url} has no halted core: it answered {stopped!r}; connect the board, and look at what the "
                "server printed"
            )
        # Some servers number registers as in their description only after they were asked for it.
        description = self.transfer("features", "target.xml") if "qXfer:features:read" in self.features else ""
        for part in re.findall(r'include\s+href="([^"]+)"', description):
            description += self.transfer("features", part)
        self._xpsr = _number_of("xpsr", description)
        self._binary: Optional[bool] = None  # whether it takes X packets; None: not tried yet

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        # Without detaching: the core stays as it is with most servers, and does not run on.
        self._connection.close()

    def ask(self, content: bytes, timeout_s: float = _TIMEOUT_S) -> bytes:
        """Returns the reply to a packet: empty if the server does not know the command, "E" and digits if it fails."""
        try:
            self._connection.send(content, timeout_s)
            reply = self._connection.receive(timeout_s)
            # Renode reports a stop twice, and one when it is connected to. No other reply looks like that.
            while _STOPPED.match(reply) and content != b"?":
                reply = self._connection.receive(timeout_s)
            return reply
        except TimeoutError as error:
            shown = content[:30].decode("ascii", "replace")
            raise DebuggerError(
                f"{self.url} did not answer {shown!r} within {timeout_s:g} s: look at what the server printed; it may "
                "have lost the board"
            ) from error

    def _text(self, command: str) -> str:
        return self.ask(command.encode()).decode("ascii", "replace")

    def read(self, address: int, size: int) -> bytes:
        """Returns `size` bytes of memory."""
        data = bytearray()
        most = (self._packet_bytes - 8) // 2
        while len(data) < size:
            at, count = address + len(data), min(most, size - len(data))
            reply = self._text(f"m{at:x},{count:x}")
            try:
                part = bytes.fromhex(reply)
            except ValueError:
                part = b""
            if not part or len(part) > count:
                raise DebuggerError(
                    f"{self.url} cannot read {count:,} bytes at {at:#010x} (it answered {reply[:20]!r}): is there "
                    "memory at this address, and is the board powered?"
                )
            data += part
        return bytes(data)

    def write(self, address: int, data: bytes) -> None:
        """Writes RAM. Does not read back what the memory then holds."""
        if self._binary is None and data:
            self._binary = self._text(f"X{address:x},0:") == "OK"
        # A byte takes two characters as hexadecimal digits, and up to two with an escape.
        most = (self._packet_bytes - 32) // 2
        for start in range(0, len(data), most):
            part, at = data[start : start + most], address + start
            body = b":" + escape(part) if self._binary else b":" + part.hex().encode()
            command = b"X" if self._binary else b"M"
            self._expect_ok(command + b"%x,%x" % (at, len(part)) + body, f"write {len(part):,} bytes at {at:#010x}")

    def read_word(self, address: int) -> int:
        return int.from_bytes(self.read(address, 4), "little")

    def write_word(self, address: int, value: int) -> None:
        """Writes a register of the core or of a peripheral, in one access of 32 bits where servers allow that."""
        data = value.to_bytes(4, "little").hex().encode()
        self._expect_ok(b"M%x,4:" % address + data, f"write the word at {address:#010x}")

    def registers(self) -> list[int]:
        """Returns r0 to r15."""
        reply = self._text("g")
        try:
            data = bytes.fromhex(reply[: 16 * 8])
        except ValueError:
            data = b""
        if len(data) != 16 * 4:
            raise DebuggerError(f"{self.url} does not show the registers of the core: it answered {reply[:40]!r}")
        return [int.from_bytes(data[4 * i : 4 * i + 4], "little") for i in range(16)]

    def set_register(self, number: int, value: int) -> None:
        """Sets one of r0 to r15."""
        data = value.to_bytes(4, "little").hex()
        reply = self._text(f"P{number:x}={data}")
        if reply == "":
            everything = self._text("g")
            reply = self._text(f"G{everything[: number * 8]}{data}{everything[number * 8 + 8 :]}")
        if reply != "OK":
            raise DebuggerError(f"{self.url} does not set {_NAMES.get(number, f'r{number}')}: it answered {reply!r}")

    def xpsr(self) -> Optional[int]:
        """Returns the program status register; None if the server does not show it."""
        reply = self._text(f"p{self._xpsr:x}")
        return int.from_bytes(bytes.fromhex(reply), "little") if re.fullmatch("[0-9a-fA-F]{8}", reply) else None

    def set_xpsr(self, value: int) -> bool:
        """Returns whether the server has set the program status register."""
        return self._text(f"P{self._xpsr:x}={value.to_bytes(4, 'little').hex()}") == "OK"

    def set_breakpoint(self, address: int) -> None:
        """Stops the core before it executes the instruction at `address`. Units of the core come first, because code
        may lie in flash."""
        replies = []
        for kind in (1, 0):
            replies.append(self._text(f"Z{kind},{address:x},2"))
            if replies[-1] == "OK":
                self._breakpoints[address] = kind
                return
        raise DebuggerError(
            f"{self.url} sets no breakpoint at {address:#010x}: it answered {replies}; remove breakpoints that another "
            "debugger has left"
        )

    def remove_breakpoints(self) -> None:
        """Removes all that were set here, unless the server is gone, and they with it."""
        with contextlib.suppress(DebuggerError):
            while self._breakpoints:
                address, kind = self._breakpoints.popitem()
                self._text(f"z{kind},{address:x},2")

    def resume(self) -> None:
        """Lets the core run; `wait` must follow."""
        try:
            self._connection.send(b"c", _TIMEOUT_S)
        except TimeoutError as error:
            raise DebuggerError(f"{self.url} does not let the core run: look at what it printed") from error

    def wait(self, deadline: float) -> Optional[str]:
        """Returns the server's report of the next stop, "S05" or "T05...". At `deadline`, in time.monotonic(), it stops
        the core and returns None."""
        limit: Optional[float] = None  # set once the core was asked to stop
        while True:
            try:
                reply = self._connection.receive((limit or deadline) - time.monotonic())
            except TimeoutError as error:
                if limit is not None:
                    raise DebuggerError(f"{self.url} cannot stop the core, which runs on: reset the board") from error
                self._connection.interrupt()
                limit = time.monotonic() + _STOP_TIMEOUT_S
                continue
            kind = reply[:1]
            if kind in (b"S", b"T"):
                return reply.decode("ascii", "replace") if limit is None else None
            if kind != b"O":  # what the core prints by semihosting
                raise DebuggerError(
                    f"{self.url} let the core run, and then answered {reply[:40].decode('ascii', 'replace')!r} "
                    "instead of saying where it stopped: look at what the server printed"
                )

    def await_report(self, timeout_s: float) -> None:
        """Waits until the server reports a stop, but no longer than `timeout_s`, and leaves the core as it is."""
        with contextlib.suppress(TimeoutError):
            self._connection.receive(timeout_s)

    def monitor(self, command: str) -> Optional[str]:
        """Returns what one of the server's own commands prints, also if it is an error; None if it has no such
        commands."""
        reply = self.ask(b"qRcmd," + command.encode().hex().encode())
        printed = b""
        while reply[:1] == b"O" and reply != b"OK":
            printed += _unhex(reply[1:])
            try:
                reply = self._connection.receive(_TIMEOUT_S)
            except TimeoutError as error:
                raise DebuggerError(f"{self.url} does not end its command {command!r}: start it again") from error
        if reply == b"":
            return None
        printed += b"" if reply == b"OK" or reply[:1] == b"E" else _unhex(reply)
        return printed.decode("utf-8", "replace")

    def transfer(self, what: str, annex: str = "") -> str:
        """Returns a document of the server, by qXfer: "" if it has none."""
        text, most = b"", self._packet_bytes - 8
        while True:
            reply = self.ask(f"qXfer:{what}:read:{annex}:{len(text):x},{most:x}".encode())
            if reply[:1] not in (b"m", b"l"):
                return ""
            text += reply[1:]
            if reply[:1] == b"l" or len(reply) == 1:
                return text.decode("utf-8", "replace")

    def flash(self, command: str, data: Optional[bytes], timeout_s: float) -> None:
        """Sends one of vFlashErase:ADDRESS,LENGTH, vFlashWrite:ADDRESS: with `data`, and vFlashDone."""
        body = command.encode() + (b"" if data is None else escape(data))
        self._expect_ok(body, f"write flash ({command})", timeout_s)

    @property
    def flash_bytes(self) -> int:
        """Returns how many bytes a vFlashWrite may have, each of which may need two."""
        return (self._packet_bytes - 32) // 2

    def _expect_ok(self, content: bytes, what: str, timeout_s: float = _TIMEOUT_S) -> None:
        reply = self.ask(content, timeout_s)
        if reply != b"OK":
            shown = reply[:20].decode("ascii", "replace")
            why = "does not know this command" if not reply else f"answered {shown!r}"
            raise DebuggerError(
                f"{self.url} cannot {what}: it {why}; is there memory, which is neither flash nor protected?"
            )


def _unhex(digits: bytes) -> bytes:
    try:
        return bytes.fromhex(digits.decode("ascii"))
    except ValueError:
        return b""


def _number_of(register: str, description: str) -> int:
    """Returns the number of a register in a target description, in which those without one follow the one before."""
    number = -1
    for attributes in re.findall(r"<reg\s([^>]*)>", description):
        own = re.search(r'regnum="(\d+)"', attributes)
        number = int(own[1]) if own else number + 1
        name = re.search(r'name="([^"]+)"', attributes)
        if name is not None and name[1].lower() == register:
            return number
    return _XPSR
