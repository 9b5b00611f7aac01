"""The real image on a simulated core: which payloads it takes, and what it computes with them."""

from __future__ import annotations

import functools
import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.files.serialize import loads
from cmsis_nn_delegate.format import schema
from sim import simulator

CORE = os.environ["CORE"]
ISA = os.environ["ISA"]
OTHER_ISA = {"dsp": "mve", "mve": "dsp"}[ISA]
HERE = Path("examples/field_update")
SLOT_BYTES = 32 * 1024
HEADER_BYTES = 32
ERASED = b"\xff" * SLOT_BYTES

LINEAR, DIGITS = "model 1.0.0+0", "model 1.1.0+0"


def signed(model: str, isa: str = ISA) -> bytes:
    return (HERE / f"{model}_{isa}.img").read_bytes()


def sign(payload: bytes, folder: Path, version: str, *options: str) -> bytes:
    """Signs any payload as the build does."""
    unsigned, image = folder / "payload.bin", folder / "signed.img"
    unsigned.write_bytes(payload)
    command = ["sign", "--key", HERE / "development_key.pem", "--header-size", "32", "--pad-header"]
    imgtool(*command, "--align", "4", "--slot-size", SLOT_BYTES, "--version", version, *options, unsigned, image)
    return image.read_bytes()


def imgtool(*arguments) -> str:
    command = [sys.executable, "-m", "imgtool.main", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def payload_of(image: bytes) -> bytes:
    return image[HEADER_BYTES : HEADER_BYTES + struct.unpack_from("<I", image, 12)[0]]


def changed(data: bytes, offset: int, value: int) -> bytes:
    assert data[offset] != value
    return data[:offset] + bytes([value]) + data[offset + 1 :]


def with_crc(payload: bytes) -> bytes:
    """Returns the payload with the right CRC: a payload of somebody else's, rather than a damaged one."""
    at = schema.HEADER.offset_of("crc32")
    empty = payload[:at] + bytes(4) + payload[at + 4 :]
    return payload[:at] + struct.pack("<I", zlib.crc32(empty)) + payload[at + 4 :]


def run(slots: tuple[bytes, bytes], *received: bytes) -> simulator.Result:
    job = b"".join(slot.ljust(SLOT_BYTES, b"\xff") for slot in slots)
    for image in received:
        job += struct.pack("<I", len(image)) + image + bytes(-len(image) % 4)
    return simulator.run(HERE / f"{CORE}.elf", job=job + bytes(4), count=False)


def lines(result: simulator.Result) -> list[str]:
    assert result.status == "exit", result.explain()
    return [line for line in result.uart.splitlines() if line.startswith(("model", "slot", "update", "there"))]


@functools.cache
def images() -> np.ndarray:
    text = Path("examples/firmware/images.h").read_text(encoding="utf-8")
    rows = re.findall(r"\{(\d+(?:, \d+){63})\}", text)
    return np.array([row.split(", ") for row in rows], np.float32)


@functools.cache
def expected_crc(model: str) -> int:
    """Returns the CRC-32 of the outputs that the integer reference computes of all images."""
    package = {"linear": "two_models", "digits": "firmware"}[model]
    graph, _ = loads(Path(f"examples/{package}/{ISA}/{model}.graph.npz").read_bytes())
    (value,) = graph.inputs
    scale, zero_point = np.float32(value.scale), value.zero_point
    pixels = np.minimum((images() / np.float32(16) / scale + np.float32(0.5)).astype(np.int32) + zero_point, 127)
    outputs = [reference.run(graph, [row.astype(np.int8).reshape(value.shape)])[0] for row in pixels]
    return zlib.crc32(np.stack(outputs).tobytes())


def of(line: str) -> tuple[str, int]:
    """Returns the version that a line is about, and the CRC of the outputs."""
    match = re.fullmatch(r"(model \S+) in slot \d: \d+ of 40 are right, crc (\d+)", line)
    assert match, line
    return match[1], int(match[2])


def test_takes_the_second_and_goes_on_with_it_when_others_are_refused(tmp_path):
    good = signed("digits")
    payload = payload_of(good)
    header = schema.HEADER
    newer = functools.partial(sign, folder=tmp_path, version="2.0.0")
    intact = newer(payload)
    refused = {
        "its CRC is wrong": changed(intact, len(intact) // 3, intact[len(intact) // 3] ^ 0x10),
        "is not newer": sign(payload_of(signed("linear")), tmp_path, "1.0.9"),
        "for another instruction set": newer(payload_of(signed("digits", OTHER_ISA))),
        "another format version": newer(with_crc(changed(payload, header.offset_of("format_version"), 99))),
        "a revision of kernels": newer(with_crc(changed(payload, header.size + 1, 0x77))),
        "no payload": newer(b"a firmware, perhaps".ljust(4096, b".")),
        "another size than the image": newer(payload[:-16]),
        "MCUboot's header": payload,
        "cut off": intact[: len(payload)],
        "larger than its slot": intact + bytes(SLOT_BYTES),
        "the image has flags": changed(intact, 16, 0x10),
        "more RAM": newer(with_crc(changed(payload, header.offset_of("arena_bytes") + 2, 0x01))),
        "malformed": newer(with_crc(changed(payload, header.offset_of("calls_bytes"), 0x05))),
    }
    result = run((signed("linear"), ERASED), good, *refused.values())
    first, second, *rest = lines(result)[1:]
    assert of(first) == (LINEAR, expected_crc("linear"))
    assert second == "update taken"
    assert of(rest.pop(0)) == (DIGITS, expected_crc("digits"))
    for reason in refused:
        answer = rest.pop(0)
        assert answer.startswith("update refused: ") and reason in answer
        assert of(rest.pop(0)) == (DIGITS, expected_crc("digits"))
    assert not rest and result.exit_code == 0


@pytest.mark.parametrize(
    "slots, used, reason",
    [
        (("linear", "digits"), 1, "slot 0 is not used: its version is not newer"),
        (("digits", "linear"), 0, "slot 1 is not used: its version is not newer"),
        (("damaged", "linear"), 1, "slot 0 is not used: the payload is damaged"),
        (("linear", "foreign"), 0, "slot 1 is not used: the payload is for another instruction set"),
        (("empty", "linear"), 1, "slot 0 is not used: there is no image"),
    ],
)
def test_starts_with_the_newest_that_can_be_used(slots, used, reason):
    digits = signed("digits")
    contents = {
        "linear": signed("linear"),
        "digits": digits,
        "damaged": changed(digits, 200, digits[200] ^ 1),
        "foreign": signed("digits", OTHER_ISA),
        "empty": b"",
    }
    said = lines(run(tuple(contents[slot] for slot in slots)))
    assert said[0].startswith(reason) and len(said) == 2
    model, crc = of(said[1])
    assert (model, crc) == ({"linear": LINEAR, "digits": DIGITS}[slots[used]], expected_crc(slots[used]))
    assert f"in slot {used}:" in said[1]


def test_an_empty_device_waits_for_its_first_model():
    result = run((ERASED, ERASED), signed("linear", OTHER_ISA), signed("linear"))
    none, also_none, no_model, refused, taken, runs = lines(result)
    assert "slot 0" in none and "slot 1" in also_none and no_model == "there is no model"
    assert refused.startswith("update refused: the payload is for another instruction set")
    assert taken == "update taken" and of(runs) == (LINEAR, expected_crc("linear"))


def test_the_signature_is_one_that_mcuboot_accepts(tmp_path):
    good, bad = tmp_path / "good.img", tmp_path / "bad.img"
    good.write_bytes(signed("digits"))
    bad.write_bytes(changed(good.read_bytes(), 100, good.read_bytes()[100] ^ 1))
    key = HERE / "development_key.pem"
    assert "Image was correctly validated" in imgtool("verify", "--key", key, good)
    with pytest.raises(AssertionError, match="Image has an invalid hash"):
        imgtool("verify", "--key", key, bad)
    other = tmp_path / "other.pem"
    imgtool("keygen", "--key", other, "--type", "ed25519")
    with pytest.raises(AssertionError, match="No signature found for the given key"):
        imgtool("verify", "--key", other, good)
