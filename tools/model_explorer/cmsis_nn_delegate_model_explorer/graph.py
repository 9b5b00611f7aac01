"""A compiled model as a graph of Model Explorer: its inputs, calls and outputs, and the tensors between them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from model_explorer.graph_builder import Graph, GraphNode, IncomingEdge, KeyValue, MetadataItem

from cmsis_nn_delegate.files.artifacts import Artifacts

Document = Mapping[str, Any]


def report_of(path: str) -> Document:
    """Returns NAME.report.json for any file of a compiled model. UserError if it is missing, or if the files beside it
    are from other compilations."""
    files = Artifacts.of(path)
    files.check()
    report: Document = json.loads(files.read(".report.json"))
    return report


def graph_of(report: Document) -> Graph:
    """Returns the graph of a report. Its nodes are called "call 3", "input 0" and "output 0", also in `node_data`."""
    tensors = report["tensors"]
    nodes = {f"call {call['index']}": _call(call) for call in report["calls"]}
    inputs = [tensor for tensor in tensors if tensor["kind"] == "input"]
    outputs = [tensor for tensor in tensors if tensor["kind"] == "output"]
    for kind, found in (("input", inputs), ("output", outputs)):
        for index, tensor in enumerate(found):
            nodes[f"{kind} {index}"] = GraphNode(f"{kind} {index}", tensor["name"], attrs=_pairs(_about(tensor)))
    for tensor in tensors:
        for writer in _writers(tensor, inputs):
            number = str(len(nodes[writer].outputsMetadata))
            nodes[writer].outputsMetadata.append(MetadataItem(number, _pairs(_about(tensor))))
            for reader in _readers(tensor, outputs):
                _connect(nodes[writer], number, nodes[reader], tensor["name"])
    graph = Graph(f"{report['name']} on {report['target']}", [*nodes.values()])
    graph.groupNodeAttributes = {"": _summary(report)}
    return graph


def _call(call: Document) -> GraphNode:
    about = {
        "call": call["index"],
        "provider": call["provider"],
        "modules": ", ".join(call["modules"]),
        "lines": ", ".join(call["lines"]),
        "multiplications": call["macs"],
        "predicted instructions": call["predicted_instructions"],
        "bytes of constants": call["constant_bytes"],
        "bytes of scratch memory": call["scratch_bytes"],
        "bytes alive": call["live_bytes"],
        "why not a preferred provider": call["why"],
    }
    # "layers.0 (Conv2d)" is in the group "layers". What is computed with it is shown as an attribute.
    where = call["modules"][0].partition(" ")[0].split(".")[:-1] if call["modules"] else []
    return GraphNode(f"call {call['index']}", call["kernel"], "/".join(where), attrs=_pairs(about))


def _about(tensor: Document) -> dict[str, Any]:
    return {
        "__tensor_tag": tensor["name"],
        "shape": "×".join(map(str, tensor["shape"])) or "scalar",
        "type": tensor["dtype"],
        "layout": tensor["layout"],
        "scale": tensor["scale"],
        "zero point": tensor["zero_point"],
        "range": None if tensor["low"] is None else f"{tensor['low']:.6g} to {tensor['high']:.6g}",
    }


def _summary(report: Document) -> dict[str, str]:
    about = {
        "target": report["target"],
        "bytes of arena": report["arena"]["nbytes"],
        "its lower bound": report["arena"]["bound"],
        "bytes of flash": report["flash_bytes"],
        "payload CRC-32": report["payload_crc32"],
        "quantizer": report["quantizer"],
    }
    return {name: str(value) for name, value in about.items()}


def _pairs(about: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(name, str(value)) for name, value in about.items() if value not in (None, "")]


def _writers(tensor: Document, inputs: list[Document]) -> Iterator[str]:
    yield from (f"call {index}" for index in tensor["writers"])
    yield from (f"input {index}" for index, given in enumerate(inputs) if given is tensor)


def _readers(tensor: Document, outputs: list[Document]) -> Iterator[str]:
    yield from (f"call {index}" for index in tensor["readers"])
    yield from (f"output {index}" for index, result in enumerate(outputs) if result is tensor)


def _connect(writer: GraphNode, output: str, reader: GraphNode, name: str) -> None:
    number = str(len(reader.incomingEdges))
    reader.incomingEdges.append(IncomingEdge(writer.id, output, number))
    reader.inputsMetadata.append(MetadataItem(number, [KeyValue("__tensor_tag", name)]))
