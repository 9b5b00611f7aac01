"""The Raspberry Pi Pico's first 256 bytes of flash: the chip's ROM checks them, copies them into RAM and calls them.

Renode runs them so, with memory in place of the registers of the flash's controller: there is no other way to see here
that they need nothing but themselves, and that they write what they should, in the right order.
"""

import pathlib
import struct

import pytest

from sim import boards
from sim.elf import Elf
from sim.renode.renode import find_renode
from sim.renode.server import RenodeServer
from sim.simulator import SimulatorError

IMAGE = pathlib.Path("platforms/bsp/selftest/image_rpi_pico")
FLASH = boards.get_board("rpi_pico").memories["FLASH"]
SIZE = 256
RAM = 0x20041F00  # where the ROM copies them to
STACK = 0x20041000  # somewhere, in RAM
VTOR = 0xE000ED08
SSI = 0x18000000
REGISTERS = {"CTRLR0": 0x00, "CTRLR1": 0x04, "SSIENR": 0x08, "BAUDR": 0x14, "SPI_CTRLR0": 0xF4}  # offsets
_DESCRIPTION = f"""\
cpu: CPU.CortexM @ sysbus
    cpuType: "cortex-m0+"
    nvic: nvic
nvic: IRQControllers.NVIC @ sysbus 0xE000E000
    priorityMask: 0xC0
    IRQ -> cpu@0
flash: Memory.MappedMemory @ sysbus {FLASH.origin:#x}
    size: {FLASH.size:#x}
ram: Memory.MappedMemory @ sysbus 0x20000000
    size: 0x42000
ssi: Memory.MappedMemory @ sysbus {SSI:#x}
    size: 0x1000
"""


def crc32(data):
    """Returns the checksum of the RP2040's data sheet: polynomial 0x04c11db7, bits from the top, from all ones."""
    remainder = 0xFFFFFFFF
    for byte in data:
        for bit in range(7, -1, -1):
            top = remainder >> 31 ^ byte >> bit & 1
            remainder = (remainder << 1 ^ 0x04C11DB7 * top) & 0xFFFFFFFF
    return remainder


@pytest.fixture(name="flash", scope="module")
def fixture_flash():
    """Returns what is in flash, from its first byte on."""
    return IMAGE.with_suffix(".bin").read_bytes()


@pytest.fixture(name="server")
def fixture_server():
    try:
        server = RenodeServer(find_renode())
    except SimulatorError as error:
        pytest.skip(str(error))
    yield server
    server.close()


def test_the_checksum_is_the_published_one():
    assert crc32(b"123456789") == 0x0376E6E7  # of CRC-32/MPEG-2, which has these parameters


def test_the_rom_accepts_them(flash):
    assert struct.unpack_from("<I", flash, SIZE - 4)[0] == crc32(flash[: SIZE - 4])


def test_they_start_the_image(flash, server):
    elf = Elf(IMAGE.with_suffix(".elf"))
    folder = server.new_folder()
    (folder / "board.repl").write_text(_DESCRIPTION)
    (folder / "flash").write_bytes(flash)
    (folder / "boot2").write_bytes(flash[:SIZE])

    def value(command):
        return int(server.command(command).strip(), 0)

    server.command('mach create "pico"')
    server.command(f"machine LoadPlatformDescription @{folder}/board.repl")
    server.command(f"sysbus LoadBinary @{folder}/flash {FLASH.origin:#x}")
    server.command(f"sysbus LoadBinary @{folder}/boot2 {RAM:#x}")
    # Values that nothing writes, so that each write is seen.
    for offset in REGISTERS.values():
        server.command(f"sysbus WriteDoubleWord {SSI + offset:#x} 0xffffffff")
    for register, start in (("SP", STACK), ("PC", RAM), ("LR", 0)):
        server.command(f"cpu {register} {start:#x}")
    server.command("cpu ExecutionMode SingleStep")
    server.keyword("StartEmulation")
    writes = []
    seen = dict.fromkeys(REGISTERS, 0xFFFFFFFF)
    for _ in range(SIZE):
        server.command("cpu Step 1")
        for name, offset in REGISTERS.items():
            now = value(f"sysbus ReadDoubleWord {SSI + offset:#x}")
            if now != seen[name]:
                writes.append((name, now))
                seen[name] = now
        pc = value("cpu PC")
        if pc < RAM:
            break
        assert RAM <= pc < RAM + SIZE

    assert (writes[0], writes[-1]) == (("SSIENR", 0), ("SSIENR", 1))
    # By the data sheet: 03h, 8 bits, then 24 of address, then 32 of data, over one line, at a quarter of the clock.
    assert sorted(writes[1:-1]) == [("BAUDR", 4), ("CTRLR0", 0x001F0300), ("CTRLR1", 0), ("SPI_CTRLR0", 0x03000218)]
    assert pc == elf.address("bsp_reset") & ~1
    assert value("cpu SP") == elf.address("__stack_top")
    assert value(f"sysbus ReadDoubleWord {VTOR:#x}") == elf.address("__text_start") == FLASH.origin + SIZE
