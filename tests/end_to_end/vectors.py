"""The artifacts of a network, which `network_artifacts` puts beside this file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Those of MLPerf Tiny.
NETWORKS = ("autoencoder", "ds_cnn", "mobilenet_v1_025", "resnet8")
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
    """Returns the path of the .pte or .payload of `network` for `isa`."""
    return (_FOLDER / f"{network}_{isa}.{kind}").read_bytes()


def lowered_graph(network: str) -> bytes:
    """Returns the path of the graph behind the payloads and expected outputs; files/serialize.py reads it."""
    return (_FOLDER / f"{network}_graph.npz").read_bytes()


def firmware(core: str) -> Path:
    """Returns the path of the standalone runner for `core` ("cortex-m4")."""
    return _FOLDER.parent.parent / "runtime" / f"{core.replace('-', '_')}.elf"


def differing_bytes(actual: np.ndarray, expected: np.ndarray) -> int:
    """Returns how many elements differ; the shapes must be equal, otherwise the comparison would be meaningless."""
    assert actual.shape == expected.shape and actual.dtype == expected.dtype and actual.dtype.kind == "i"
    return int((actual != expected).sum())
