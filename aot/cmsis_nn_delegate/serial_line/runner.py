"""A runner on a board at the other end of a serial line: runtime/runner/serial/serial.cc describes what both say.

Whatever the line loses or changes is said again. A frame that came whole is never taken twice, and a job is only
started where the board has computed its CRC-32.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from ..support.errors import UserError
from .frame import MAX_DATA, Frame, FrameReader
from .port import Port, open_port, port_of

PROTOCOL = "1"

_FIRST_WAIT_S = 0.25  # for an answer, after the time on the line, until it is asked for again; longer each time
_LONGEST_WAIT_S = 2.0
_ANSWER_S = 10.0  # to requests, which a board answers at once
_REPORT = 256  # bytes of the report in a frame
_BITS = 10  # of a byte on the line
_BLOCK = 4096  # bytes of the mailbox that are compared at once
_ENDED_RUNS = 8  # of somebody who went away; their parts may come a few times
_LONGEST_PART = MAX_DATA - 4  # bytes of the mailbox in a frame
_SHORTEST_PART = 32


class SerialError(UserError):
    """A board does not answer as a run needs; the message says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=1)


@dataclass(frozen=True)
class Board:
    """What the runner says of itself."""

    core: str  # that it was compiled for: "cortex-m4"
    isa: str  # "dsp"
    board: str  # that it was linked for: "nucleo-l4r5zi-runner"
    mailbox_bytes: int


class SerialRunner:
    """The board at serial://PORT. SerialError if it does not answer.

    `repeated` counts what had to be said again, `damaged` the frames that came damaged.
    """

    def __init__(self, url: str, port: Port | None = None) -> None:
        self.url = url
        self.repeated = 0
        self._port = port or open_port(url)
        self._byte_s = _BITS / port_of(url)[1]
        self._reader = FrameReader()
        self._frames: list[Frame] = []
        self._sequence = 0
        self._job_bytes = 0
        self._part_bytes = _LONGEST_PART
        try:
            self.board = self._hello()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SerialRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def damaged(self) -> int:
        return self._reader.damaged

    def close(self) -> None:
        self._port.close()

    def load(self, job: bytes, progress: Callable[[str], None] = lambda line: None) -> None:
        """Brings `job`, which is not longer than the mailbox, into the mailbox. Only blocks that differ are sent, in
        parts that become shorter while the line damages them."""
        starts = range(0, len(job), _BLOCK)
        missing = [at for at in starts if not self._holds(at, job[at : at + _BLOCK])]
        sent, said = 0, time.monotonic()
        for at in missing:
            first, end = at, min(at + _BLOCK, len(job))
            while first < end:
                part = job[first : min(first + self._part_bytes, end)]
                if self._write(first, part):
                    first += len(part)
                    sent += len(part)
                    self._part_bytes = min(2 * self._part_bytes, _LONGEST_PART)
                else:
                    self._part_bytes = max(self._part_bytes // 2, _SHORTEST_PART)
                if time.monotonic() - said > 2:
                    said = time.monotonic()
                    progress(f"sent {sent:,} of {sum(len(job[b : b + _BLOCK]) for b in missing):,} bytes")
        self._job_bytes = len(job)
        self._crc = zlib.crc32(job)

    def run(self, timeout_s: float) -> str:
        """Runs the job that was loaded, and returns what it reports, with its end.

        timeout_s: without a part of the report.  SerialError if that passes, if the mailbox has another job, or the
        board is reset.
        """
        start = Frame("s", self._next(), struct.pack("<II", self._job_bytes, self._crc))
        report, expected, last, started = bytearray(), 0, start, False
        self._send(last)
        wait, deadline = _FIRST_WAIT_S, time.monotonic() + timeout_s
        while True:
            frame = self._receive(min(wait + self._byte_s * 2 * _REPORT, deadline - time.monotonic()))
            if frame is None:
                if time.monotonic() >= deadline:
                    raise SerialError(
                        f"{self.url} has said nothing for {timeout_s:g} s{_tail(report)}: give it more time with "
                        "--timeout, or reset the board"
                    )
                self.repeated += 1
                self._send(last)
                wait = min(2 * wait, _LONGEST_WAIT_S)
            elif frame.kind == "N" and frame.sequence == start.sequence:
                raise SerialError(f"the board does not start: {frame.data.decode('ascii', 'replace')}; run again")
            elif frame.kind == "S" and frame.sequence == start.sequence and not started:
                # Computes now, and should not be disturbed, but a part of the report may get lost.
                last, wait, started = Frame("p", 0, b""), _LONGEST_WAIT_S, True
            elif frame.kind == "I" or (frame.kind == "S" and started):
                raise SerialError(
                    f"the board at {self.url} was reset during the run{_tail(report)}: look at its power and watchdog"
                )
            # The board counts parts from 0, and repeats one until it gets its answer: another one is one that we have.
            elif frame.kind in "RE" and frame.sequence == expected:
                expected, started = (frame.sequence + 1) & 255, True
                last = Frame("a", frame.sequence, b"")
                self._send(last)
                wait, deadline = _FIRST_WAIT_S, time.monotonic() + timeout_s
                if frame.kind == "E":
                    self._await_reset(last)
                    return report.decode("utf-8", "replace") + f"\n##EXIT rc={frame.data[0]}##\n"
                report += frame.data

    def _await_reset(self, acknowledge: Frame) -> None:
        """Waits until the board, which has been told that its report has come, is ready for another job. If it does not
        become so, this is said when there is another one."""
        deadline = time.monotonic() + _ANSWER_S
        while time.monotonic() < deadline:
            try:
                self._send(Frame("h", self._next(), b""))
                frame = self._receive(_FIRST_WAIT_S)
                if frame is not None and frame.kind == "H":
                    return
                if frame is not None and frame.kind == "E":
                    self._send(acknowledge)
            except SerialError:
                return  # a port that is gone while the board resets

    def _hello(self) -> Board:
        text = self._ask("h", b"", "H").decode("ascii", "replace")
        fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        known = fields.keys() >= {"core", "isa", "board", "mailbox"} and fields["mailbox"].isdecimal()
        if fields.get("protocol") != PROTOCOL or not known:
            raise SerialError(
                f"the runner at {self.url} says {text[:200]!r}, where protocol {PROTOCOL} has other fields: build it "
                "from the version of this program"
            )
        return Board(fields["core"], fields["isa"], fields["board"], int(fields["mailbox"]))

    def _write(self, offset: int, part: bytes) -> bool:
        """Returns whether the board has taken a part; a short one is sent until it has."""
        data = struct.pack("<I", offset) + part
        if len(part) <= _SHORTEST_PART:
            self._ask("w", data, "W")
            return True
        return self._ask_once("w", data, "W") is not None

    def _holds(self, offset: int, block: bytes) -> bool:
        answer = self._ask("c", struct.pack("<II", offset, len(block)), "C")
        return answer == struct.pack("<I", zlib.crc32(block))

    def _ask(self, kind: str, data: bytes, answer: str) -> bytes:
        """Returns the data of the answer to a request, which is repeated until the answer comes."""
        deadline, wait = time.monotonic() + _ANSWER_S, _FIRST_WAIT_S
        while True:
            found = self._ask_once(kind, data, answer, wait)
            if found is not None:
                return found
            if time.monotonic() > deadline:
                raise SerialError(
                    f"no runner answers at {self.url}: write its image (//runtime/runner/serial) to the board, reset "
                    "the board, and look at the baud rate; or the run before still computes: wait for its end"
                )
            wait = min(2 * wait, _LONGEST_WAIT_S)

    def _ask_once(self, kind: str, data: bytes, answer: str, wait_s: float = _FIRST_WAIT_S) -> bytes | None:
        """Returns the data of the answer to a request, or None if none comes in time."""
        request = Frame(kind, self._next(), data)
        self._send(request)
        wait_s += self._byte_s * 2 * len(data)
        ended = 0  # runs
        while True:
            frame = self._receive(wait_s)
            if frame is None:
                self.repeated += 1
                return None
            if frame.kind == answer and frame.sequence == request.sequence:
                return frame.data
            if frame.kind == "N" and frame.sequence == request.sequence:
                raise SerialError(f"the board refuses: {frame.data.decode('ascii', 'replace')}")
            if frame.kind in "RE":  # somebody went away during a run: end that run
                if ended == _ENDED_RUNS:
                    said = frame.data.decode("utf-8", "replace").strip() if frame.kind == "R" else f"end {frame.data!r}"
                    raise SerialError(
                        f"the board at {self.url} faults before it takes a job: it says {said[:300]!r}; it may lack "
                        "memory or an extension that its image was linked for"
                    )
                ended += 1
                self._send(Frame("x", 0, b""))
                self._send(request)

    def _next(self) -> int:
        self._sequence = (self._sequence + 1) & 255
        return self._sequence

    def _send(self, frame: Frame) -> None:
        try:
            self._port.write(frame.encode())
        except OSError as error:
            raise self._lost(error) from error

    def _receive(self, wait_s: float) -> Frame | None:
        """Returns the next whole frame, or None if none comes in time."""
        deadline = time.monotonic() + wait_s
        while not self._frames:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            try:
                received = self._port.read(left)
            except OSError as error:
                raise self._lost(error) from error
            self._frames += self._reader.feed(received)
        return self._frames.pop(0)

    def _lost(self, error: OSError) -> SerialError:
        return SerialError(f"{self.url}: {error}: look at the cable, and end other programs that use the port")


def _tail(report: bytes | bytearray) -> str:
    lines = report.decode("utf-8", "replace").strip().splitlines()
    return f", after {lines[-1][:200]!r}" if lines else ", before it reported anything"
