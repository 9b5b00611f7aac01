"""Packets over a connection on which things go wrong."""

import socket
import time

import pytest

from cmsis_nn_delegate.debugger.connection import Connection, address_of
from cmsis_nn_delegate.debugger.error import DebuggerError
from cmsis_nn_delegate.testing.fake_gdb_server import Scripted

GET = b"$g#67"


def exchanged(*steps, acknowledges=True):
    """What the server of this script replies to `g`."""
    with Scripted(*steps) as server:
        connection = Connection(server.url)
        connection.acknowledges = acknowledges
        try:
            connection.send(b"g", 5)
            return connection.receive(5)
        finally:
            connection.close()


def test_a_reply():
    assert exchanged((GET, b"+$0* #7a"), (b"+", b"")) == b"0000"


def test_a_command_that_arrived_damaged_is_repeated():
    assert exchanged((GET, b"-"), (GET, b"-"), (GET, b"+$OK#9a"), (b"+", b"")) == b"OK"


def test_a_damaged_reply_is_asked_for_again():
    assert exchanged((GET, b"+$OL#9a"), (b"-", b"$OK#9a"), (b"+", b"")) == b"OK"


def test_a_reply_with_an_impossible_run_is_asked_for_again():
    assert exchanged((GET, b"+$*!#4b"), (b"-", b"$OK#9a"), (b"+", b"")) == b"OK"


def test_damaged_for_good():
    with pytest.raises(DebuggerError, match="sent 5 damaged packets"):
        exchanged((GET, b"+$OL#9a"), *[(b"-", b"$OL#9a")] * 5)
    with pytest.raises(DebuggerError, match="received 5 packets damaged"):
        exchanged(*[(GET, b"-")] * 5)


def test_notifications_and_noise_are_dropped():
    assert exchanged((GET, b"\r\n%Stop:T05#00+%Stop:T05;#cb$OK#9a"), (b"+", b"")) == b"OK"


def test_a_reply_to_something_earlier_is_dropped():
    assert exchanged((GET, b"$S05#b8"), (b"+", b"+$OK#9a"), (b"+", b"")) == b"OK"


def test_without_acknowledgements():
    assert exchanged((GET, b"$OK#9a"), acknowledges=False) == b"OK"
    with pytest.raises(DebuggerError, match="damaged packet: its checksum is wrong; run again"):
        exchanged((GET, b"$OL#9a"), acknowledges=False)


def test_a_reply_in_pieces():
    """Its parts arrive with the answers to further bytes that a client may send."""
    with Scripted((GET, b"+$O"), (b"\x03", b"K#"), (b"\x03", b"9a"), (b"+", b"")) as server:
        connection = Connection(server.url)
        connection.send(b"g", 5)
        connection.interrupt()
        connection.interrupt()
        assert connection.receive(5) == b"OK"
        connection.close()


def test_the_end_of_the_connection():
    with pytest.raises(DebuggerError, match="was lost: it closed the connection; look at what the server printed"):
        exchanged((GET, b"+$O"))


def test_silence():
    with Scripted((GET, b"+"), stays=True) as server:
        connection = Connection(server.url)
        connection.send(b"g", 5)
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            connection.receive(0.2)
        assert 0.15 < time.monotonic() - start < 4
        connection.close()


def test_no_server():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(DebuggerError, match=f"no GDB server answers at gdb://127.0.0.1:{port}"):
        Connection(f"gdb://127.0.0.1:{port}")


def test_addresses():
    assert address_of("gdb://board-3.lab:3333") == ("board-3.lab", 3333)
    assert address_of("gdb://[::1]:1") == ("::1", 1)
    for wrong in ("gdb://host", "gdb://:3333", "gdb://host:0", "gdb://host:65536", "host:3333", "gdb://a:1/b"):
        with pytest.raises(ValueError, match="gdb://HOST:PORT"):
            address_of(wrong)
