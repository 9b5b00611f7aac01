import pytest

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.runner import cpp_header
from cmsis_nn_delegate.runner.job import JOB_HEADER, MAGIC, JobFlag, Layer, build_job, build_program_job, pack_job


def _payload(*input_sizes: int) -> bytes:
    """The header and inputs of a payload: what a job builder looks at."""
    tensor = {
        "arena_offset": schema.NO_ARENA_OFFSET,
        "dtype": schema.DType.INT8,
        "rank": 1,
        "dim_order": (0,) * schema.MAX_RANK,
        "scale": 1.0,
        "zero_point": 0,
    }
    tensors = b"".join(
        schema.IO_TENSOR.pack({**tensor, "nbytes": size, "sizes": (size,) + (0,) * (schema.MAX_RANK - 1)})
        for size in input_sizes
    )
    values = {field.name: (0,) * field.count if field.count > 1 else 0 for field in schema.HEADER.fields}
    values.update(magic=schema.MAGIC, header_bytes=schema.HEADER.size, input_count=len(input_sizes))
    return schema.HEADER.pack(values) + tensors


def test_layout():
    payload = _payload(5, 32)
    sets = [(bytes([i] * 5), bytes([i + 100] * 32)) for i in range(3)]
    job = build_job(payload, sets, JobFlag.VERIFY_CRC | JobFlag.PRINT_OUTPUTS)
    header = JOB_HEADER.unpack(job)
    assert header["magic"] == MAGIC and header["flags"] == 5 and header["set_count"] == 3
    assert header["set_bytes"] == 16 + 32
    start = header["payload_offset"]
    assert start % 16 == 0 and job[start : start + header["payload_bytes"]] == payload
    for i in range(3):
        at = header["inputs_offset"] + i * header["set_bytes"]
        assert at % 16 == 0
        assert job[at : at + 5] == bytes([i] * 5)
        assert job[at + 16 : at + 48] == bytes([i + 100] * 32)
    assert len(job) == header["inputs_offset"] + 3 * header["set_bytes"]


def test_a_state_lies_behind_the_layers():
    payload, state = _payload(5), bytes(range(32))
    job = build_job(payload, [[bytes(5)]], JobFlag.PRINT_STATE, [Layer(0, 1, 2)], state)
    header = JOB_HEADER.unpack(job)
    assert (header["flags"], header["layer_count"], header["state_bytes"]) == (32, 1, 32)
    assert header["state_offset"] % 16 == 0 and job[header["state_offset"] :] == state
    assert header["state_offset"] >= header["layers_offset"] + 12


def test_no_sets():
    header = JOB_HEADER.unpack(build_job(_payload(4), []))
    assert header["set_count"] == 0 and header["set_bytes"] == 0


@pytest.mark.parametrize("inputs", [(), (b"12345",), (b"1234", b"1"), (b"123",)])
def test_inputs_of_another_size(inputs):
    with pytest.raises(ValueError, match=r"input set 1 has inputs of \[.*\] bytes, the payload takes \[4\]"):
        build_job(_payload(4), [(b"1234",), inputs])


@pytest.mark.parametrize("size", [0, 10, 63, 64, 100])
def test_not_a_payload(size):
    with pytest.raises(ValueError):
        build_job(_payload(4)[:size] if size != 100 else bytes(200), [])


def test_pack_job_takes_any_payload():
    job = pack_job(b"damaged", [bytes(16)])
    header = JOB_HEADER.unpack(job)
    assert job[header["payload_offset"] :][:7] == b"damaged"
    with pytest.raises(ValueError, match="multiple of 16"):
        pack_job(b"", [bytes(15)])
    with pytest.raises(ValueError, match="one size"):
        pack_job(b"", [bytes(16), bytes(32)])


def test_a_program_is_marked_and_its_inputs_are_padded():
    job = build_program_job(b"pte", [[b"12345", b"6"]] * 2, JobFlag.PRINT_OUTPUTS)
    header = JOB_HEADER.unpack(job)
    assert header["flags"] == JobFlag.PROGRAM | JobFlag.PRINT_OUTPUTS
    assert (header["set_count"], header["set_bytes"]) == (2, 32)
    second = job[header["inputs_offset"] + 32 :]
    assert second[:5] == b"12345" and second[16:17] == b"6"


def test_cpp_header_names_every_field_and_flag():
    text = cpp_header.generate()
    for field in JOB_HEADER.fields:
        assert f" {field.name}" in text
    for name in (
        "kJobVerifyCrc = 1",
        "kJobNullKernels = 2",
        "kJobPrintOutputs = 4",
        "kJobProgram = 8",
        "kJobReset = 16",
    ):
        assert name in text
