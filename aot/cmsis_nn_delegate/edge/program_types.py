"""Types for annotations in files that are imported without torch: operators describe themselves with these."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.fx import Node as EdgeNode

    from .context import EdgeContext
    from .import_context import ImportContext
else:
    EdgeNode = EdgeContext = ImportContext = object

__all__ = ["EdgeContext", "EdgeNode", "ImportContext"]
