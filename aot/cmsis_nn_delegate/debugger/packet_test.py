"""What packets mean, with the examples of GDB's manual."""

import pytest

from cmsis_nn_delegate.debugger.packet import content_of, escape, frame


def test_frame():
    assert frame(b"g") == b"$g#67"
    assert frame(b"") == b"$#00"


def test_escaped_bytes_come_back():
    data = bytes(range(256)) * 2
    assert not set(b"$#*") & set(escape(data))
    assert content_of(escape(data)) == data


@pytest.mark.parametrize(
    "raw, meant", [(b"0* ", b"0000"), (b'0*"00', b"0" * 8), (b"ab*!c", b"abbbbbc"), (b"}\x03*\x20", b"#" + b"\x03" * 3)]
)
def test_runs(raw, meant):
    """The last one repeats the second half of an escape, as runs are made of what is sent."""
    assert content_of(raw) == meant


@pytest.mark.parametrize("raw", [b"*!", b"0*", b"0*\x1f", b"abc}"])
def test_damaged(raw):
    with pytest.raises(ValueError):
        content_of(raw)
