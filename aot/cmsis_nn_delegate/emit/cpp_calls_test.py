"""What the C++ says; //tests/forms compiles and runs it."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.emit import c_header, cpp_calls, cpp_sources
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.format.cpp import float_literal, integer_literal
from cmsis_nn_delegate.payload.decode import PayloadError, decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import kernels
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

_RUNTIME = Path(__file__).resolve().parents[3]
_HEADERS = Path(sysconfig.get_paths()["purelib"]) / "executorch/include"
_INCLUDES = [_RUNTIME, _HEADERS, _HEADERS / "executorch/runtime/core/portable_type/c10"]
needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")


def write(folder, name, payload):
    (folder / f"{name}.h").write_text(c_header.generate_header(name, payload))
    (folder / f"{name}.model.h").write_text(cpp_calls.generate_header(name, payload))
    (folder / f"{name}.model.cc").write_text(cpp_calls.generate_source(name, payload))


def compiles(folder, name, *options):
    """Returns the errors of the compiler, "" if there are none."""
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-DC10_USING_CUSTOM_GENERATED_MACROS", *options]
    flags += [f"-isystem{path}" for path in _INCLUDES]
    command = ["c++", *flags, "-c", f"{name}.model.cc", "-o", f"{name}.o"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stderr


def payload_of(*layers, core="cortex-m4", placement="arena"):
    """A model of 3 x 3 convolutions, each drawn from its own seed."""
    b = GraphBuilder()
    x = b.input(1, 4, 8, 8, quant=b.quant(0.1, 3))
    for seed in layers:
        b.random = np.random.default_rng(seed)
        x = b.conv2d(x, 4, (3, 3))
    return encode(b.graph(x), get_target(core), PayloadOptions.of(io_placement=placement)).payload


def names_of(payload):
    return re.findall(r"^inline constexpr C\w+ (k\w+) = {$", cpp_calls.generate_source("net", payload), re.MULTILINE)


@needs_compiler
def test_equal_constants_of_two_models_are_linked_once(tmp_path):
    one, two = payload_of(1, 2), payload_of(1, 3)
    shared = set(names_of(one)) & set(names_of(two))
    assert (len(shared), len(names_of(one)), len(names_of(two))) == (1, 2, 2)
    for name, payload in (("one", one), ("two", two)):
        write(tmp_path, name, payload)
        assert compiles(tmp_path, name) == ""
    library = tmp_path / "both.so"
    subprocess.run(["c++", "-shared", "one.o", "two.o", "-o", library], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    linked = re.findall(r" \w \w*9constants\d+(k\w{32})E", symbols)
    assert sorted(linked) == sorted({*names_of(one), *names_of(two)})


def test_equal_constants_of_two_calls_are_written_once():
    b = GraphBuilder()
    x = b.input(1, 4, 8, 8)
    outputs = []
    for seed in (1, 1, 2):
        b.random = np.random.default_rng(seed)
        outputs.append(b.conv2d(x, 4, (3, 3)))
    payload = encode(b.graph(*outputs), get_target("cortex-m4")).payload
    assert (len(decode(payload).calls), len(names_of(payload))) == (3, 2)


@needs_compiler
@pytest.mark.parametrize(
    "change, message",
    [
        (("kTunedRevision == 0x", "kTunedRevision == 0xf"), "kernels of another revision"),
        (("kFormatVersion == ", "kFormatVersion == 1"), "argument blocks of another version"),
        (("kAcceptedIsas & isa_set(", "isa_set(payload::Isa::kMve) & isa_set("), "made for the instruction set DSP"),
        (("_CRC32 != 0x", "_CRC32 != 0x1"), "net.h and net.model.cc are from different compilations"),
    ],
)
def test_a_source_for_another_runtime_does_not_compile(tmp_path, change, message):
    write(tmp_path, "net", payload_of(1))
    source = tmp_path / "net.model.cc"
    assert change[0] in source.read_text()
    source.write_text(source.read_text().replace(*change))
    assert message in compiles(tmp_path, "net")


@needs_compiler
def test_a_list_of_another_compilation_does_not_compile(tmp_path):
    write(tmp_path, "net", payload_of(1))
    own, other = (cpp_sources.generate_list("net", payload_of(seed), False).splitlines()[0] for seed in (1, 2))
    assert compiles(tmp_path, "net", own) == ""
    assert "net.sources.txt and net.model.cc are from different compilations" in compiles(tmp_path, "net", other)


@needs_compiler
@pytest.mark.parametrize("placement", ["arena", "caller"])
def test_tensors_without_room_in_the_arena_are_the_callers(tmp_path, placement):
    write(tmp_path, "net", payload_of(1, placement=placement))
    assert compiles(tmp_path, "net") == ""
    in_arena = placement == "arena"
    header = (tmp_path / "net.model.h").read_text()
    assert ("net_input0(" in header, "inline executorch::runtime::Error net_run" in header) == (in_arena, in_arena)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=3),
    st.sampled_from(["cortex-m0plus", "cortex-m4", "cortex-m55"]),
)
def test_every_number_of_every_block_is_written(layers, core):
    """Each block has the numbers of the call's record in the payload, in order."""
    payload = payload_of(*layers, core=core)
    text = cpp_calls.generate_source("net", payload)
    blocks = re.findall(r"^constexpr payload::(\w+) kCall\d+ = {\n(.*?)^};$", text, re.MULTILINE | re.DOTALL)
    calls = decode(payload).calls
    assert len(blocks) == len(calls)
    for (struct, body), call in zip(blocks, calls):
        assert struct == kernels()[call.opcode].args.name
        plain = re.sub(r"//.*", "", body)
        reference = r"payload::kNoRef|direct::\w+\((?:[^()]|\([^()]*\))*\)"
        references = re.findall(reference, plain)
        numbers = [int(n) for n in re.findall(r"-?\d+", re.sub(reference, "", plain))]
        assert len(references) == sum(f.operand is not None for f, _ in fields(call))
        assert numbers == [n for f, v in fields(call) if f.operand is None for n in flat(v)]


def fields(call):
    return [(field, call.args[field.name]) for field in kernels()[call.opcode].args.fields]


def flat(value):
    if isinstance(value, dict):
        return [n for member in value.values() for n in flat(member)]
    return list(value) if isinstance(value, tuple) else [value]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_literals_read_back(x):
    literal = float_literal(x)
    assert np.float32(literal.rstrip("f")) == np.float32(x)
    assert literal.endswith("f") and ("." in literal or "e" in literal)


@pytest.mark.parametrize("x", [float("nan"), float("inf")])
def test_what_has_no_literal_is_refused(x):
    with pytest.raises(ValueError, match="has no literal"):
        float_literal(x)


def test_the_least_numbers_are_literals_of_their_type():
    assert [integer_literal(x) for x in (-(2**31), -(2**31) + 1, -(2**63))] == ["INT32_MIN", "-2147483647", "INT64_MIN"]


def test_only_payloads_are_accepted():
    for generate in (cpp_calls.generate_header, cpp_calls.generate_source):
        with pytest.raises(PayloadError):
            generate("x", b"nothing")


def test_constants_have_what_kernels_load_past_their_end():
    """CMSIS-NN's depthwise convolution on MVE loads past its filter."""
    view = decode(
        encode(
            networks.ds_cnn(), get_target("cortex-m55"), PayloadOptions.of(providers=["cmsis-nn", "portable"])
        ).payload
    )
    text = cpp_calls.generate_source("net", view.data)
    assert view.isa is schema.Isa.MVE
    past = [int(n) for n in re.findall(r"std::uint8_t past\[(\d+)\];", text)]
    assert all(n > 0 for n in past) and past
