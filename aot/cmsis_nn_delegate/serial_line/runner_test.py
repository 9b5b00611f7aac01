"""The client with boards that do what QEMU's never do: they fault, are reset, are silent, or say very much."""

from __future__ import annotations

import struct
import time
import zlib

import pytest

from cmsis_nn_delegate.serial_line import runner
from cmsis_nn_delegate.serial_line.frame import Frame, FrameReader
from cmsis_nn_delegate.serial_line.runner import SerialError, SerialRunner

HELLO = "protocol=1\nmailbox=65536\ncore=cortex-m4\nisa=dsp\nboard=mine"


class Board:
    """A port whose other end answers each frame with what `answers` returns for it: frames, or None for silence."""

    def __init__(self, *reports):
        self.reports = list(reports)  # (kind, data)
        self.said = []
        self.mailbox = bytearray(65536)
        self._reader, self._ready = FrameReader(), bytearray()
        self._number = None  # of the part that is being said; None before a run

    def write(self, data):
        for frame in self._reader.feed(data):
            self.said.append(frame.kind)
            for answer in self.answers(frame):
                self._ready += answer.encode()

    def read(self, wait_s):
        if not self._ready:
            time.sleep(min(wait_s, 0.01))
        received, self._ready = bytes(self._ready), bytearray()
        return received

    def close(self):
        self.said.append("closed")

    def answers(self, frame):
        if self._number is not None:
            if frame.kind == "a" and frame.sequence == self._number & 255:
                self._number += 1
                if self._number == len(self.reports):
                    self._number = None
                    return []
            return [self._part()]
        if frame.kind == "h":
            return [Frame("H", frame.sequence, HELLO.encode())]
        if frame.kind == "c":
            at, size = struct.unpack("<II", frame.data)
            crc = zlib.crc32(self.mailbox[at : at + size])
            return [Frame("C", frame.sequence, struct.pack("<I", crc))]
        if frame.kind == "w":
            (at,) = struct.unpack_from("<I", frame.data)
            self.mailbox[at : at + len(frame.data) - 4] = frame.data[4:]
            return [Frame("W", frame.sequence, frame.data[:4])]
        if frame.kind == "s":
            self._number = 0
            return [Frame("S", frame.sequence, b""), *([self._part()] if self.reports else [])]
        return [Frame("I", frame.sequence, b"")] if frame.kind in "ap" else []

    def _part(self):
        kind, data = self.reports[self._number]
        return Frame(kind, self._number & 255, data)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(runner, "_FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(runner, "_LONGEST_WAIT_S", 0.05)
    monkeypatch.setattr(runner, "_ANSWER_S", 0.3)


def client(board):
    return SerialRunner("serial://here?baud=10000000", board)


def test_more_parts_than_there_are_sequences():
    parts = [("R", bytes([65 + i % 26]) * (i % 200)) for i in range(700)]
    board = Board(*parts, ("E", b"\3"))
    with client(board) as found:
        found.load(b"job" * 1000)
        report = found.run(5.0)
    assert report == b"".join(data for _, data in parts).decode() + "\n##EXIT rc=3##\n"
    assert bytes(board.mailbox[:3000]) == b"job" * 1000
    assert board.said[-2:] == ["h", "closed"]


class Faulty(Board):
    """Faults before it takes a job, whatever it is told."""

    def answers(self, frame):
        return [Frame("R", 0, b"\n##FAULT exception=3 pc=0800abcd")]


def test_a_fault_before_there_is_a_job():
    board = Faulty()
    with pytest.raises(SerialError, match="faults before it takes a job: it says '##FAULT exception=3 pc=0800abcd'"):
        client(board)
    assert board.said[-1] == "closed"


class Reset(Board):
    """Loses its power after the first part."""

    def answers(self, frame):
        if frame.kind == "a":
            self._number = None
        return super().answers(frame)


def test_a_reset_during_the_run():
    with client(Reset(("R", b"##RUN core=x\n"), ("E", b"\0"))) as found:
        found.load(b"job")
        with pytest.raises(SerialError, match="was reset during the run, after '##RUN core=x': look at its power"):
            found.run(5.0)


class Silent(Board):
    """Computes for longer than anybody waits."""

    def answers(self, frame):
        return [] if self._number is not None else super().answers(frame)[:1]


def test_silence():
    board = Silent(("R", b"x"))
    with client(board) as found:
        found.load(b"job")
        with pytest.raises(SerialError, match="has said nothing for 0.2 s, before it reported anything: give it more"):
            found.run(0.2)
    # It is asked rarely, as what comes while it computes disturbs its UART.
    assert 0 < board.said.count("p") <= 5 and board.said.count("s") == 1


class Gone(Board):
    """The port goes away when the board resets itself, as that of a board with its own USB does."""

    def read(self, wait_s):
        if self.reports and self.said[-1:] == ["h"] and "s" in self.said:
            raise OSError("device disconnected")
        return super().read(wait_s)


def test_a_report_is_not_lost_with_the_port():
    with client(Gone(("R", b"whole"), ("E", b"\0"))) as found:
        found.load(b"job")
        assert found.run(5.0) == "whole\n##EXIT rc=0##\n"
        with pytest.raises(SerialError, match=r"serial://here\?baud=10000000: device disconnected: look at the cable"):
            found._hello()


class Old(Board):
    def answers(self, frame):
        return [Frame("H", frame.sequence, b"protocol=1..core=cortex-m4")]


def test_another_protocol():
    with pytest.raises(
        SerialError, match=r"says 'protocol=1..core=.*, where protocol 1 has other fields: build it from the version"
    ):
        client(Old())
