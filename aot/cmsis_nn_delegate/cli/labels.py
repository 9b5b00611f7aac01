"""The classes of the inputs in a file of data."""

from __future__ import annotations

import argparse
from typing import Optional

import numpy as np

from ..quantization import samples
from ..support.errors import UserError


def labels_of(arguments: argparse.Namespace) -> Optional[np.ndarray]:
    """Returns the array of --data that --labels names; None without --labels. UserError if there is none."""
    if not arguments.labels:
        return None
    with samples.opened(arguments.data, "data") as arrays:
        labels = arrays.get(arguments.labels)
    if labels is None:
        raise UserError(f"{arguments.data} has no array {arguments.labels!r} with labels")
    return labels


def by_step(labels: Optional[np.ndarray], arguments: argparse.Namespace) -> Optional[np.ndarray]:
    """Returns labels in the order of samples, which are the steps of all sequences with --sequence."""
    return labels.reshape(-1) if labels is not None and arguments.sequence and labels.ndim == 2 else labels
