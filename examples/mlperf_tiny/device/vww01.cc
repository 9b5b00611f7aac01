// Visual wake words: 96 x 96 pixels in RGB from 0 to 255; 2 probabilities.
#include "examples/mlperf_tiny/device/vww01.h"
#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/vww01.kernels.h"

namespace {
alignas(VWW01_ALIGNMENT) unsigned char arena[VWW01_ARENA_BYTES];
}

const mlperf_tiny::Benchmark mlperf_tiny::benchmark = {
    "vww01",
    mlperf_tiny::Sent::kUint8,
    1.0f / 255.0f,
    0,
    false,
    vww01_payload,
    sizeof(vww01_payload),
    cmsis_nn_delegate::vww01_kernels,
    arena,
    sizeof(arena),
};
