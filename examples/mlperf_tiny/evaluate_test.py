"""Tests the table, without compiling or simulating anything."""

import dataclasses
from types import SimpleNamespace

from examples.mlperf_tiny import evaluate


def test_every_row_names_its_simulator(capsys, monkeypatch):
    """The core decides which simulator runs an image."""
    simulators = {"cortex-m4": "Renode 1.16.1", "cortex-m55": "QEMU 7.2.22"}

    def row(network, core, *_):
        info = SimpleNamespace(kernels="portable", executor="standalone")
        numbers = {f.name: 0 for f in dataclasses.fields(evaluate.Row)}
        run = SimpleNamespace(info=info, simulator=simulators[core])
        return evaluate.Row(
            **{**numbers, "network": network.name, "core": core, "agreement": "8 of 8 classes", "run": run}
        )

    monkeypatch.setattr(evaluate, "evaluate", row)
    assert evaluate.main(["--network", "ds_cnn"]) == 0
    title, *rows, _, summary = capsys.readouterr().out.splitlines()
    assert title.rstrip().endswith("simulator")
    column = title.index("simulator")
    assert {line.split()[1]: line[column:] for line in rows} == simulators
    assert not any(name in summary for name in simulators.values())
