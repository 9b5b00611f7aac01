"""The extension that `model-explorer --extensions=cmsis_nn_delegate_model_explorer` loads."""

from __future__ import annotations

from typing import Any

from model_explorer import Adapter, AdapterMetadata, ModelExplorerGraphs

from .graph import graph_of, report_of


class CmsisNnAdapter(Adapter):
    """Opens any file of a compiled model; what it shows is in NAME.report.json beside it."""

    metadata = AdapterMetadata(
        id="cmsis_nn_delegate",
        name="cmsis_nn_delegate",
        description="Kernel calls of a model that was compiled for Arm Cortex-M",
        fileExts=["pte", "bin", "json"],
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> ModelExplorerGraphs:
        return {"graphs": [graph_of(report_of(model_path))]}
