"""Files in which a model's state waits until it is run again: `cmsisnn run --save-state`.

An .npz with the bytes of persistent memory, which are the same on every device, and the CRC-32 of the payload that they
belong to: in another one they would mean something else.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Union

import numpy as np

from ..payload.decode import Payload
from ..support.errors import UserError, first_line, require_file
from . import npz


def dumps(memory: bytes, payload: Payload) -> bytes:
    """Returns the file's bytes. `memory` is the persistent memory of `payload`."""
    crc32 = _crc32(memory, payload.crc32)
    state = np.frombuffer(memory, np.uint8)
    numbers = {"payload_crc32": payload.crc32, "crc32": crc32}
    return npz.dumps({"state": state, **{name: np.array(number, np.uint32) for name, number in numbers.items()}})


def read(path: Union[str, Path], payload: Payload) -> bytes:
    """Returns the persistent memory that `dumps` was given. UserError if the file is anything else, damaged, or of
    another payload."""
    require_file(path)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            state, of_payload, crc32 = arrays["state"], int(arrays["payload_crc32"]), int(arrays["crc32"])
    except Exception as error:  # zipfile and numpy raise many kinds of errors
        raise UserError(f"{path} is no file of a state, or a damaged one: {first_line(error)}") from error
    memory: bytes = state.tobytes()
    if state.dtype != np.uint8 or not 0 <= of_payload < 2**32 or _crc32(memory, of_payload) != crc32:
        raise UserError(f"{path} is damaged: it was changed after it was written (crc32)")
    if of_payload != payload.crc32:
        raise UserError(
            f"{path} is the state of another model, or of another compilation: of the payload {of_payload:08x}, and "
            f"this is {payload.crc32:08x}. Run the model for which it was saved, or start without a state"
        )
    if len(memory) != payload.persistent_bytes:
        raise UserError(f"{path} has {len(memory):,} bytes, and the state has {payload.persistent_bytes:,}")
    return memory


def _crc32(memory: bytes, payload_crc32: int) -> int:
    return zlib.crc32(payload_crc32.to_bytes(4, "little"), zlib.crc32(memory))
