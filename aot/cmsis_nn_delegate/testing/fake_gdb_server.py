"""GDB servers for tests: one that follows a script of bytes, and one with memory and registers."""

from __future__ import annotations

import re
import socket
import threading

from cmsis_nn_delegate.debugger.packet import content_of, frame


class _Listening:
    """A server for one client, in a thread. `url` is where it listens."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"gdb://127.0.0.1:{self._listener.getsockname()[1]}"
        self.problem: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self._listener.close()
        self._thread.join(5)
        if error is None and self.problem is not None:
            raise self.problem

    def _run(self) -> None:
        try:
            client, _ = self._listener.accept()
            with client:
                client.settimeout(5)
                self.serve(client)
        except Exception as error:
            self.problem = error

    def serve(self, client: socket.socket) -> None:
        raise NotImplementedError


class Scripted(_Listening):
    """Expects and sends the bytes of `steps`, in turn: (expected, sent). Then it closes the connection, or, with
    `stays`, waits until the client does."""

    def __init__(self, *steps: tuple[bytes, bytes], stays: bool = False) -> None:
        self._steps, self._stays = steps, stays
        super().__init__()

    def serve(self, client):
        for expected, sent in self._steps:
            found = b""
            while len(found) < len(expected):
                data = client.recv(len(expected) - len(found))
                assert data, f"the client has gone, {expected!r} was to come"
                found += data
            assert found == expected
            client.sendall(sent)
        while self._stays and client.recv(100):
            pass


class FakeBoard(_Listening):
    """A core with memory: `memory` by address, 0xEE where nothing was written.

    lacks: commands that it does not know, by their beginning.
    read_only: what cannot be written by M and X; writing is acknowledged nevertheless.
    flash: (start, length, bytes of a block), which only vFlash commands write.
    stops: the registers at which the core stops, each time that it was started: {number: value}. None: it does not.
    twice: whether every stop is reported a second time, as Renode does.
    counts: what the cycle counter has, each time that it is read; () if the board has none.
    """

    def __init__(self, lacks=(), read_only=range(0), flash=None, stops=(), twice=False, counts=(), cpuid=0x410FC241):
        self.memory: dict[int, int] = {}
        self.commands: list[str] = []
        self.registers = [0] * 16
        self.xpsr = 0
        self._lacks, self._read_only, self._flash, self._twice = lacks, read_only, flash, twice
        self._stops, self._counts = list(stops), list(counts)
        self._no_counter = not counts
        self._pending: list[tuple[int, bytes]] = []
        self.store(0xE000ED00, cpuid.to_bytes(4, "little"))
        for word in (0xE000EDFC, 0xE0001000, 0xE000ED08):
            self.store(word, bytes(4))
        super().__init__()

    def store(self, address, data):
        self.memory.update(enumerate(data, address))

    def load(self, address, size):
        if address == 0xE0001004:
            return self._counts.pop(0).to_bytes(4, "little")
        return bytes(self.memory.get(at, 0xEE) for at in range(address, address + size))

    def serve(self, client):
        buffer, acknowledges = b"", True
        while data := client.recv(1 << 16):
            buffer += data
            while buffer:
                if buffer[:1] != b"$":
                    if buffer[:1] == b"\x03":
                        client.sendall(frame(b"S02"))
                    buffer = buffer[1:]
                    continue
                end = buffer.find(b"#")
                if end < 0 or len(buffer) < end + 3:
                    break
                raw, buffer = buffer[1:end], buffer[end + 3 :]
                if acknowledges:
                    client.sendall(b"+")
                replies = self.replies(raw)
                for reply in replies:
                    client.sendall(frame(reply))
                acknowledges = acknowledges and (raw, replies) != (b"QStartNoAckMode", [b"OK"])

    def replies(self, raw):
        command = raw.decode("latin-1")
        self.commands.append(command)
        if command.startswith(tuple(self._lacks)):
            return [b""]
        if command == "c":
            stop = self._stops.pop(0)
            if stop is None:
                return []
            for number, value in stop.items():
                self.registers[number] = value
            return [b"T05hwbreak:;", *[b"S05"] * self._twice]
        return [self._reply(command, content_of(raw))]

    def _reply(self, command, content):
        if command.startswith("qSupported"):
            return b"PacketSize=100;qXfer:memory-map:read+;qXfer:features:read+"
        if command in ("QStartNoAckMode", "D"):
            return b"OK"
        if command == "?":
            return b"S05"
        if command.startswith("qXfer:memory-map:read::0,") and self._flash:
            start, length, block = self._flash
            return (
                f'l<memory-map><memory type="flash" start="{start:#x}" length="{length:#x}">'
                f'<property name="blocksize">{block:#x}</property></memory></memory-map>'
            ).encode()
        if found := re.match(r"m([0-9a-f]+),([0-9a-f]+)$", command):
            return self.load(int(found[1], 16), int(found[2], 16)).hex().encode()
        if found := re.match(r"([MX])([0-9a-f]+),([0-9a-f]+):", command):
            address, rest = int(found[2], 16), content[content.index(b":") + 1 :]
            data = bytes.fromhex(rest.decode()) if found[1] == "M" else rest
            assert len(data) == int(found[3], 16)
            in_flash = self._flash and self._flash[0] <= address < self._flash[0] + self._flash[1]
            fixed = address in self._read_only or (self._no_counter and address == 0xE000EDFC)
            if not in_flash and not fixed:
                self.store(address, data)
            return b"OK"
        if found := re.match(r"vFlashErase:([0-9a-f]+),([0-9a-f]+)$", command):
            self.store(int(found[1], 16), b"\xff" * int(found[2], 16))
            return b"OK"
        if found := re.match(r"vFlashWrite:([0-9a-f]+):", command):
            self._pending.append((int(found[1], 16), content[found.end() :]))
            return b"OK"
        if command == "vFlashDone":
            for address, data in self._pending:
                assert set(self.load(address, len(data))) == {0xFF}, "flash that was not erased"
                self.store(address, data)
            self._pending = []
            return b"OK"
        if command == "g":
            return b"".join(value.to_bytes(4, "little") for value in self.registers).hex().encode()
        if command.startswith("G"):
            data = bytes.fromhex(command[1:])
            self.registers = [int.from_bytes(data[at : at + 4], "little") for at in range(0, 64, 4)]
            return b"OK"
        if command == "p19":
            return self.xpsr.to_bytes(4, "little").hex().encode()
        if found := re.match(r"P([0-9a-f]+)=([0-9a-f]{8})$", command):
            number, value = int(found[1], 16), int.from_bytes(bytes.fromhex(found[2]), "little")
            if number == 25:
                self.xpsr = value
            else:
                self.registers[number] = value
            return b"OK"
        return b"OK" if command[:1] in "Zz" else b""
