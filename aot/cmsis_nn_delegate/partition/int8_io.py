"""Says before calibration whether a model can have int8 inputs and outputs."""

from __future__ import annotations

from torch.fx import GraphModule, Node

from ..edge.naming import described
from ..errors import UserError


def check_int8_io(prepared: GraphModule) -> None:
    """UserError names an input that something reads in float, or an output that stays float, of a
    module of `prepare_pt2e`."""
    for node in prepared.graph.nodes:
        if node.op != "placeholder":
            continue
        if not node.users:
            raise _refused(f"input {node.name}", "nothing reads it")
        for user in node.users:
            if not _observes(user):
                what = described(user) if user.op != "output" else "the model's output, which returns it"
                raise _refused(f"input {node.name}", f"it is read by {what}, which stays in float")
    for index, node in enumerate(prepared.graph.output_node().args[0]):
        if not _observes(node):
            cause = f"it comes from {described(node)}, which stays in float"
            raise _refused(f"output {index} ({node.name})", cause)


def _observes(node: Node) -> bool:
    """Whether this is where convert_pt2e will quantize and dequantize."""
    if node.op != "call_module":
        return False
    return hasattr(node.graph.owning_module.get_submodule(node.target), "calculate_qparams")


def _refused(what: str, cause: str) -> UserError:
    return UserError(
        f"{what} cannot become int8: {cause}; use float inputs and outputs, or operators that are quantized",
        exit_code=1,
    )
