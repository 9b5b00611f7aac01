// Anomaly detection: 5 x 128 features; the mean square of what the network does not reconstruct.
#include "examples/mlperf_tiny/device/ad01.h"
#include "examples/mlperf_tiny/device/ad01.kernels.h"
#include "examples/mlperf_tiny/device/benchmark.h"

namespace {
alignas(AD01_ALIGNMENT) unsigned char arena[AD01_ARENA_BYTES];
}

const mlperf_tiny::Benchmark mlperf_tiny::benchmark = {
    "ad01",
    mlperf_tiny::Sent::kFloat32,
    1.0f,
    0,
    true,
    ad01_payload,
    sizeof(ad01_payload),
    cmsis_nn_delegate::ad01_kernels,
    arena,
    sizeof(arena),
};
