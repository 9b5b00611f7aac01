"""Both forms of a network compute the reference's bytes; what the images link and take is within limits.

Sizes come from the images and instructions from the simulator's exact count. `pytest -s` prints them.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.files import serialize
from cmsis_nn_delegate.payload.tensor_data import from_bytes, to_bytes
from tests.end_to_end.vectors import lowered_graph
from tests.forms import sizes

READER = {"runtime/backend", "runtime/payload", "runtime/standalone"}
# Bytes of RAM beside the arena, with the deepest stack, on M4.
RAM = {"payload": 1228, "cpp": 1024}
# Instructions of an inference outside of its kernels that C++ calls save for each call, at least.
SAVED = 10
# Bytes of flash that they save, at least: the payload's reader, its checks, and those of kernels.
FLASH_SAVED = 3_400

KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())


@functools.cache
def measured(network: str, core: str, form: str) -> sizes.Form:
    found = sizes.measure(network, core, form)
    print(f"{network} on {core}, {form}: code {found.code}, RAM {found.ram} (arena {found.arena}, stack {found.stack})")
    return found


@functools.cache
def expected(network: str) -> dict[str, tuple[bytes, ...]]:
    """Returns the outputs of the integer reference for the patterns, by core: layouts may differ."""
    graph, _ = serialize.loads(lowered_graph(network))
    outputs = {}
    for core in sizes.CORES:
        view = sizes.payload_of(network, core)
        (into,), (out,) = view.inputs, view.outputs
        arrays = [from_bytes(pattern, into) for pattern in sizes.patterns(into.nbytes)]
        outputs[core] = tuple(to_bytes(np.asarray(reference.run(graph, [x])[0]), out) for x in arrays)
    return outputs


@pytest.mark.parametrize("core", sizes.CORES)
@pytest.mark.parametrize("network", sizes.NETWORKS)
class TestNetworks:
    @pytest.mark.parametrize("form", sizes.FORMS)
    def test_every_byte_equals_the_reference(self, network, core, form):
        assert measured(network, core, form).outputs == expected(network)[core]

    def test_cpp_calls_link_kernels_alone(self, network, core):
        payload, cpp = (measured(network, core, form) for form in sizes.FORMS)
        assert payload.linked >= READER
        assert not cpp.linked & READER
        assert all(part.startswith(("runtime/kernels/", "third_party/cmsis_nn")) for part in cpp.linked)
        assert payload.flash - cpp.flash >= FLASH_SAVED

    def test_cpp_calls_take_fewer_instructions(self, network, core):
        payload, cpp = (measured(network, core, form) for form in sizes.FORMS)
        if payload.inference is None:
            pytest.skip("no exact instruction counts")
        calls = len(sizes.payload_of(network, core).calls)
        print(f"{network} on {core}: {payload.inference} and {cpp.inference}, {calls} calls")
        assert payload.inference - cpp.inference >= SAVED * calls

    def test_ram(self, network, core):
        for form in sizes.FORMS:
            found = measured(network, core, form)
            assert found.statics >= found.arena
            if core == "cortex-m4":
                assert found.ram - found.arena <= RAM[form]


# Bytes of the images as C++ calls without weights, biases and requantization: kernels, calls, start-up, UART,
# C library.
CODE = {
    ("ds_cnn", "cortex-m4"): 16_384,
    ("ds_cnn", "cortex-m55"): 19_456,
    (sizes.WITHOUT_CMSIS_NN, "cortex-m4"): 14_848,
    (sizes.WITHOUT_CMSIS_NN, "cortex-m55"): 15_360,
    (sizes.FOR_SIZE, "cortex-m4"): 8_832,
    # depthwise_conv2d_windows takes 0.8 KB more than depthwise_conv2d_vectors, and a tenth fewer instructions in all.
    (sizes.FOR_SIZE, "cortex-m55"): 9_504,
    (sizes.WITH_CMSIS_NN, "cortex-m4"): 24_576,
    (sizes.WITH_CMSIS_NN, "cortex-m55"): 20_736,
}


@pytest.mark.parametrize("core", sizes.CORES)
def test_all_kernels_are_compiled_for_size(core):
    """kernels_for_size() lists those of the network; a link takes others from the library, compiled for speed."""
    image = sizes.FOLDER / f"{sizes.FOR_SIZE}_cpp_{core.replace('-', '_')}.size.json"
    if not image.is_file():
        pytest.skip(f"there is no {image.name}")
    objects = json.loads(image.read_text())["flash"]["parts"]["runtime/kernels/tuned"]["objects"]
    assert not [name for name in objects if name.endswith(("_tuned.o", "_portable.o"))]


@pytest.mark.parametrize("network, core", CODE)
def test_flash_without_the_weights(network, core):
    try:
        found = {form: measured(network, core, form) for form in sizes.FORMS}
    except sizes.SizeError as error:
        pytest.skip(str(error))
    assert found["cpp"].code <= CODE[network, core]
    assert found["cpp"].outputs == found["payload"].outputs == expected("ds_cnn")[core]


def rows() -> list[str]:
    text = Path("docs/sizes.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \w+ \| M\d+ \| (?:payload|cpp) \|.*$", text, re.MULTILINE)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[:40])
def test_the_table_of_the_documents(row):
    """docs/sizes.md, which `bazel run //docs:figures` writes."""
    if not KERNELS["with_cmsis_nn"]:
        pytest.skip("the figures are for CMSIS-NN's kernels")
    network, core, form = (cell.strip() for cell in row.split("|")[1:4])
    try:
        found = measured(network, f"cortex-{core.lower()}", form)
    except sizes.SizeError as error:
        pytest.skip(str(error))
    image = (sizes.FOLDER / f"{network}_{form}_cortex_{core.lower()}.elf").read_bytes()
    if not re.search(rb"GCC: \([^)]*\) 12\.2", image) or not found.inference:
        pytest.skip("the figures are for GCC 12.2 and a simulator that counts instructions")
    assert sizes.row(found) == row


def test_how_much_less_flash_the_guide_says():
    saved = {}
    for row in rows():
        network, core, form, code, *_ = (cell.strip() for cell in row.strip("|").split("|"))
        saved.setdefault((network, core), []).append(int(code.replace(",", "")))
    less = sorted(payload - cpp for payload, cpp in saved.values())
    text = Path("docs/guides/firmware.md").read_text(encoding="utf-8")
    assert f"{less[0] / 1000:.1f} to {less[-1] / 1000:.1f} KB less flash" in text
