import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.format.opcodes import Opcode
from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.registry import OPS, calls
from cmsis_nn_delegate.payload.decode import PayloadError, decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE, kernels
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.cores import CORES
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import TARGETS, get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.random_case import RandomCase

M55 = get_target("cortex-m55")


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0, 2000]))
def test_targets_with_one_instruction_set_have_the_same_payload(seed, growth):
    """Whatever the core, and whatever features it lacks. Kernels are chosen by predicted instructions, which differ."""
    graph = networks.random_network(seed)
    found = {}
    for name in CORES:
        target = get_target(name)
        payload = encode(graph, target, PayloadOptions(max_flash_growth=growth)).payload
        assert found.setdefault(target.isa, payload) == payload, name
        assert decode(payload).isa is target.isa
    assert len(found) == 3


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(list(TARGETS)), st.sampled_from(["arena", "caller"]))
def test_payloads_decode_to_what_was_encoded(seed, target, io_placement):
    graph = networks.random_network(seed)
    encoded = encode(graph, get_target(target), PayloadOptions.of(io_placement=io_placement))
    view = decode(encoded.payload)
    assert view.isa == get_target(target).isa
    assert view.arena_bytes == encoded.plan.arena_bytes
    for tensor, value in zip((*view.inputs, *view.outputs), (*graph.inputs, *graph.outputs)):
        assert (tensor.shape, tensor.nbytes) == (value.shape, value.nbytes)
        assert tuple(value.shape[d] for d in tensor.dim_order) == value.storage_shape
        assert tensor.arena_offset == encoded.plan.offset_of(value)
        if value.quant:
            assert tensor.scale == np.float32(value.quant.scale[0])
            assert tensor.zero_point == value.quant.zero_point
    assert len(view.calls) == len(encoded.calls) == len(calls(graph))
    for call, info in zip(view.calls, encoded.calls):
        for constant in info.constants:
            assert call.references()[constant.name] == (schema.BASE_CONSTANT, constant.offset)
            assert constant.offset % schema.ALIGNMENT == 0
            if constant.name in ("bias", "multiplier"):
                stored = np.frombuffer(view.data, "<i4", constant.nbytes // 4, constant.offset)
                assert stored.shape == (info.node.inputs[1].shape[0],)
    assert sum(encoded.sections.values()) == len(encoded.payload)
    assert len(encoded.payload) % schema.ALIGNMENT == 0


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([None, 0, 200, 4096]),
    st.integers(16, 6000),
    st.sampled_from(list(TARGETS)),
)
def test_copied_constants_are_the_first_ones_and_calls_refer_to_their_copies(seed, fast, room, target):
    graph = networks.random_network(seed)
    memories = [Memory("tcm", room, ("weights",))]
    if fast is not None:
        memories += [Memory("fast", fast)] if fast else []
        memories.append(Memory("slow", 1 << 24))
    alone = encode(graph, get_target(target), PayloadOptions(memories=tuple(memories[1:])))
    encoded = encode(graph, get_target(target), PayloadOptions(memories=tuple(memories)))
    before, view = decode(alone.payload), decode(encoded.payload)
    assert view.copied_bytes == encoded.copies.nbytes <= max(room - schema.STATE_OFFSET, 0)
    assert encoded.copies.reads <= encoded.copies.all_reads
    assert encoded.plan.kept.room == max(room - schema.STATE_OFFSET, 0)
    io_count = len(view.inputs) + len(view.outputs)
    copies = schema.copies_base(io_count, view.persistent_bytes) if view.copied_bytes else None
    begin = view.header["constants_offset"]
    copied = set()
    for then, now, info in zip(before.calls, view.calls, encoded.calls, strict=True):
        for constant in info.constants:
            base, offset = now.references()[constant.name]
            assert (base == copies) == constant.copied
            offset += begin if constant.copied else 0
            assert offset == constant.offset and constant.copied == (offset - begin < view.copied_bytes)
            there = then.references()[constant.name][1]
            assert view.data[offset : offset + constant.nbytes] == before.data[there : there + constant.nbytes]
            if constant.copied:
                copied.add(offset)
                assert offset - begin + constant.nbytes <= view.copied_bytes
    # Nothing else is copied, and what is left out did not fit.
    assert len(copied) == sum(c.copied and not c.shared for info in encoded.calls for c in info.constants)
    left = [c.nbytes for info in encoded.calls for c in info.constants if not c.copied]
    past = 64  # at most, loaded by kernels of Helium
    assert all(nbytes + past + view.copied_bytes + 16 > room - schema.STATE_OFFSET for nbytes in left)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 4096), max_size=3), st.sampled_from(["arena", "caller"]))
def test_payloads_in_several_memories_differ_only_in_where_activations_lie(seed, sizes, io_placement):
    graph = networks.random_network(seed)
    alone = decode(encode(graph, M55, PayloadOptions.of(io_placement=io_placement)).payload)
    memories = [*(Memory(f"fast{i}", size) for i, size in enumerate(sizes)), Memory("slow", 1 << 24)]
    encoded = encode(graph, M55, PayloadOptions(IoPlacement.of(io_placement), memories=tuple(memories)))
    view = decode(encoded.payload)
    assert view.region_bytes == encoded.plan.region_bytes
    assert all(nbytes <= size and nbytes % 16 == 0 for nbytes, size in zip(view.region_bytes, sizes, strict=True))
    first = schema.BASE_IO + len(view.inputs) + len(view.outputs) + bool(view.persistent_bytes)
    moved = (schema.BASE_ARENA, *range(first, first + len(sizes)))
    for now, before in zip(view.calls, alone.calls, strict=True):
        assert now.opcode == before.opcode
        references = before.references()
        for name, (base, _) in now.references().items():
            assert base in moved if references[name][0] == schema.BASE_ARENA else base == references[name][0]
    if not sizes:
        assert view.data == alone.data


def multipliers(data: bytes, call) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By prefix of the field names: (multipliers, shifts) of a decoded call."""
    found = {}
    for name in call.args:
        pair = name, name.replace("multiplier", "shift")
        # Kernels that shift by a constant or by a field of another name have no shift here.
        if not name.endswith("multiplier") or pair[1] not in call.args:
            continue
        if name in call.references():
            offsets = (call.references()[part][1] for part in pair)
            count = call.args.get("outputs") or call.args["output_dims"]["c"]
            arrays = tuple(np.frombuffer(data, "<i4", count, offset) for offset in offsets)
        else:
            arrays = tuple(np.array([call.args[part]]) for part in pair)
        found[name] = arrays
    return found


def check_ranges(payload: bytes) -> int:
    """That init() takes every multiplier, shift and difference; returns how many it looked at."""
    view = decode(payload)
    count = 0
    for call in view.calls:
        for name, (multiplier, shift) in multipliers(view.data, call).items():
            low, high = {
                Opcode.ADD: (schema.MIN_SHIFT, 0),
                Opcode.SOFTMAX: (0, schema.MAX_SHIFT),
            }.get(call.opcode, (schema.MIN_SHIFT, schema.MAX_SHIFT))
            assert np.all(multiplier >= 0), name
            assert np.all((low <= shift) & (shift <= high)), name
            count += multiplier.size
        if call.opcode == Opcode.SOFTMAX:
            assert -(schema.MAX_SOFTMAX_DIFFERENCE >> call.args["shift"]) <= call.args["diff_min"] <= 0
    return count


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(list(TARGETS)))
def test_multipliers_of_networks_are_in_range(seed, target):
    check_ranges(encode(networks.random_network(seed), get_target(target)).payload)


# Far beyond what calibration gives, to both sides of every limit.
EXTREME = st.one_of(
    st.floats(2.0**-80, 2.0**40), st.builds(lambda e, m: m * 2.0**e, st.integers(-80, 40), st.floats(0.5, 1))
)


def built(make, *scales: float):
    """The payload of make(builder, one input value per scale...) with CMSIS-NN's kernels; None if it is refused."""
    builder = GraphBuilder()
    inputs = [builder.input(1, 8, quant=Quant((scale,), 3)) for scale in scales]
    try:
        options = PayloadOptions(providers=(CMSIS_NN, PORTABLE))
        return encode(builder.graph(make(builder, *inputs)), M55, options).payload
    except ValueError:
        return None


@settings(max_examples=120, deadline=None)
@given(EXTREME, EXTREME, EXTREME)
def test_multipliers_of_extreme_scales_are_in_range_or_refused(first, second, output):
    quant = Quant((output,), -5)

    def linear(builder, x):
        y = builder.fully_connected(x, 3)
        y.retype(quant=quant)
        return y

    for make, scales in (
        (lambda b, x, y: b.add(x, y, quant=quant), (first, second)),
        (lambda b, x: b.softmax(x), (first,)),
        (linear, (first,)),
    ):
        payload = built(make, *scales)
        assert payload is None or check_ranges(payload) > 0


def test_a_sum_whose_multiplier_rounds_to_one_is_refused():
    # 1 - 2^-40 is a Q31 number shifted to the left, which the kernel cannot.
    quant = Quant((2.0**-19 / (1 - 2.0**-40),), 0)
    assert built(lambda b, x, y: b.add(x, y, quant=quant), 1.0, 1.0) is None
    quant = Quant((2.0**-19 / (1 - 2.0**-20),), 0)
    assert built(lambda b, x, y: b.add(x, y, quant=quant), 1.0, 1.0) is not None


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(list(TARGETS)))
def test_payloads_have_what_kernels_load_past_constants(seed, target):
    encoded = encode(networks.random_network(seed), get_target(target))
    last = 0
    for call in encoded.calls:
        past = call.choice.provider.reads_past(kernels()[call.opcode], encoded.target.isa)
        for constant in call.constants:
            end = constant.offset + constant.nbytes + past.of(constant.name)
            assert end <= len(encoded.payload)
            last = max(last, end)
    assert len(encoded.payload) == -(-last // schema.ALIGNMENT) * schema.ALIGNMENT  # and no more


@pytest.mark.parametrize("target", ["cortex-m3", "cortex-m4", "cortex-m55"])
def test_a_filter_at_the_end_is_followed_by_what_kernels_load(target):
    encoded = encode(networks.parallel_convolutions(), get_target(target), PayloadOptions(providers=(CMSIS_NN,)))
    (last,) = [c for c in encoded.calls[1].constants if not c.shared]
    assert last.name == "filter" and last.nbytes % schema.ALIGNMENT == 0
    past = 16 if target == "cortex-m55" else 0
    assert last.offset + last.nbytes + past == len(encoded.payload)


def test_io_is_named_by_index_wherever_it_lies():
    builder = GraphBuilder()
    x = builder.input(1, 8)
    graph = builder.graph(builder.fully_connected(builder.fully_connected(x, 4), 4))
    for placement, offsets in (("arena", (0, 0)), ("caller", (None, None))):
        view = decode(encode(graph, M55, PayloadOptions.of(io_placement=placement)).payload)
        first, last = (call.references() for call in view.calls)
        assert first["input"] == (schema.BASE_IO, 0)
        assert last["output"] == (schema.BASE_IO + 1, 0)
        assert first["output"] == last["input"]
        assert first["output"][0] == schema.BASE_ARENA
        assert (view.inputs[0].arena_offset, view.outputs[0].arena_offset) == offsets


@pytest.mark.parametrize(
    "scales, opcode",
    [
        ((0.01,), Opcode.FULLY_CONNECTED_PER_TENSOR),
        ((0.01, 0.01, 0.01), Opcode.FULLY_CONNECTED_PER_TENSOR),
        ((0.01, 0.01, 0.011), Opcode.FULLY_CONNECTED),
        # The same multiplier, shifted differently.
        ((0.01, 0.01, 0.02), Opcode.FULLY_CONNECTED),
    ],
)
def test_linear_layers_with_one_multiplier_take_the_kernel_for_that(scales, opcode):
    builder = GraphBuilder()
    graph = builder.graph(builder.fully_connected(builder.input(2, 8), 3))
    graph.nodes[0].inputs[1].retype(quant=Quant(scales, 0, axis=None if len(scales) == 1 else 0))
    encoded = encode(graph, M55)
    (call,) = decode(encoded.payload).calls
    assert call.opcode is opcode
    named = {constant.name for constant in encoded.calls[0].constants}
    assert ("multiplier" in named) is (opcode is Opcode.FULLY_CONNECTED)
    assert (call.args["batch"], call.args["inputs"], call.args["outputs"]) == (2, 8, 3)


def test_scratch_is_referenced_where_it_is_needed():
    graph = networks.resnet8()
    encoded = encode(graph, M55)
    for call, info in zip(decode(encoded.payload).calls, encoded.calls):
        scratch = call.references().get("scratch")
        if info.scratch_bytes:
            assert scratch == (schema.BASE_ARENA, info.scratch_offset)
            assert call.args["scratch_bytes"] == info.scratch_bytes
        else:
            assert scratch is None
    assert any(info.scratch_bytes for info in encoded.calls)


def test_equal_constants_are_stored_once():
    def sections(same):
        builder = GraphBuilder(1)
        x = builder.input(1, 32)
        a, b = builder.fully_connected(x, 32), builder.fully_connected(x, 32)
        if same:
            builder.nodes[1].inputs[1:] = builder.nodes[0].inputs[1:]
            b.retype(quant=a.quant)
        return encode(builder.graph(builder.add(a, b)), M55)

    one, two = sections(same=True), sections(same=False)
    assert two.sections["constants"] == 2 * one.sections["constants"]
    assert one.calls[1].constants and all(c.shared for c in one.calls[1].constants)
    assert one.calls[1].constant_bytes == 0


def test_constant_operands_of_add_are_stored():
    builder = GraphBuilder()
    x = builder.input(1, 2, 3, 4)
    constant = builder.constant((1, 2, 3, 4), x.element, -128, 127, x.quant)
    constant.retype(layout=Layout.CHANNELS_LAST)
    view = decode(encode(builder.graph(builder.add(x, constant)), M55).payload)
    base, offset = view.calls[0].references()["input2"]
    assert base == schema.BASE_CONSTANT
    stored = np.frombuffer(view.data, np.int8, 24, offset)
    assert np.array_equal(stored, constant.data.transpose(0, 2, 3, 1).reshape(-1))


@pytest.mark.parametrize("element", [Element.INT4, Element.INT16, Element.INT32, Element.FLOAT32])
@pytest.mark.parametrize("operator", ["conv2d", "fully_connected", "add", "mul", "max_pool2d", "softmax", "transpose"])
def test_elements_that_no_kernel_takes_are_refused_by_name(operator, element):
    case = RandomCase(1)
    graph = case.graph(OPS[operator].draws[0](case))
    value = graph.nodes[0].inputs[0]
    kernel = OPS[operator].kernel_of(graph.nodes[0]).name
    value.retype(element=element)
    with pytest.raises(ValueError, match=f"{value.name} is {element.value}; there is no kernel {kernel} for that"):
        encode(graph, M55, PayloadOptions(IoPlacement.CALLER))


def test_encoding_is_deterministic_across_processes():
    program = (
        "import sys; from cmsis_nn_delegate.testing import networks;"
        "from cmsis_nn_delegate.payload.lower_partition import encode;"
        "from cmsis_nn_delegate.targets.target import get_target;"
        "sys.stdout.buffer.write(encode(networks.random_network(7), get_target('cortex-m55')).payload)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "1"}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert encode(networks.random_network(7), M55).payload == other.stdout


def test_graphs_that_no_pass_should_leave_are_refused():
    builder = GraphBuilder()
    x = builder.input(1, 4)
    y = builder.fully_connected(x, 4)
    good = builder.graph(y)
    flipped = Node("pad", "pad_0", [y], [Value("p", y.type.of(shape=(1, 4)))])
    cases = [
        (Graph([x], [x], []), "no operation"),
        (Graph([x], [flipped.output], [*good.nodes, flipped]), "pad has no kernel"),
        (Graph([x], [y, y], good.nodes), "twice"),
        (Graph([x], [y, x], good.nodes), "twice"),
        (Graph([x], [y, good.nodes[0].inputs[1]], good.nodes), "is a constant"),
    ]
    for graph, message in cases:
        with pytest.raises(ValueError, match=message):
            encode(graph, M55)


def test_errors_name_the_node():
    builder = GraphBuilder()
    graph = builder.graph(builder.max_pool2d(builder.input(1, 1, 4, 4), (1, 1), padding=Padding(1)))
    with pytest.raises(ValueError, match="cannot encode max_pool2d_0 .*leaves windows"):
        encode(graph, M55)


# Decoding -------------------------------------------------------------------

SMALL = encode(networks.random_network(3), M55).payload


def test_every_truncation_is_refused():
    for size in range(len(SMALL)):
        with pytest.raises(PayloadError, match="less than a payload header|truncated"):
            decode(SMALL[:size])


@given(st.integers(0, len(SMALL) * 8 - 1))
def test_every_flipped_bit_is_refused(bit):
    damaged = bytearray(SMALL)
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(PayloadError):
        decode(bytes(damaged))


def patched(**fields):
    """SMALL with other header fields and a right CRC."""
    header = {**schema.HEADER.unpack(SMALL), **fields, "crc32": 0}
    data = schema.HEADER.pack(header) + SMALL[schema.HEADER.size :]
    return schema.HEADER.pack({**header, "crc32": zlib.crc32(data)}) + SMALL[schema.HEADER.size :]


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"magic": 0x12345678}, "not a payload"),
        ({"format_version": 1}, "payload format 1"),
        (
            {"providers": 1 << 5, "header_bytes": schema.HEADER.size + 4},
            "of provider 5, which is not registered",
        ),
        ({"providers": 0xFF}, "header of"),
        ({"header_bytes": 0}, "header of 0 bytes"),
        ({"isa": 9}, "unknown instruction set"),
        ({"arena_bytes": 8}, "multiple of 16"),
        ({"arena_bytes": 0}, "nowhere|past the end of the arena"),
        ({"calls_offset": 64}, "section calls"),
        ({"copied_bytes": 8}, "copied constants of 8 bytes, not a multiple of 16"),
        ({"copied_bytes": 1 << 20}, "1048576 bytes of constants are copied; it has"),
        ({"calls_offset": 1 << 20}, "section calls"),
        ({"constants_bytes": 1 << 31}, "section constants"),
        ({"call_count": 1000}, "past the end"),
        ({"call_count": 1}, "trailing bytes after the last call"),
        ({"input_count": 0, "output_count": 1}, "nowhere"),
    ],
)
def test_malformed_headers_are_explained(fields, message):
    with pytest.raises(PayloadError, match=message):
        decode(patched(**fields))


def test_unknown_opcodes_are_explained():
    header = schema.HEADER.unpack(SMALL)
    data = bytearray(SMALL)
    unknown = max(Opcode) + 1
    struct.pack_into("<H", data, header["calls_offset"], unknown)
    struct.pack_into("<I", data, schema.HEADER.offset_of("crc32"), 0)
    struct.pack_into("<I", data, schema.HEADER.offset_of("crc32"), zlib.crc32(data))
    with pytest.raises(PayloadError, match=f"unknown opcode {unknown}"):
        decode(bytes(data))
