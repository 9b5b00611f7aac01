"""Compiles a network with a provider of kernels that the compiler does not know: `write_net.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

from cmsis_nn_delegate import compile_model, reference
from cmsis_nn_delegate.providers.registry import PROVIDERS, register
from cmsis_nn_delegate.report import text
from tests.extension.words.provider import Words

RUNS = 4


class Net(nn.Module):
    """The greater of two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.maximum(self.first(x), self.second(x))


def array(name: str, data: bytes) -> str:
    return f"inline constexpr unsigned char {name}[] = {{{', '.join(map(str, data))}}};\n"


def main(folder: str) -> None:
    register(Words())
    torch.manual_seed(0)
    samples = [(torch.randn(1, 3, 6, 6),) for _ in range(8)]
    preferred = ("words", *(name for name in PROVIDERS if name != "words"))
    compiled = compile_model(
        Net(), samples[0], "cortex-m4", samples, io="int8", providers=preferred, name="net", max_flash_growth=0
    )
    for name, content in compiled.files("cpp", page=True).items():
        (Path(folder) / name).write_bytes(content)
    assert compiled.encoded is not None and compiled.report is not None
    graph = compiled.encoded.graph
    inputs = np.random.default_rng(1).integers(-128, 128, (RUNS, *graph.inputs[0].type.storage_shape), np.int8)
    outputs = [reference.run(graph, [x])[0] for x in inputs]
    lines = ["#pragma once\n", f"inline constexpr unsigned kRuns = {RUNS};\n"]
    lines += [array("kInputs", inputs.tobytes()), array("kOutputs", b"".join(y.tobytes() for y in outputs))]
    (Path(folder) / "net_data.h").write_text("".join(lines))
    (Path(folder) / "net.report.txt").write_text(text.render(compiled.report))


if __name__ == "__main__":
    main(*sys.argv[1:])
