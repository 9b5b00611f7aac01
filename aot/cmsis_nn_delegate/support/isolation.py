"""Keeps a compilation apart from the rest of the process: `isolated`.

PyTorch computes and exports with global settings, such as the default dtype, and torch.export, torch.fx and ExecuTorch
change global tables while they work. Hence a compilation has settings of its own, and one at a time runs.
"""

from __future__ import annotations

import contextlib
import random
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch

from .histories import shared_histories
from .quiet import quiet_libraries

_SEED = 0  # of the random numbers that a compilation draws


@dataclass(frozen=True)
class _Setting:
    """A global setting. `ours` is its value in a compilation."""

    get: Callable[[], Any]
    set: Callable[[Any], object]
    ours: Any


def _autocast(device: str) -> _Setting:
    return _Setting(lambda: torch.is_autocast_enabled(device), lambda on: torch.set_autocast_enabled(device, on), False)


def _attention(name: str) -> _Setting:
    """One of the ways in which PyTorch computes attention, whose results differ a little."""
    cuda: Any = torch.backends.cuda
    return _Setting(getattr(cuda, f"{name}_sdp_enabled"), getattr(cuda, f"enable_{name}_sdp"), True)


_SETTINGS = (
    _Setting(torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    _Setting(torch.is_grad_enabled, torch.set_grad_enabled, True),
    _autocast("cpu"),
    _autocast("cuda"),
    _Setting(
        lambda: (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()),
        lambda how: torch.use_deterministic_algorithms(how[0], warn_only=how[1]),
        (False, False),
    ),
    _Setting(
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda how: torch.set_anomaly_enabled(*how),
        (False, True),
    ),
    _Setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
    *map(_attention, ("flash", "mem_efficient", "math")),
    _Setting(lambda: torch.backends.mkldnn.enabled, lambda on: setattr(torch.backends.mkldnn, "enabled", on), True),
    _Setting(np.geterr, lambda how: np.seterr(**how), dict(divide="warn", over="warn", under="ignore", invalid="warn")),
)
_RANDOM = (
    # Not torch.manual_seed(), which also seeds the generators of other devices.
    _Setting(torch.get_rng_state, torch.set_rng_state, torch.Generator().manual_seed(_SEED).get_state()),
    _Setting(random.getstate, random.setstate, random.Random(_SEED).getstate()),
    _Setting(np.random.get_state, np.random.set_state, np.random.RandomState(_SEED).get_state()),
)


class _State:
    """The values of all settings at the time when it is made."""

    def __init__(self) -> None:
        self.values = [setting.get() for setting in (*_SETTINGS, *_RANDOM)]
        self.threads = torch.get_num_threads()  # users choose how many
        self.device = torch.get_default_device()
        self.inference = torch.is_inference_mode_enabled()

    @staticmethod
    def ours() -> _State:
        state = _State()
        state.values = [setting.ours for setting in (*_SETTINGS, *_RANDOM)]
        state.device, state.inference = torch.device("cpu"), False
        return state

    def apply(self) -> None:
        """Sets what is not for a `with` statement."""
        for setting, value in zip(_SETTINGS, self.values):
            if setting.get() != value:  # other threads see some of them
                setting.set(value)
        for setting, value in zip(_RANDOM, self.values[len(_SETTINGS) :]):
            setting.set(value)
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Inside this context, this is the state. Only what is for a `with` statement is undone behind it."""
        with contextlib.ExitStack() as stack:
            if torch.is_inference_mode_enabled() != self.inference:
                stack.enter_context(torch.inference_mode(self.inference))
            if torch.get_default_device() != self.device:
                stack.enter_context(self.device)
            self.apply()
            yield


@dataclass
class _Running:
    """A compilation, and what is around it."""

    thread: int
    caller: _State
    warnings: tuple[Any, Any]


_lock = threading.RLock()
_running: Optional[_Running] = None  # None also while code of the caller runs


@contextlib.contextmanager
def isolated() -> Iterator[None]:
    """A context, or a decorator, for what exports, quantizes or lowers a model: it neither depends on global settings
    of PyTorch, NumPy and Python, nor changes them, nor shows warnings of libraries; only one thread at a time is in it.

    Inside it, numbers are drawn from generators that begin with a fixed seed. Other threads that draw numbers meanwhile
    get some of these, because Python and PyTorch have one generator for all threads; and settings that belong to the
    process, such as the default dtype and the filters of warnings, are ours for them too until it ends.
    """
    global _running
    with _lock:
        if _running is not None:
            yield
            return
        _running = running = _Running(threading.get_ident(), _State(), (warnings.filters, warnings.showwarning))
        try:
            with quiet_libraries(), shared_histories(), _State.ours().entered():
                try:
                    yield
                finally:
                    running.caller.apply()
        finally:
            _running = None


@contextlib.contextmanager
def as_caller() -> Iterator[None]:
    """Inside this context, code that the caller of a compilation gave it runs with the settings of the caller, draws
    random numbers from the caller's generators, and shows its warnings."""
    global _running
    running = _running
    if running is None or running.thread != threading.get_ident():
        yield
        return
    ours, our_warnings = _State(), (warnings.filters, warnings.showwarning)
    _running = None
    warnings.filters, warnings.showwarning = running.warnings
    try:
        with running.caller.entered():
            try:
                yield
            finally:
                running.caller = _State()
                ours.apply()
    finally:
        warnings.filters, warnings.showwarning = our_warnings
        _running = running
