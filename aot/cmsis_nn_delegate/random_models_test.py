"""compile_model and the command line meet strangers' models: nothing but UserError may come of them.

By hand, with other seeds: `python random_models_test.py FIRST COUNT` tells what each seed ended with.
"""

import random
import sys
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.random_models import random_model

make_torch_faster()

SEEDS = st.integers(0, 2**32 - 1)


def attempt(seed):
    """What becomes of a seed's model: "" if it is compiled, or the error's message."""
    draw = random.Random(seed)
    model = random_model(draw)
    module, examples, data = model.load()
    io = draw.choice(["float"] * 7 + ["int8"])
    observer = draw.choice(["minmax", "histogram"])
    try:
        compiled = compile_model(module, examples, "cortex-m55", data, io=io, observer=observer)
    except UserError as error:
        return str(error)
    except Exception:
        print(f"seed {seed}, {io}:\n{model.source}")
        raise
    assert compiled.pte and (compiled.encoded is None) == bool(compiled.obstacle)
    return ""


@settings(max_examples=16, deadline=None, suppress_health_check=list(HealthCheck))
@given(SEEDS)
def test_models_are_compiled_or_refused(seed):
    message = attempt(seed)
    assert "\n" not in message, message


def test_command_line(tmp_path, capsys):
    @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
    @given(SEEDS)
    def run(seed):
        path = tmp_path / f"random_{seed}.py"
        path.write_text(random_model(random.Random(seed)).source)
        code = main(["explain", f"{path}:model", "--target", "cortex-m4"])
        error = capsys.readouterr().err
        assert code in (0, 1, 2) and "unexpected" not in error and "Traceback" not in error, error
        assert bool(error) == bool(code) and error.count("\n") <= 1, error

    run()


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    ends = Counter()
    for number in range(first, first + count):
        try:
            end = attempt(number)
        except Exception as unexpected:
            end = f"FAULT {type(unexpected).__name__}: {unexpected}"
            print(end, flush=True)
        ends[end[:60] or "compiled"] += 1
    for end, times in ends.most_common():
        print(times, end)
