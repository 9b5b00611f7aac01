"""Suites: payloads with inputs and expected outputs in one blob, for programs in C++ that run them.

Layout, little-endian, every part padded to 16 bytes:

    SuiteHeader | case | case | ...
    case: CaseHeader | payload | inputs | expected outputs

Inputs and outputs follow each other in the payload's order, each padded. The firmware finds the
blob in its mailbox. `cpp_header` generates the C++ side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cmsis_nn_delegate.format.record import U32, Field, Struct

MAGIC = 0x534E4E43  # "CNNS"
VERSION = 1
ALIGNMENT = 16

SUITE_HEADER = Struct(
    "SuiteHeader",
    "The first bytes of a suite.",
    (
        Field("magic", U32, "kSuiteMagic"),
        Field("version", U32, "kSuiteVersion"),
        Field("bytes", U32, "of the whole suite"),
        Field("case_count", U32),
    ),
)

CASE_HEADER = Struct(
    "CaseHeader",
    "Precedes each case.",
    (
        Field("bytes", U32, "of the case with this header"),
        Field("payload_bytes", U32),
        Field("inputs_bytes", U32, "padding included"),
        Field("outputs_bytes", U32, "padding included"),
    ),
)


@dataclass(frozen=True)
class Case:
    """`text` describes the case in one line, for messages."""

    text: str
    payload: bytes
    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def pack(cases: Sequence[Case]) -> bytes:
    """Returns the blob with `cases`."""
    blobs = []
    for case in cases:
        inputs = b"".join(_pad(data) for data in case.inputs)
        outputs = b"".join(_pad(data) for data in case.outputs)
        body = _pad(case.payload) + inputs + outputs
        header = CASE_HEADER.pack(
            {
                "bytes": CASE_HEADER.size + len(body),
                "payload_bytes": len(case.payload),
                "inputs_bytes": len(inputs),
                "outputs_bytes": len(outputs),
            }
        )
        blobs.append(header + body)
    body = b"".join(blobs)
    header = SUITE_HEADER.pack(
        {
            "magic": MAGIC,
            "version": VERSION,
            "bytes": SUITE_HEADER.size + len(body),
            "case_count": len(cases),
        }
    )
    return header + body
