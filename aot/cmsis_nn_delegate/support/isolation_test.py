"""A compilation neither depends on global settings nor changes them, and threads that compile get their own results."""

import contextlib
import copy
import logging
import logging.handlers
import os
import random
import sys
import threading
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.fx.traceback import NodeSource
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate import compile_for_targets, compile_model, lower, quantizable_module
from cmsis_nn_delegate.partition.delegates import delegates
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.isolation import isolated
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

X = torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6)
SAMPLES = [(X,), (X.flip(3),), (0.5 * X * X,)]


# Of a user: this file is in the package whose warnings are dropped.
_NAMES = {"__name__": "model_of_a_user", "warn": warnings.warn, "log": logging.warning}
_CODE = "def warned(text): warn(text)\ndef logged(text): log(text)\n"
exec(compile(_CODE, "model_of_a_user.py", "exec"), _NAMES)


class Network(nn.Module):
    """With what depends on settings: new tensors, attention, and random numbers in calibration if it would train."""

    def __init__(self, seed=0, channels=4, warning=None):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.conv, self.linear = nn.Conv2d(2, channels, 3, padding=1), nn.Linear(36, 5)
        self.dropout = nn.Dropout(0.5)
        self.warning = warning
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-1, 1, generator=generator)

    def forward(self, x):
        if self.warning is not None:
            _NAMES["warned"](self.warning)
        y = self.conv(x).relu().flatten(2) + torch.ones(1, 1, 36)
        y = nn.functional.scaled_dot_product_attention(y, y, y)
        return self.linear(self.dropout(y)).softmax(-1)


def compiled(module=None, **options):
    return compile_model(module or Network(), (X,), "cortex-m55", SAMPLES, **options)


def state():
    """All that a compilation might change."""
    numbers = np.random.get_state()
    return {
        "torch's generator": bytes(torch.get_rng_state().tolist()),
        "Python's generator": random.getstate(),
        "NumPy's generator": (numbers[1].tobytes(), *numbers[2:]),
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "modes": torch._C._len_torch_function_stack(),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()),
        "autocast": [(torch.is_autocast_enabled(x), torch.get_autocast_dtype(x)) for x in ("cpu", "cuda")],
        "deterministic": (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        "precision": torch.get_float32_matmul_precision(),
        "mkldnn": torch.backends.mkldnn.enabled,
        "attention": (torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled()),
        "threads": torch.get_num_threads(),
        "NumPy": (np.geterr(), np.get_printoptions()),
        "torch's printing": vars(torch._tensor_str.PRINT_OPTS).copy(),
        "warnings": (list(warnings.filters), warnings.showwarning),
        "loggers": {
            name: (logger.level, logger.filters[:])
            for name, logger in [("", logging.getLogger()), *logging.Logger.manager.loggerDict.items()]
            if isinstance(logger, logging.Logger)
        },
        "handlers": logging.getLogger().handlers[:],
        "process": (dict(os.environ), os.getcwd(), sys.getrecursionlimit(), sys.stdout, sys.stderr, sys.path[:]),
    }


@contextlib.contextmanager
def called(function, value, before):
    function(value)
    try:
        yield
    finally:
        function(before)


@contextlib.contextmanager
def filtered(action):
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        yield


@contextlib.contextmanager
def seeded():
    torch.manual_seed(77)
    random.seed(77)
    np.random.seed(77)
    yield


SETTINGS = {
    "none": [],
    "values": [
        seeded,
        lambda: called(torch.set_default_dtype, torch.float64, torch.float32),
        lambda: called(torch.set_default_device, "meta", None),
        lambda: called(torch.use_deterministic_algorithms, True, False),
        lambda: called(torch.set_float32_matmul_precision, "medium", "highest"),
        lambda: called(torch.set_num_threads, 1, torch.get_num_threads()),
        lambda: torch.backends.mkldnn.flags(enabled=False),
        lambda: torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
        lambda: np.errstate(all="raise"),
        torch.no_grad,
        lambda: filtered("error"),
    ],
    "modes": [
        seeded,
        lambda: called(torch.set_default_dtype, torch.bfloat16, torch.float32),
        lambda: torch.device("meta"),
        torch.inference_mode,
        lambda: torch.autocast("cpu", torch.bfloat16),
    ],
    "gradients": [lambda: torch.autograd.set_detect_anomaly(True), torch.enable_grad],
}


def settings(name):
    stack = contextlib.ExitStack()
    for setting in SETTINGS[name]:
        stack.enter_context(setting())
    return stack


@pytest.fixture(scope="module")
def expected():
    return compiled().files()


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_do_not_matter_and_stay(name, expected):
    module = Network()
    with settings(name):
        before = state()
        result = compiled(module)
        after = state()
    assert {key: after[key] for key in after if after[key] != before[key]} == {}
    assert result.files() == expected


def test_histories_of_nodes_are_shared_while_it_lasts():
    program = torch.export.export(nn.ReLU(), (torch.ones(2),))
    source = NodeSource(next(iter(program.graph.nodes)), "a pass")
    with pytest.raises(KeyError), isolated():
        assert copy.deepcopy([source])[0] is source
        raise KeyError
    assert copy.deepcopy([source])[0] is not source


def test_a_model_made_in_inference_mode(expected):
    with torch.inference_mode():
        assert compiled(Network()).files() == expected


@pytest.mark.parametrize("name", ["values", "modes"])
def test_code_of_the_caller_runs_with_the_settings_of_the_caller(name):
    seen = {}

    def samples():
        for _ in range(2):
            drawn = torch.rand(X.shape, dtype=torch.float32, device="cpu")
            seen.setdefault("drawn", []).append((drawn, random.random(), np.random.rand()))
            seen["state"] = state()
            yield (drawn,)

    def numbers():
        return [
            (torch.rand(X.shape, dtype=torch.float32, device="cpu"), random.random(), np.random.rand())
            for _ in range(3)
        ]

    module = Network()
    with settings(name):
        before, generators = state(), (torch.get_rng_state(), random.getstate(), np.random.get_state())
        compile_model(module, (X,), "cortex-m55", samples(), check=False, progress=lambda line: random.random())
        following = torch.rand(X.shape, dtype=torch.float32, device="cpu")
        torch.set_rng_state(generators[0])
        random.setstate(generators[1])
        np.random.set_state(generators[2])
        wanted = numbers()
    for (a, _, c), (x, _, z) in zip(seen["drawn"], wanted):
        assert torch.equal(a, x) and c == z
    assert torch.equal(following, wanted[2][0])
    same = [key for key in before if "generator" not in key and key not in ("modes", "warnings", "loggers")]
    assert [key for key in same if seen["state"][key] != before[key]] == []


def test_a_calibration_that_compiles(expected):
    def samples():
        inner.append(compiled().files())
        yield (X,)

    inner = []
    outer = compile_model(Network(), (X,), "cortex-m55", samples(), check=False)
    assert inner == [expected]
    assert outer.files() == compile_model(Network(), (X,), "cortex-m55", [(X,)], check=False).files()


# Warnings ---------------------------------------------------------------------


def shown(capfd, filters, **options):
    with warnings.catch_warnings(record=True) as caught:
        for action in filters:
            warnings.simplefilter(action)
        compiled(**options)
    captured = capfd.readouterr()
    return [str(warning.message) for warning in caught], captured.out + captured.err


@pytest.mark.parametrize("filters", [["always"], ["error"]])
def test_libraries_show_no_warnings(capfd, filters):
    assert shown(capfd, filters) == ([], "")


def test_a_model_shows_its_warnings(capfd):
    messages, text = shown(capfd, ["default"], module=Network(warning="a warning of the model"))
    assert (messages, text) == (["a warning of the model"], "")


def test_a_warning_that_is_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Exception, match="a warning of the model"):
            compiled(Network(warning="a warning of the model"))


def test_warnings_of_the_caller_are_shown_and_logged():
    def samples():
        _NAMES["warned"]("a warning of the data")
        logging.getLogger("data").warning("a line of the data")
        _NAMES["logged"]("another line")
        yield (X,)

    handler = logging.handlers.BufferingHandler(1000)
    logging.getLogger().addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compile_model(Network(), (X,), "cortex-m55", samples())
    finally:
        logging.getLogger().removeHandler(handler)
    assert [str(warning.message) for warning in caught] == ["a warning of the data"]
    lines = [record.getMessage() for record in handler.buffer if record.levelno >= logging.WARNING]
    assert lines == ["a line of the data", "another line"]


# Threads ----------------------------------------------------------------------


def quantized():
    """A program of the user, whose own calls of torch.export and torchao no lock protects."""
    module = quantizable_module(torch.export.export(Network(5).eval(), (X,)))
    prepared = prepare_pt2e(module, CmsisNnQuantizer())
    prepared(X)
    return torch.export.export(convert_pt2e(prepared), (X,))


def several(names):
    return [result.files() for result in compile_for_targets(Network(3), (X,), names, SAMPLES)]


def payloads(edge):
    return [delegate.module.processed_bytes for delegate in delegates(edge)]


def test_threads_get_their_own_results():
    program = quantized()
    jobs = [
        lambda: compiled(Network(1)).files(),
        lambda: compiled(Network(2, 6), io="int8").files(),
        lambda: several(["cortex-m4", "cortex-m0plus"]),
        lambda: payloads(lower(program, "cortex-m4")),
    ]
    wanted = [job() for job in jobs]
    found = {}
    started = threading.Barrier(len(jobs))

    def run(number):
        started.wait()
        try:
            found[number] = jobs[number]()
        except BaseException as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] == result for number, result in enumerate(wanted)] == [True] * len(jobs), found
