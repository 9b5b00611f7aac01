"""Explores the model of `explore`. Imports PyTorch and ExecuTorch."""

from __future__ import annotations

import argparse
from typing import Optional

import numpy as np

from ..search.exploration import Exploration
from ..search.explore import explore
from ..targets.board import Board
from .labels import by_step
from .model import Prepared
from .model_compilation import data_of, request_of


def explored(
    arguments: argparse.Namespace, prepared: Prepared, board: Optional[Board], labels: Optional[np.ndarray]
) -> Exploration:
    request = request_of(arguments, prepared)
    data = None if arguments.data is None else data_of(arguments, arguments.data, request.specs, "data")
    options = {**request.options, "memories": ()}  # what does not fit is shown, too
    return explore(
        *request.positional,
        board=board,
        data=data,
        labels=by_step(labels, arguments),
        assignments=arguments.assignments,
        **options,
    )
