"""Stands for the benchmark's interface board, which plays sound to an image and looks at its pins.

The runner talks to it as to the board, over a pseudo terminal. What the board does over I2S and pins, it does in
memory that it shares with the image: see audio_shared.cc. It sends samples as fast as the image takes them, and times
are those of the sound: the image begins to compute when the last sample of a hop has come, and its own clock says how
long that takes. So what it reports is the same each time, however fast the machine is.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import threading
import time
import tty
import wave
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

RATE = 16000
HOP = 512  # samples, as of audio.h
_DETECTED, _PROCESSING = range(2)  # the pins
_BEFORE_US = 500_000  # from the command that begins to record to the first sample: any time
_QUIET_S = 3.0  # without a sample taken, or a pin that changes: the image has ended, or does not listen
# As of audio_shared.cc.
_SHARED = np.dtype(
    [
        *((name, "<u4") for name in ("sent", "taken", "edges", "seen")),
        ("samples", "<i2", 8192),
        ("edge", [("what", "<u4"), ("microseconds", "<u4")], 1024),
    ]
)


class Wires:
    """The memory that the image shares: `memory` of a file, from `offset` on."""

    def __init__(self, memory: mmap.mmap, offset: int) -> None:
        self._shared = np.frombuffer(memory, _SHARED, 1, offset)

    def send(self, samples: np.ndarray) -> int:
        """Sends int16 samples as far as there is room, and returns how many."""
        shared = self._shared[0]
        sent, ring = int(shared["sent"]), shared["samples"]
        count = min(len(samples), len(ring) - (sent - int(shared["taken"])) % 2**32)
        ring[(sent + np.arange(count)) % len(ring)] = samples[:count]
        shared["sent"] = (sent + count) % 2**32
        return count

    def edges(self) -> list[tuple[int, int, int]]:
        """Returns what the pins did since the last call: pin, level and the device's microseconds."""
        shared = self._shared[0]
        seen, ring = int(shared["seen"]), shared["edge"]
        new = ring[(seen + np.arange((int(shared["edges"]) - seen) % 2**32)) % len(ring)]
        shared["seen"] = (seen + len(new)) % 2**32
        return [(*divmod(int(what), 2), int(microseconds)) for what, microseconds in new]

    def close(self) -> None:
        """Lets the memory go."""
        del self._shared


@dataclass
class Seen:
    """The edges of the pins, in microseconds since the command that began to record."""

    detections: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)  # of computing
    ends: list[int] = field(default_factory=list)


class InterfaceBoard:
    """`card` is the folder with the waves."""

    def __init__(self, wires: Wires, card: Path) -> None:
        self._wires, self._card = wires, card
        self.seen = Seen()
        self._playing = False
        self._device_us = 0  # by the image's clock, when it began to compute last

    def answer(self, command: str) -> list[str]:
        """Returns the lines of the answer to one of the board's commands, without the last one, "m-ready"."""
        name, _, argument = command.strip().partition(" ")
        if name == "name":
            return ["simulated interface board"]
        if name == "ls":
            return sorted(path.name for path in self._card.iterdir())
        if name == "setbaud":  # of the UART to the device, which the runner has of its own
            return [f"set baud to: {argument}"]
        if name == "record_detections":
            self._look()  # at what was before
            self.seen = Seen()
            return ["recording detections"]
        if name == "play":
            try:
                self.play(argument)
            except (OSError, EOFError, ValueError, wave.Error) as error:
                return [f"e-[{argument} cannot be played: {error}]"]
            return [f"played {argument}"]
        if name == "print_detections":
            return ["Detection Timestamps (ms)", *(f"{us // 1000}," for us in self.seen.detections)]
        if name == "print_dutycycle":  # in units of 10 us
            return [
                *("Duty cycle start times (s)", *_rows(self.seen.begins)),
                *("Duty cycle stop times (s)", *_rows(self.seen.ends)),
            ]
        return [f"e-[Unknown command: {name}]"]

    def play(self, name: str) -> None:
        """Sends the left channel of a wave to the image, and returns when it has computed all hops of it. ValueError if
        it is no wave of 16 bits and 16 kHz."""
        with wave.open(str(self._card / name), "rb") as file:
            if (file.getsampwidth(), file.getframerate()) != (2, RATE):
                raise ValueError(f"it has {8 * file.getsampwidth()} bits and {file.getframerate()} samples a second")
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            left = samples.reshape(-1, file.getnchannels())[:, 0]
        self._look()
        self._playing, first = True, len(self.seen.ends)
        sent, quiet = 0, time.monotonic() + _QUIET_S
        while sent < len(left) or len(self.seen.ends) - first < len(left) // HOP:
            count = self._wires.send(left[sent:])
            sent += count
            if self._look() or count:
                quiet = time.monotonic() + _QUIET_S
            elif time.monotonic() > quiet:
                break
            time.sleep(0.002)  # of 0.5 s that there is room for
        self._playing = False

    def _look(self) -> bool:
        """Takes the edges that have come, and returns whether there were any."""
        edges = self._wires.edges()
        for pin, level, microseconds in edges if self._playing else []:
            # Without a sound there is one at the device's start, to align the measurement of energy.
            if pin == _PROCESSING and level:
                self._device_us = microseconds
                self.seen.begins.append(_BEFORE_US + (len(self.seen.begins) + 1) * HOP * 1_000_000 // RATE)
                continue
            now = self.seen.begins[-1] + (microseconds - self._device_us) % 2**32
            if pin == _PROCESSING:
                self.seen.ends.append(now)
            elif level:
                self.seen.detections.append(now)
        return bool(edges)


def _rows(times: list[int]) -> list[str]:
    tens = [us // 10 for us in times]
    return ["".join(f"{ten}, " for ten in tens[at : at + 8]) for at in range(0, len(tens), 8)]


@contextlib.contextmanager
def board_at(shared: Path, offset: int, card: Path) -> Iterator[str]:
    """Yields a pseudo terminal behind which the board answers. The memory that it shares with the image is that of the
    file `shared` from `offset` on."""
    master, slave = os.openpty()
    tty.setraw(slave)
    stop_read, stop = os.pipe()
    with open(shared, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        wires = Wires(memory, offset)
        thread = threading.Thread(target=_serve, args=(InterfaceBoard(wires, card), master, stop_read), daemon=True)
        thread.start()
        try:
            yield os.ttyname(slave)
        finally:
            os.write(stop, b".")
            thread.join()
            wires.close()
            for descriptor in (master, slave, stop_read, stop):
                os.close(descriptor)


def _serve(board: InterfaceBoard, terminal: int, stop: int) -> None:
    came = b""
    while stop not in select.select([terminal, stop], [], [])[0]:
        came += os.read(terminal, 4096)
        while b"%" in came:
            command, _, came = came.partition(b"%")
            lines = [*board.answer(command.decode("ascii", "replace")), "m-ready"]
            answer = "".join(f"{line}\r\n" for line in lines).encode()
            while answer:
                answer = answer[os.write(terminal, answer) :]
