"""Frames get through, and nothing else does; the bytes are those of runtime/runner/serial/frame_test.cc."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.serial_line.frame import MAX_DATA, Frame, FrameReader

DATA = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from([0x7D, 0x7E, 0]), max_size=60).map(bytes))
FRAMES = st.builds(Frame, st.integers(0, 255).map(chr), st.integers(0, 255), DATA)


@given(st.lists(FRAMES, min_size=1, max_size=4), st.data())
def test_frames_in_any_pieces(frames, data):
    line, reader, found = b"".join(frame.encode() for frame in frames), FrameReader(), []
    while line:
        size = data.draw(st.integers(1, len(line)))
        found += reader.feed(line[:size])
        line = line[size:]
    assert found == frames and reader.damaged == 0


@given(FRAMES, st.data())
def test_a_wrong_bit(frame, data):
    line = bytearray(frame.encode())
    line[data.draw(st.integers(0, len(line) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert not list(FrameReader().feed(bytes(line)))


@given(st.binary(max_size=200), FRAMES)
def test_after_anything(noise, frame):
    assert list(FrameReader().feed(noise + frame.encode()))[-1:] == [frame]


def test_too_long():
    reader = FrameReader()
    assert [len(frame.data) for frame in reader.feed(Frame("w", 0, b"~" * MAX_DATA).encode())] == [MAX_DATA]
    assert not list(reader.feed(b"~" + b"x" * 10**6 + b"~")) and reader.damaged == 1
    with pytest.raises(ValueError, match="at most 1024 bytes"):
        Frame("w", 0, b"~" * (MAX_DATA + 1)).encode()
