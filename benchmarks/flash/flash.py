"""The flash that networks take in images of their own: `measure`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent

CORES = ("cortex-m4", "cortex-m55")
NETWORKS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder")
# The providers whose kernels a network is linked with.
PROVIDERS = {
    "tuned": ("tuned", "cmsis-nn", "portable"),
    "cmsis-nn": ("cmsis-nn", "portable"),
}


@dataclass(frozen=True)
class Flash:
    """An image that runs one network, with the kernels that this calls and no others. Sizes are bytes."""

    network: str
    core: str
    providers: str  # a key of PROVIDERS
    code: int  # kernels, the delegate, and what they need of the compiler's and the C library
    payload: int  # the model

    @property
    def total(self) -> int:
        return self.code + self.payload


def name_of(network: str, core: str, providers: str) -> str:
    """Returns the name of an image, without suffix."""
    return f"{network}_{core}_{providers}".replace("-", "_")


def measure(network: str, core: str, providers: str, folder: Path = FOLDER) -> Flash:
    """Reads the size report of an image that Bazel has built. FileNotFoundError if it has not."""
    report = json.loads((folder / f"{name_of(network, core, providers)}.size.json").read_text())
    parts = report["flash"]["parts"]
    model = parts["benchmarks/flash"]["objects"]["network.o"]
    code = sum(part["total"] for name, part in parts.items() if not name.startswith(("benchmarks/", "platforms/")))
    return Flash(network, core, providers, code, model)
