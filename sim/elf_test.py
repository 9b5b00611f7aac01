"""Damaged images are refused with a message; the test images come from the self-test firmware."""

import pathlib
import struct

import pytest

from sim.elf import Elf, ElfError

IMAGE = pathlib.Path("platforms/bsp/selftest/cortex_m4.elf")


def test_reads_symbols_and_strings():
    elf = Elf(IMAGE)
    assert elf.string("bsp_core") == "cortex-m4"
    assert elf.string("bsp_isa") == "dsp"
    assert elf.string("bsp_board") == "mps2-an386"
    assert elf.address("__mailbox_start") == 0x21000000
    assert elf.address("__mailbox_end") - elf.address("__mailbox_start") >= 8 << 20


def test_code_addresses_are_those_of_every_such_halfword():
    """Compares with the bytes of the section, for halfwords that it contains and one that it does not."""
    elf = Elf(IMAGE)
    start, end = elf.address("__text_start"), elf.address("__text_end")
    # The section is loaded at 0, and objcopy's image begins with it.
    code = IMAGE.with_suffix(".bin").read_bytes()[: end - start]
    for halfword in (0x46C9, 0x46D2, 0xBEAB, 0x4770, 0xBF30):
        expected = [
            start + at for at in range(0, len(code) - 1, 2) if code[at : at + 2] == halfword.to_bytes(2, "little")
        ]
        assert elf.code_addresses(halfword) == expected and expected
    assert elf.code_addresses(0xDEDE) == []


def test_what_is_loaded_is_the_image_of_objcopy():
    """The same bytes at the same addresses, of a file without symbols."""
    loaded, expected = Elf(IMAGE).loaded(), IMAGE.with_suffix(".bin").read_bytes()
    *_, size, count, _, sections, _ = struct.unpack_from("<16sHHIIIIIHHHHHH", loaded)
    assert sections == 0
    image = bytearray(len(expected))
    for kind, offset, _, address, in_file, *_ in struct.iter_unpack("<8I", loaded[52 : 52 + count * size]):
        assert kind == 1
        image[address : address + in_file] = loaded[offset : offset + in_file]
    assert bytes(image) == expected


def test_missing_symbol():
    with pytest.raises(ElfError, match="has no symbol no_such_symbol"):
        Elf(IMAGE).address("no_such_symbol")


def test_symbol_outside_the_image():
    with pytest.raises(ElfError, match="is not in the image's data"):
        Elf(IMAGE).string("__mailbox_start")


def test_missing_file(tmp_path):
    with pytest.raises(ElfError, match="cannot read the firmware image"):
        Elf(tmp_path / "absent.elf")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n" * 10, b"\x7fELF\x02\x01" + bytes(100)])
def test_other_files(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ElfError, match="is not a 32-bit little-endian ELF file"):
        Elf(path)


def test_truncated(tmp_path):
    data = IMAGE.read_bytes()
    path = tmp_path / "truncated.elf"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ElfError, match="is truncated"):
        Elf(path)
