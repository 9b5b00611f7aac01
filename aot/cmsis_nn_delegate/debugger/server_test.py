"""Commands of servers that lack some, and what a run needs of the core behind them."""

import time
from types import SimpleNamespace

import pytest

from cmsis_nn_delegate.debugger import core, cycle_counter, execution
from cmsis_nn_delegate.debugger.error import DebuggerError
from cmsis_nn_delegate.debugger.image import Segment, Symbol
from cmsis_nn_delegate.debugger.loading import load
from cmsis_nn_delegate.debugger.server import LR, PC, SP, Server
from cmsis_nn_delegate.testing.fake_gdb_server import FakeBoard, Scripted

DATA = bytes(range(256)) * 3


@pytest.mark.parametrize("lacks, letter", [([], "X"), (["X"], "M")])
def test_memory(lacks, letter):
    """In packets of 256 bytes, with all bytes that have to be escaped."""
    with FakeBoard(lacks) as board, Server(board.url) as server:
        server.write(0x20000001, DATA)
        assert server.read(0x20000001, len(DATA)) == DATA
        server.write_word(0x20000000, 0x12345678)
        assert server.read_word(0x20000000) == 0x12345678
    assert sum(command.startswith(letter + "2") for command in board.commands) > 6
    assert max(map(len, board.commands)) <= 0x100


@pytest.mark.parametrize("lacks", [[], ["P"]])
def test_registers(lacks):
    with FakeBoard(lacks) as board, Server(board.url) as server:
        board.registers[:] = range(100, 116)
        server.set_register(PC, 0x08000123)
        assert server.registers() == [*range(100, 115), 0x08000123]


@pytest.mark.parametrize("lacks, kind", [([], 1), (["Z1"], 0)])
def test_breakpoints(lacks, kind):
    with FakeBoard(lacks) as board, Server(board.url) as server:
        server.set_breakpoint(0x100)
        server.remove_breakpoints()
    assert f"z{kind},100,2" in board.commands and f"z{1 - kind},100,2" not in board.commands


def test_no_breakpoint_left():
    with FakeBoard(["Z"]) as board, Server(board.url) as server:
        with pytest.raises(DebuggerError, match="sets no breakpoint at 0x00000100"):
            server.set_breakpoint(0x100)


def test_a_server_of_the_least():
    """One that knows nothing but the commands of a debugger's first days."""
    with FakeBoard(["q", "Q", "v", "P", "X", "p"]) as board, Server(board.url) as server:
        assert server.read(0, 2) == b"\xee\xee" and server.monitor("version") is None and server.xpsr() is None


def test_no_core():
    with Scripted(
        (b"$qSupported:swbreak+;hwbreak+;xmlRegisters=arm#96", b"+$#00"),
        (b"+$QStartNoAckMode#b0", b"+$#00"),
        (b"+$?#3f", b"+$W00#b7"),
        (b"+", b""),
    ) as scripted:
        with pytest.raises(DebuggerError, match="has no halted core: it answered 'W00'; connect the board"):
            Server(scripted.url)


def test_the_core_is_stopped_at_the_deadline():
    with FakeBoard(stops=[None]) as board, Server(board.url) as server:
        server.resume()
        assert server.wait(time.monotonic() + 0.2) is None


def test_an_image_that_is_there_is_not_written():
    with FakeBoard() as board, Server(board.url) as server:
        board.store(0x100, DATA)
        load(server, [Segment(0x100, DATA)])
    assert not [command for command in board.commands if command[0] in "MX" or command.startswith("v")]


def test_memory_that_keeps_nothing():
    with FakeBoard(read_only=range(0x08000000, 0x08100000)) as board, Server(board.url) as server:
        with pytest.raises(DebuggerError, match=r"0x08000000 has 0xee in place of 0x00. If this is flash, write the"):
            load(server, [Segment(0x08000000, DATA)])


def test_flash():
    """Two segments with a gap, in three of four blocks: what lay there beside them stays."""
    with FakeBoard(flash=(0x08000000, 0x1000, 0x400)) as board, Server(board.url) as server:
        board.store(0x08000000, b"\x11" * 0x1000)
        load(server, [Segment(0x08000010, DATA), Segment(0x08000780, DATA), Segment(0x20000000, DATA)])
        wanted = bytearray(b"\x11" * 0x1000)
        wanted[0x10 : 0x10 + len(DATA)] = wanted[0x780 : 0x780 + len(DATA)] = DATA
        assert board.load(0x08000000, 0x1000) == bytes(wanted) and board.load(0x20000000, len(DATA)) == DATA
    erased = [command for command in board.commands if command.startswith("vFlashErase")]
    assert erased == [f"vFlashErase:{0x08000000 + 0x400 * n:x},400" for n in range(3)]
    assert sum(command.startswith("vFlashDone") for command in board.commands) == 1


def test_flash_that_cannot_be_written():
    with FakeBoard(["vFlash"], flash=(0x08000000, 0x1000, 0x400)) as board, Server(board.url) as server:
        with pytest.raises(DebuggerError, match=r"cannot write flash \(vFlashErase:8000000,400\)"):
            load(server, [Segment(0x08000000, DATA)])


# Functions of 16 bytes; the firmware's second one has the markers.
SYMBOLS = {
    "bsp_write": Symbol(0x100, 16),
    execution._DATA_FIELD: Symbol(0x120, 16),
    "_ZNK15MeasuredBackend7executeE": Symbol(0x140, 16),
    "Fault_Handler": Symbol(0x160, 16),
    "__text_start": Symbol(0x0, 0),
}
CODE = bytes(0x144) + b"\xc9\x46\x00\xbf\xd2\x46" + bytes(0x40)


def image(cpu="cortex-m4", vectors=(0x20004000, 0x201)):
    code = b"".join(word.to_bytes(4, "little") for word in vectors) + CODE[8:]
    return SimpleNamespace(
        path="net.elf",
        symbols=SYMBOLS,
        address=lambda name: SYMBOLS[name].address,
        bytes_at=lambda address, size: code[address : address + size],
        text=lambda name: cpu,
        place_of=lambda address: f"{address:#x}",
    )


def test_a_start():
    with FakeBoard() as board, Server(board.url) as server:
        assert core.core_of(server, image()) == "cortex-m4"
        core.reset(server)
        core.start(server, image())
    assert (board.registers[SP], board.registers[PC], board.xpsr) == (0x20004000, 0x200, 1 << 24)
    assert "qRcmd," + b"reset halt".hex() in board.commands


@pytest.mark.parametrize("cpu, cpuid", [("cortex-m0plus", 0x410CC200), ("cortex-m33+nodsp", 0x411FD210)])
def test_a_core_that_runs_the_image_too(cpu, cpuid):
    with FakeBoard(cpuid=cpuid) as board, Server(board.url) as server:
        core.core_of(server, image(cpu))


def test_another_core():
    with FakeBoard(cpuid=0x410FC241) as board, Server(board.url) as server:
        with pytest.raises(
            DebuggerError, match="has a cortex-m4, and net.elf is for cortex-m55: compile the model with"
        ):
            core.core_of(server, image("cortex-m55"))


def test_a_core_in_an_exception():
    with FakeBoard() as board, Server(board.url) as server:
        board.xpsr = 0x01000003
        with pytest.raises(DebuggerError, match="is in its exception 3, and"):
            core.reset(server)


def test_vectors_at_a_fixed_place():
    """As on a Cortex-M0, whose memory at 0 may be the same as the image's."""
    with FakeBoard(read_only=range(0xE000ED08, 0xE000ED0C)) as board, Server(board.url) as server:
        board.store(0xE000ED08, (0x400).to_bytes(4, "little"))
        with pytest.raises(
            DebuggerError, match="takes its vectors from 0x00000400, and net.elf has them at 0x00000000"
        ):
            core.start(server, image())
        board.store(0x400, image().bytes_at(0, 64))
        core.start(server, image())


def stop(address, *arguments, back=0x300):
    return {PC: address, LR: back | 1, **dict(enumerate(arguments))}


@pytest.mark.parametrize("twice", [False, True])
def test_what_an_image_reports(twice):
    """Text, bytes of a tensor, and cycles between two reads of a counter that wraps."""
    stops = [
        stop(0x100, 0x2000, 7),
        stop(0x144),
        stop(0x148),
        stop(0x120, 0, 0x2010, 0x2020, 3),
        stop(0x160),  # where the server stops it; the firmware goes on from there
        stop(0x100, 0x2030, 15),
    ]
    with FakeBoard(stops=stops, twice=twice, counts=[0xFFFFFF00, 0x100]) as board, Server(board.url) as server:
        board.store(0x2000, b"##OUT a")
        board.store(0x2010, b"data\0")
        board.store(0x2020, b"\x01\x02\xff")
        board.store(0x2030, b"\n##EXIT rc=0##\n")
        cycle_counter.start(server, "cortex-m4")
        found = execution.execute(server, image(), execution.markers_of(image()), 5)
    assert found.report == "##OUT a data=0102ff\n##EXIT rc=0##\n"
    assert found.cycles == [0x200]
    assert board.registers[PC] == 0x300  # back at the caller, without a byte on the UART


def test_a_stop_elsewhere(monkeypatch):
    monkeypatch.setattr(execution, "_SECOND_REPORT_S", 0.1)
    with FakeBoard(stops=[stop(0x200)]) as board, Server(board.url) as server:
        with pytest.raises(DebuggerError, match=r"the core stopped at 0x200 \(T05hwbreak:;\), where nothing stops it"):
            execution.execute(server, image(), None, 5)


def test_an_image_that_does_not_end():
    with FakeBoard(stops=[stop(0x100, 0x2000, 8), None]) as board, Server(board.url) as server:
        board.store(0x2000, b"##OUT a\n")
        with pytest.raises(
            DebuggerError, match="did not end within 0.5 s: it is at 0x300, after '##OUT a'; give it more"
        ):
            execution.execute(server, image(), None, 0.5)
    assert sum(command.startswith("z1") for command in board.commands) == 2


@pytest.mark.parametrize("name, reason", [("cortex-m0", "a cortex-m0 has no"), ("cortex-m4", "cannot be switched on")])
def test_no_cycle_counter(name, reason):
    """It must not be taken for one that stands still."""
    with FakeBoard() as board, Server(board.url) as server:
        with pytest.raises(cycle_counter.NoCounter, match=reason):
            cycle_counter.start(server, name)
