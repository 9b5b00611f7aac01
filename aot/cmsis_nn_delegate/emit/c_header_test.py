import re
import shutil
import subprocess

import numpy as np
import pytest

from cmsis_nn_delegate.emit import c_header
from cmsis_nn_delegate.format.cpp import float_literal
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.embedding import EmbeddingAttrs
from cmsis_nn_delegate.ops.last_step import LastStepAttrs
from cmsis_nn_delegate.payload.decode import PayloadError
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

PAYLOAD = encode(networks.ds_cnn(), get_target("cortex-m4")).payload
CHECK = """
#include <stdio.h>
#include "kws-1.h"
int main(void) {
  static const int input[] = kws_1_INPUT;
  static const int shape[] = KWS_1_INPUT0_SHAPE;
  KWS_1_OUTPUT0_TYPE last = -1;
  (void)input; (void)last;
  if ((uintptr_t)kws_1_payload % KWS_1_ALIGNMENT) return 1;
  if (sizeof shape / sizeof shape[0] != KWS_1_INPUT0_RANK) return 2;
  printf("%u %u %d %.9g\\n", KWS_1_ARENA_BYTES, KWS_1_INPUT0_BYTES, KWS_1_OUTPUT0_ZERO_POINT,
         (double)KWS_1_OUTPUT0_SCALE);
  fwrite(kws_1_payload, 1, KWS_1_PAYLOAD_BYTES, stdout);
  return 0;
}
""".replace("  static const int input[] = kws_1_INPUT;\n", "").replace("(void)input; ", "")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("suffix, flags", [("c", ["-std=c11"]), ("cc", ["-x", "c++", "-std=c++17"])])
def test_programs_link_the_payload(tmp_path, suffix, flags):
    (tmp_path / "kws-1.h").write_text(c_header.generate_header("kws-1", PAYLOAD))
    (tmp_path / "kws-1.c").write_text(c_header.generate_source("kws-1", PAYLOAD))
    (tmp_path / f"main.{suffix}").write_text(CHECK)
    warnings = ["-Wall", "-Wextra", "-Werror"]
    for source, options in (("kws-1.c", ["-std=c11"]), (f"main.{suffix}", flags)):
        subprocess.run(["cc", *warnings, *options, "-c", source], cwd=tmp_path, check=True)
    subprocess.run(["cc", "kws-1.o", "main.o", "-o", "main"], cwd=tmp_path, check=True)
    out = subprocess.run([tmp_path / "main"], capture_output=True, check=True).stdout
    line, payload = out.split(b"\n", 1)
    assert line.decode() == "8896 490 -128 0.00390625"
    assert payload == PAYLOAD


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_source_does_not_compile_with_the_header_of_another_payload(tmp_path):
    other = encode(networks.resnet8(), get_target("cortex-m4")).payload
    (tmp_path / "net.h").write_text(c_header.generate_header("net", other))
    (tmp_path / "net.c").write_text(c_header.generate_source("net", PAYLOAD))
    result = subprocess.run(["cc", "-std=c11", "-c", "net.c"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode != 0
    assert "net.h and net.c are from different compilations: compile the model again" in result.stderr


def test_indices_have_the_limits_of_all_their_tables():
    b = GraphBuilder()
    words, kinds = b.input(2, 3, element=Element.INT64), b.input(4, element=Element.INT32)
    outputs = []
    for indices, rows, from_end in ((words, 7, True), (words, 5, True), (words, 9, False), (kinds, 6, True)):
        quant = b.quant()
        table = b.constant((rows, 2), Element.INT8, -128, 127, quant)
        attrs = EmbeddingAttrs((*indices.shape, 2), (indices.numel,), (1,), 0, from_end)
        outputs.append(b.node("embedding", [indices, table], attrs, quant))
    header = c_header.generate_header("net", encode(b.graph(*outputs), get_target("cortex-m4")).payload)
    limits = re.findall(r"#define NET_(\w+)_(TYPE|INDEX_MIN|INDEX_MAX) (\S+)", header)
    assert [limit for limit in limits if limit[0].startswith("IN")] == [
        ("INPUT0", "TYPE", "int64_t"),
        ("INPUT0", "INDEX_MIN", "0"),
        ("INPUT0", "INDEX_MAX", "4"),
        ("INPUT1", "TYPE", "int32_t"),
        ("INPUT1", "INDEX_MIN", "(-6)"),
        ("INPUT1", "INDEX_MAX", "5"),
    ]


def test_lengths_have_the_limits_of_all_their_sequences():
    b = GraphBuilder()
    lengths = b.input(2, element=Element.INT32)
    outputs = [
        b.node("last_step", [x, lengths], LastStepAttrs(), x.quant) for x in (b.input(9, 2, 3), b.input(7, 2, 3))
    ]
    header = c_header.generate_header("net", encode(b.graph(*outputs), get_target("cortex-m4")).payload)
    limits = re.findall(r"#define NET_(\w+)_(LENGTH_MIN|LENGTH_MAX|INDEX_MAX) (\S+)", header)
    assert limits == [("INPUT0", "LENGTH_MIN", "1"), ("INPUT0", "LENGTH_MAX", "7")]


def test_io_without_a_place_in_the_arena_has_no_offset():
    payload = encode(networks.autoencoder(), get_target("cortex-m4"), PayloadOptions(IoPlacement.CALLER)).payload
    header = c_header.generate_header("ad", payload)
    assert "ARENA_OFFSET" not in header and "pass memory of your own" in header


def test_regions_beside_the_arena_have_their_sizes():
    memories = [Memory("itcm", 2048), Memory("dtcm", 8192), Memory("sram", 1 << 20)]
    encoded = encode(networks.ds_cnn(), get_target("cortex-m4"), PayloadOptions(memories=tuple(memories)))
    header = c_header.generate_header("kws", encoded.payload)
    sizes = [memory.nbytes for memory in encoded.plan.memories]
    found = [f"#define KWS_{n}_BYTES {size}u\n" for n, size in zip(("ARENA", "REGION1", "REGION2"), sizes, strict=True)]
    assert all(line in header for line in found) and "#define KWS_REGION_COUNT 2u\n" in header
    alone = encode(networks.ds_cnn(), get_target("cortex-m4"), PayloadOptions(memories=tuple(memories[2:])))
    assert "REGION" not in c_header.generate_header("kws", alone.payload)


@pytest.mark.parametrize("name, identifier", [("a-b.c", "a_b_c"), ("1x", "_1x"), ("ok", "ok"), ("é", "_")])
def test_names_become_identifiers(name, identifier):
    assert c_header.c_identifier(name) == identifier


@pytest.mark.parametrize("x", [0.1, 1.0, 3e-9, 1e20, 123456.0])
def test_float_literals_read_back(x):
    literal = float_literal(float(np.float32(x)))
    assert np.float32(literal.rstrip("f")) == np.float32(x)
    assert literal.endswith("f") and ("." in literal or "e" in literal)


def test_only_payloads_are_accepted():
    with pytest.raises(PayloadError):
        c_header.generate_header("x", b"nothing")
