// Streaming wake word: 512 samples at a time; the probabilities of the wake word, of silence and of other sounds.
#include "examples/mlperf_tiny/device/sww01.h"
#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/sww01.kernels.h"

namespace {
alignas(SWW01_ALIGNMENT) unsigned char arena[SWW01_ARENA_BYTES];
alignas(SWW01_ALIGNMENT) unsigned char state[SWW01_STATE_BYTES];
}  // namespace

const mlperf_tiny::Benchmark mlperf_tiny::benchmark = {
    "sww01",
    mlperf_tiny::Sent::kInt16,
    1.0f,
    0,
    false,
    sww01_payload,
    sizeof(sww01_payload),
    cmsis_nn_delegate::sww01_kernels,
    arena,
    sizeof(arena),
    state,
    sizeof(state),
};
