"""Compiles the model of `compile` with the formats that keep an accuracy. Imports PyTorch and ExecuTorch."""

from __future__ import annotations

import argparse
from typing import Optional

import numpy as np

from ..search.choose import choose_formats
from ..search.result import ChosenFormats
from .labels import by_step
from .model import Prepared
from .model_compilation import data_of, request_of


def chosen(arguments: argparse.Namespace, prepared: Prepared, labels: Optional[np.ndarray]) -> ChosenFormats:
    request = request_of(arguments, prepared)
    data = None if arguments.data is None else data_of(arguments, arguments.data, request.specs, "data")
    return choose_formats(
        *request.positional,
        data=data,
        labels=by_step(labels, arguments),
        min_sqnr=arguments.min_sqnr,
        min_top1=arguments.min_top1,
        max_drop=arguments.max_drop,
        library=arguments.library,
        **request.options,
    )
