// Image classification: 32 x 32 pixels in RGB from 0 to 255; 10 probabilities.
#include "examples/mlperf_tiny/device/ic01.h"
#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/ic01.kernels.h"

namespace {
alignas(IC01_ALIGNMENT) unsigned char arena[IC01_ARENA_BYTES];
}

const mlperf_tiny::Benchmark mlperf_tiny::benchmark = {
    "ic01",
    mlperf_tiny::Sent::kUint8,
    1.0f,
    0,
    false,
    ic01_payload,
    sizeof(ic01_payload),
    cmsis_nn_delegate::ic01_kernels,
    arena,
    sizeof(arena),
};
