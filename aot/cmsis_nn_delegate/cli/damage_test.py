"""Damaged files: every command that reads one either takes it or names the file, and the field if there is one."""

import contextlib
import copy
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.accuracy.report import Accuracy, Arithmetic, LayerAccuracy
from cmsis_nn_delegate.cli import main
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.runner.profile import CallProfile, Profile
from cmsis_nn_delegate.support.noise_sums import NoiseSums
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import documents, networks

ENCODED = encode(networks.autoencoder(), get_target("cortex-m55"))
REPORT = build_report("net", ENCODED)
ABOUT = {
    "name": "net",
    "target": "cortex-m55",
    **ENCODED.options.to_texts(),
    "payload_crc32": REPORT.payload_crc32,
    "memories": "",
    "skip_passes": "",
    "max_slowdown": "0",
    "quantizer": "default",
    "modules": "{}",
    "lines": "{}",
}


def profile():
    calls = [
        CallProfile(
            c.index, c.kernel, c.provider, c.modules, c.sources, c.inputs, c.outputs, c.macs, 90, (1, 2), (0, 1)
        )
        for c in REPORT.calls
    ]
    return Profile("net", "cortex-m55", "mve", "tuned", "QEMU", "x", 9, 9, 999, 99, False, tuple(calls), (8, 9), (0, 1))


def accuracy():
    layer = LayerAccuracy("a", "m.py:3", "aten.add", "add", 30.0, None, 1.0, 0.1, 0.5, None, 0.25, 0.1, ("try x",))
    arithmetics = [
        Arithmetic.of(n, "x", [NoiseSums(4.0, 3.0, 3.0, 1.0)], 8, 7) for n in ("float", "quantized", "device")
    ]
    return Accuracy("net", "cortex-m55", "", 8, 8, tuple(arithmetics), 1, "", 20.0, (layer,))


def part(nbytes):
    return {"code": nbytes, "constants": 0, "initial": 0, "total": nbytes, "objects": {"x.o": nbytes}}


IMAGE = {
    "flash": {"total": 30, "capacity": 99, "parts": {"kernels": part(20), "runtime": part(10)}},
    "ram": {"total": 9, "capacity": 99, "sections": {".data": 4, "stack": 5}, "parts": {"runtime": 9}, "arena": 90},
    "memories": {"dtcm": {"total": 4, "capacity": 99}},
    "components": [{"name": "x", "license": "MIT", "version": "1", "source": "x", "flash": 5}],
}
BOARD = {
    "name": "mine",
    "core": "cortex-m7",
    "memories": {"FLASH": {"size": "0x100000", "wait_states": 7}, "RAM": {"size": 4096, "wait_states": 1}},
}
YAML = {
    "preset": "minmax",
    "everywhere": {"activations": "symmetric", "skip": False},
    "operator_types": {"softmax": {"skip": True}},
    "module_types": {"Linear": {"weights": "per-tensor"}},
    "module_names": {"features.0": {"observer": "histogram"}},
    "ranges": {"image": [0, 1]},
    "equalization": "relu",
    "bias_correction": True,
}
# A file that a command reads: its name, its document, and the commands; "good/" has the file as it should be. `compile`
# ends with "MISSING.py does not exist" once it has read the file.
COMPILE = ["compile", "MISSING.py:f", "--target", "cortex-m7", "-o", "out"]
FORMATS = {
    "report": (
        "net.report.json",
        json.loads(REPORT.to_json()),
        [
            ["report", "net.report.json", "--html", "x.html"],
            ["report", "good/net", "--html", "x.html", "--against", "net.report.json"],
            ["report", "net"],
            ["diff", "good/net.report.json", "net.report.json"],
        ],
    ),
    "profile": (
        "profile.json",
        json.loads(profile().to_json()),
        [
            ["report", "good/net", "--html", "x.html", "--profile", "profile.json"],
            ["diff", "profile.json", "good/profile.json"],
        ],
    ),
    "accuracy": (
        "accuracy.json",
        json.loads(accuracy().to_json()),
        [
            ["report", "good/net", "--html", "x.html", "--accuracy", "accuracy.json"],
            ["accuracy-sum", "accuracy.json"],
            ["accuracy-sum", "accuracy.json", "--json", "--min-top1", "0.5", "--min-sqnr", "1", "--max-steps", "9"],
        ],
    ),
    "parts": (
        "several.parts.json",
        documents.parts(json.loads(REPORT.to_json())),
        [["report", "several.parts.json", "--html", "x.html"], ["report", "several.parts.json"]],
    ),
    "image": (
        "image.size.json",
        IMAGE,
        [
            ["report", "good/net", "--html", "x.html", "--image", "image.size.json"],
            ["diff", "good/image.size.json", "image.size.json"],
        ],
    ),
    "graph": (
        "net.graph.npz",
        {},
        [["report", "net"], ["run", "net", "--inputs", "good/data.npz"], ["report", "net", "--html", "x.html"]],
    ),
    "board": ("board.json", BOARD, [[*COMPILE, "--board", "board.json", "--memory", "RAM"]]),
    "yaml": ("x.yaml", YAML, [[*COMPILE, "--quantizer", "x.yaml"]]),
}


def graph_file(document):
    """Returns the file with this structure, and the same arrays."""
    with np.load(io.BytesIO(serialize.dumps(ENCODED.graph, ABOUT))) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    out = io.BytesIO()
    np.savez(out, **{**found, "graph.json": np.frombuffer(json.dumps(document).encode(), np.uint8)})
    return out.getvalue()


def graph_document():
    with np.load(io.BytesIO(serialize.dumps(ENCODED.graph, ABOUT))) as arrays:
        return json.loads(arrays["graph.json"].tobytes())


def content(kind, document):
    return graph_file(document) if kind == "graph" else json.dumps(document).encode()  # which is YAML too


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Has all files twice, and is the working directory."""
    folder = tmp_path_factory.mktemp("damage")
    FORMATS["graph"][1].update(graph_document())
    for place in (folder, folder / "good"):
        place.mkdir(exist_ok=True)
        (place / "net.payload.bin").write_bytes(ENCODED.payload)
        for kind, (name, document, _) in FORMATS.items():
            (place / name).write_bytes(content(kind, document))
    inputs = {f"input{i}": array for i, array in enumerate(networks.random_inputs(ENCODED.graph, 0))}
    np.savez(folder / "good" / "data.npz", **inputs)
    with contextlib.chdir(folder):
        yield folder


def run(command):
    """Returns the exit code, and the message."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main(command)
    return code, errors.getvalue()


def fields(document, path=()):
    """Yields the path of each field and item."""
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from fields(value, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


TYPES = {"null": None, "text": "text", "list": [1, "x"], "object": {"x": [1]}, "true": True, "number": 17}
VALUES = {"negative": -3, "huge": 10**400, "large": 2**62, "float": 1e300, "nan": float("nan"), "zero": 0, "empty": []}


def damaged(document, path, damage):
    document = copy.deepcopy(document)
    parent, key = at(document, path[:-1]), path[-1]
    value = parent.pop(key)
    if damage == "rename" and isinstance(parent, dict):
        parent[f"{key}_"] = value
    elif damage in TYPES or damage in VALUES:
        found = {**TYPES, **VALUES}[damage]
        parent.insert(key, found) if isinstance(parent, list) else parent.update({key: found})
    return document


def judge(kind, path, file, commands):
    """Runs the commands, all of which read `file`. `path` is that of the damaged field, () for the whole file."""
    for command in commands:
        code, message = run(command)
        if code == 0 or "MISSING.py" in message or "is less accurate than its limits" in message:
            continue
        assert code in (1, 2) and "(unexpected" not in message, (command, message)
        assert file in message, (command, message)
        named = [str(key) for key in path if isinstance(key, str)]
        if kind == "graph":
            named += ["changed after it was written"]
        assert not path or any(name in message for name in named), (command, message)


@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_damaged_field_is_named(folder, kind, data):
    name, document, commands = FORMATS[kind]
    every = list(fields(document))
    # Each level alike: there are far more fields in lists of calls than others.
    depth = data.draw(st.sampled_from(sorted({len(path) for path in every})))
    path = data.draw(st.sampled_from([path for path in every if len(path) == depth]))
    damage = data.draw(st.sampled_from(["drop", "rename", *TYPES, *VALUES]))
    file = folder / name
    before = file.read_bytes()
    try:
        file.write_bytes(content(kind, damaged(document, path, damage)))
        judge(kind, path, name, commands)
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize(
    "about, message",
    [
        ({"modules": "{"}, "modules is no JSON"),
        ({"modules": "[1]"}, "modules contains no object"),
        ({"target": "cortex-m99"}, "cortex-m99"),
    ],
)
def test_a_graph_says_what_profile_can_read(folder, about, message):
    file = folder / "net.graph.npz"
    before = file.read_bytes()
    try:
        file.write_bytes(serialize.dumps(ENCODED.graph, {**ABOUT, **about}))
        code, text = run(["profile", "net"])
    finally:
        file.write_bytes(before)
    assert code == 2 and "net.graph.npz, about: " in text and message in text, text
    assert text.endswith("compile the model again\n")


CUT = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "text": lambda content: b"no document {",
    "list": lambda content: b"[]",
    "number": lambda content: b"3",
    "binary": lambda content: bytes(range(256)),
    "deep": lambda content: b"[" * 200_000,
    "bomb": lambda content: b"{" + b'"a":{' * 50_000,
}


@pytest.mark.parametrize("cut", CUT)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_of_something_else_is_named(folder, kind, cut):
    name, document, commands = FORMATS[kind]
    file = folder / name
    before = file.read_bytes()
    try:
        file.write_bytes(CUT[cut](content(kind, document)))
        judge(kind, (), name, commands)
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize(
    "kind, change, message",
    [
        (
            "profile",
            lambda d: d["calls"][2].update(kernel="add"),
            r"another payload .*: it has another call calls\[2\]",
        ),
        ("profile", lambda d: d["calls"].pop(), "another payload .*: it has 9 calls, not 10"),
        ("accuracy", lambda d: d.update(target="cortex-m4"), "is about net for cortex-m4, and .* net for cortex-m55"),
        ("accuracy", lambda d: d.update(model="other"), "is about other for cortex-m55, and .* net for cortex-m55"),
    ],
)
def test_files_of_other_models_are_refused(folder, kind, change, message):
    name, document, commands = FORMATS[kind]
    document = copy.deepcopy(document)
    change(document)
    before = (folder / name).read_bytes()
    try:
        (folder / name).write_bytes(content(kind, document))
        code, found = run(commands[0])
    finally:
        (folder / name).write_bytes(before)
    assert code == 2 and re.search(f"{name} .*{message}", found)


@pytest.mark.parametrize("field", [name for name in ABOUT if name not in ("name", "quantizer")])
def test_a_graph_without_a_checksum_says_what_it_was_compiled_with(folder, field):
    """Of earlier compilers."""
    name, document, commands = FORMATS["graph"]
    document = copy.deepcopy(document)
    del document["crc32"]
    for value in ("", "x", "3,x", None):
        document["about"][field] = value
        before = (folder / name).read_bytes()
        try:
            (folder / name).write_bytes(content("graph", document))
            judge("graph", (), name, commands[:2])
        finally:
            (folder / name).write_bytes(before)


@pytest.mark.parametrize("kind", FORMATS)
def test_files_as_they_should_be_are_taken(folder, kind):
    for command in FORMATS[kind][2]:
        code, message = run(command)
        assert code == 0 or "MISSING.py" in message, (command, message)
