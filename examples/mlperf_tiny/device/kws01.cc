// Keyword spotting: 49 x 10 MFCCs, quantized as the input of the benchmark's reference network; 12 probabilities.
#include "examples/mlperf_tiny/device/kws01.h"
#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/kws01.kernels.h"

namespace {
alignas(KWS01_ALIGNMENT) unsigned char arena[KWS01_ARENA_BYTES];
}

const mlperf_tiny::Benchmark mlperf_tiny::benchmark = {
    "kws01",
    mlperf_tiny::Sent::kInt8,
    0.5847029089927673f,
    83,
    false,
    kws01_payload,
    sizeof(kws01_payload),
    cmsis_nn_delegate::kws01_kernels,
    arena,
    sizeof(arena),
};
