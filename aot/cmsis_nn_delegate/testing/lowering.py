"""From a module to lowered graphs, and their results next to PyTorch's, for tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np
import torch
from torch import nn
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from ..format.schema import MAX_IO
from ..graph.ir import Graph, Value
from ..graph.tensor_type import Element
from ..partition.exir import EdgeProgramManager
from ..partition.importer import import_program
from ..partition.lower import lower
from ..partition.partitioner import CmsisNnPartitioner
from ..partition.quantized_io import io_quants
from ..passes.run_passes import run_passes
from ..quantization.convert import convert_calibrated
from ..quantization.prepare import quantizable_module
from ..quantization.quantizer import CmsisNnQuantizer
from ..quantization.samples import for_device
from ..reference import run
from ..report.node_report import NodeReport
from .faster_torch import make_torch_faster

make_torch_faster()


class Function(nn.Module):
    """A function as a module; modules that it uses are given as keywords."""

    def __init__(self, function: Callable, **modules: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *inputs: torch.Tensor):
        return self.function(*inputs)


def in_float(x: torch.Tensor) -> torch.Tensor:
    """A function of `x`, of its shape, that ExecuTorch's kernels compute and the delegate's do not."""
    return torch.atan2(x, x)


def quantized(
    module: nn.Module, *inputs: torch.Tensor, quantizer: Optional[CmsisNnQuantizer] = None
) -> torch.fx.GraphModule:
    """`module` in eval mode, calibrated with `inputs` and converted."""
    graph = quantizable_module(torch.export.export(module.eval(), inputs))
    prepared = prepare_pt2e(graph, quantizer or CmsisNnQuantizer("minmax"))
    prepared(*inputs)
    return convert_calibrated(prepared)


def exported(module: nn.Module, *inputs: torch.Tensor, quantizer: Optional[CmsisNnQuantizer] = None) -> ExportedProgram:
    """The quantized `module`, exported."""
    return torch.export.export(quantized(module, *inputs, quantizer=quantizer), inputs)


@dataclass
class Lowered:
    """What `lower` made of a program."""

    program: ExportedProgram
    edge: EdgeProgramManager
    reports: list[NodeReport]

    @property
    def delegates(self) -> list[ExportedProgram]:
        """The partitions, in order."""
        module = self.edge.exported_program().graph_module
        calls = [node for node in module.graph.nodes if node.op == "get_attr"]
        return [getattr(module, node.target).original_module for node in calls]

    @property
    def outside(self) -> list[str]:
        """Names of what is called outside of the delegates."""
        nodes = self.edge.exported_program().graph_module.graph.nodes
        names = [str(node.target) for node in nodes if node.op == "call_function"]
        return [name for name in names if "call_delegate" not in name and "getitem" not in name]

    @property
    def output_indices(self) -> list[int]:
        """Which result of the only delegate each output is; a tensor returned twice is one."""
        output = self.edge.exported_program().graph_module.graph.output_node()
        return [node.args[1] for node in output.args[0]]

    @property
    def input_indices(self) -> list[int]:
        """Which input of the program each input of the only delegate is."""
        program = self.edge.exported_program()
        names = list(program.graph_signature.user_inputs)
        (call,) = (n for n in program.graph.nodes if "call_delegate" in str(n.target))
        return [names.index(argument.name) for argument in call.args[1:]]

    def graph(self) -> Graph:
        """The graph of kernels of the only delegate, outside of which there must be nothing. It is printed: pytest
        shows that if the test fails. Equal nodes stay: tests have several forms of one function side by side."""
        refused = [str(report) for report in self.reports if not report.delegated]
        assert not refused, "\n".join(refused)
        assert not self.outside and len(self.delegates) == 1
        graph = run_passes(import_program(self.delegates[0]), ["merge-identical-nodes"])
        print(graph)
        return graph


def lowered(
    module: nn.Module, *inputs: torch.Tensor, io: str = "float", quantizer: Optional[CmsisNnQuantizer] = None
) -> Lowered:
    """`module`, quantized and partitioned for a Cortex-M55."""
    return lower_program(exported(module, *inputs, quantizer=quantizer), io, prepared=True)


def lower_program(program: ExportedProgram, io: str = "float", prepared: bool = False) -> Lowered:
    partitioner = CmsisNnPartitioner("cortex-m55", prepared=prepared)
    edge = lower(program, "cortex-m55", io, partitioner=partitioner)
    return Lowered(program, edge, partitioner.reports)


def steps_apart(
    module: nn.Module, *inputs: torch.Tensor, io: str = "float", quantizer: Optional[CmsisNnQuantizer] = None
) -> tuple[list[int], Graph]:
    """How many quantization steps each output of the lowered module is at most away from the
    quantized module's in PyTorch, and the graph. Everything must be delegated."""
    distances, graph, _ = _apart(module, inputs, io, quantizer)
    return distances, graph


def _apart(
    module: nn.Module, inputs: Sequence[torch.Tensor], io: str, quantizer: Optional[CmsisNnQuantizer] = None
) -> tuple[list[int], Graph, Lowered]:
    """`steps_apart`, and what it compared."""
    result = lowered(module, *inputs, io=io, quantizer=quantizer)
    graph = result.graph()
    in_quants, out_quants = io_quants(result.program)
    with torch.no_grad():
        wanted = result.program.module(check_guards=False)(*inputs)
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
    data: Sequence[np.ndarray] = [for_device(np.asarray(x.numpy(), order="C")) for x in inputs]
    if io != "float":
        data = [
            x if quant is None or x.dtype == io else quantize(x, quant, Element(io))
            for x, quant in zip(data, in_quants)
        ]
    got = run(graph, [data[index] for index in result.input_indices])
    got = [got[index] for index in result.output_indices]
    distances = []
    for result_, want, quant in zip(got, wanted, out_quants):
        assert result_.shape == tuple(want.shape)
        if quant is None:  # an index
            distances.append(int(np.abs(result_ - want.numpy()).max()))
            continue
        if io != "float":
            want = quantize(want.numpy(), quant, Element(io)).astype(int)
            distances.append(int(np.abs(result_ - want).max()))
        else:
            distances.append(int(np.rint(np.abs(result_ - want.numpy()) / quant.scale[0]).max()))
    return distances, graph, result


class Branch(NamedTuple):
    """A module of its own in `branches_apart`, with one output."""

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]


class Branches(nn.Module):
    """Computes several branches side by side: nothing is shared between them but the program."""

    def __init__(self, branches: Sequence[Branch]) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branch.module for branch in branches)
        self.counts = [len(branch.inputs) for branch in branches]

    def forward(self, *inputs: torch.Tensor):
        results, rest = [], list(inputs)
        for module, count in zip(self.branches, self.counts):
            results.append(module(*rest[:count]))
            del rest[:count]
        return tuple(results)


class Apart(NamedTuple):
    """Of a branch: how many steps its output is away, how far the quantized module is from the float one, as a part of
    the float range, the operators that lead to it, and the values that the branch reads and returns in the graph of
    several branches."""

    distance: int
    error: float
    ops: list[str]
    inputs: list[Value]
    output: Value
    graph: Graph


def branches_apart(branches: Mapping[str, Branch], io: str = "float") -> dict[str, Apart]:
    """`steps_apart` of each branch, by name.

    Lowering takes a second, most of it no matter how small the model is. So branches are lowered
    together, as many as a payload has inputs and outputs for.
    """
    found = {}
    for names in _chunks(branches):
        chunk = [branches[name] for name in names]
        tensors = [tensor for branch in chunk for tensor in branch.inputs]
        module = Branches(chunk)
        distances, graph, result = _apart(module, tensors, io)
        errors = _errors(module, result.program, tensors)
        inputs = iter([graph.inputs[result.input_indices.index(i)] for i in range(len(tensors))])
        outputs = [graph.outputs[index] for index in result.output_indices]
        for name, branch, distance, error, output in zip(names, chunk, distances, errors, outputs):
            read = [next(inputs) for _ in branch.inputs]
            found[name] = Apart(distance, error, ops_before(graph, output), read, output, graph)
    return found


def _errors(module: nn.Module, program: ExportedProgram, inputs: Sequence[torch.Tensor]) -> list[float]:
    """How far each output of the quantized `program` is from that of `module`, as a part of the latter's range."""
    with torch.no_grad():
        results = zip(program.module(check_guards=False)(*inputs), module(*inputs))
    pairs = [(found.double(), wanted.double()) for found, wanted in results]
    return [float((found - wanted).abs().max() / wanted.abs().max().clamp_min(1e-30)) for found, wanted in pairs]


def reports_of_branches(branches: Mapping[str, Branch]) -> dict[str, list[NodeReport]]:
    """Of each branch, by name, what becomes of its operators; all are lowered together."""
    inputs = [tensor for branch in branches.values() for tensor in branch.inputs]
    reports = lowered(Branches(list(branches.values())), *inputs).reports
    found: dict[str, list[NodeReport]] = {name: [] for name in branches}
    names = list(branches)
    for report in reports:
        branch = re.match(r"branches\.(\d+)\b", report.module)
        assert branch or report.is_border, report
        if branch:
            found[names[int(branch[1])]].append(report)
    return found


def _chunks(branches: Mapping[str, Branch]) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    count = 0
    for name, branch in branches.items():
        more = len(branch.inputs) + 1
        if count + more > MAX_IO:
            chunks.append([])
            count = 0
        chunks[-1].append(name)
        count += more
    return chunks


def ops_before(graph: Graph, output: Value) -> list[str]:
    """The operators of the nodes from which `output` is computed, in the graph's order."""
    needed = {id(output)}
    found = []
    for node in reversed(graph.nodes):
        if any(id(value) in needed for value in node.outputs):
            needed.update(id(value) for value in node.inputs)
            found.append(node.op)
    return found[::-1]


def quantize(x: np.ndarray, quant, element: Element = Element.INT8) -> np.ndarray:
    """`element` of float32, as PyTorch does."""
    steps = np.rint(x * np.float32(1 / quant.scale[0])) + quant.zero_point
    return np.clip(steps, element.low, element.high).astype(element.numpy)
