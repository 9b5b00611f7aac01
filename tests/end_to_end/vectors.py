"""The artifacts of a network, as `network_artifacts` lays them beside this file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Vectors:
    """`inputs` and `expected` (by the integer reference) of the network's only input and output."""

    inputs: np.ndarray  # int8 (count, ...), each contiguous in its logical order (NCHW)
    expected: np.ndarray  # int8 (count, ...)


def load_vectors(network: str) -> Vectors:
    with np.load(_FOLDER / f"{network}_vectors.npz") as data:
        return Vectors(data["inputs"], data["expected"])


def artifact(network: str, isa: str, kind: str) -> bytes:
    """The .pte or .payload of `network` for `isa`."""
    return (_FOLDER / f"{network}_{isa}.{kind}").read_bytes()


def lowered_graph(network: str) -> bytes:
    """The graph of which the payloads and the expected outputs are, in a file that payload/files/serialize.py reads."""
    return (_FOLDER / f"{network}_graph.npz").read_bytes()


def firmware(core: str) -> Path:
    """The standalone runner for `core` ("cortex-m4")."""
    return _FOLDER.parent.parent / "runtime" / f"{core.replace('-', '_')}.elf"


def differing_bytes(actual: np.ndarray, expected: np.ndarray) -> int:
    """How many elements differ; the shapes must be equal, or a comparison would mean nothing."""
    assert actual.shape == expected.shape and actual.dtype == expected.dtype == np.int8
    return int((actual != expected).sum())
