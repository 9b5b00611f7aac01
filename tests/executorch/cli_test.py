"""`cmsisnn run --executor executorch`, from the command to the image with ExecuTorch's executor."""

import numpy as np
import pytest

from cmsis_nn_delegate.support.quiet import quiet
from tests.executorch.executor import needs_executor
from tools.executors.running import UNAVAILABLE, image

pytestmark = needs_executor

if not UNAVAILABLE:  # importing takes seconds, which are wasted if all tests are skipped
    quiet()

    import torch
    from torch import nn

    from cmsis_nn_delegate import cli
    from cmsis_nn_delegate.compile import compile_model


@pytest.mark.parametrize("io", ["float", "int8"])
@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_both_executors_give_what_the_reference_gives(capsys, tmp_path, core, io):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(320, 7)).eval()
    inputs = [(torch.randn(1, 3, 8, 8),) for _ in range(5)]
    compile_model(module, inputs[0], core, inputs, io=io, name="net").write(str(tmp_path))
    np.savez(tmp_path / "x.npz", x=np.concatenate([x.numpy() for (x,) in inputs]))
    for executor, suffix in (("standalone", ""), ("executorch", "_executorch")):
        arguments = [
            "run",
            f"{tmp_path}/net",
            "--inputs",
            f"{tmp_path}/x.npz",
            "--on",
            "simulator",
            "--compare",
            "--executor",
            executor,
            "--image",
            str(image(core, suffix)),
        ]
        assert cli.main(arguments) == 0, capsys.readouterr().err
        out = capsys.readouterr().out
        assert f"executor {executor};" in out
        assert f"\n0 of {5 * 7 * (4 if io == 'float' else 1)} bytes differ" in out
