// Hears wake words in a signal with a streaming model of the delegate: see streaming_api.h.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "examples/mlperf_tiny/device/audio.h"
#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/device_api.h"
#include "examples/mlperf_tiny/device/harness.h"
#include "examples/mlperf_tiny/device/streaming_api.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::StandaloneModel;
using executorch::runtime::Error;
using mlperf_tiny::benchmark;
using mlperf_tiny::kHop;
using mlperf_tiny::Pin;

constexpr std::size_t kHopBytes = kHop * sizeof(std::int16_t);
constexpr std::size_t kClasses = 3;  // the first one is the wake word
constexpr std::size_t kFeatures = 40;
/// The benchmark's: above 115, a probability of 0.95.
constexpr std::int8_t kThreshold = 115;
/// Inferences whose results mean nothing, because the network has not heard enough yet.
constexpr std::size_t kWarmUp = 31;
constexpr std::size_t kMaxResults = 37500;

StandaloneModel<3> model;
Error state = Error::InvalidState;
bool listens;
std::size_t inferences;  // of this signal
std::int8_t wake[kMaxResults];

bool failed() {
  if (state != Error::Ok) {
    th_printf("e-[the model failed with error %d]\r\n", static_cast<int>(state));
  }
  return state != Error::Ok;
}

void begin() {
  state = state == Error::Ok ? model.reset() : state;
  inferences = 0;
}

/// Runs the network on the next samples. Returns whether it hears the wake word.
bool hears(const void* samples) {
  std::memcpy(model.data(0), samples, kHopBytes);
  state = model.run();
  const std::int8_t result = *static_cast<const std::int8_t*>(model.data(1));
  if (inferences < kMaxResults) {
    wake[inferences] = result;
  }
  return ++inferences > kWarmUp && result > kThreshold;
}

void print(const std::int8_t* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    th_printf(i == 0 ? "%d" : i % 16 == 0 ? ",\r\n%d" : ", %d", int{numbers[i]});
  }
}

}  // namespace

void th_final_initialize(void) {
  static const CmsisNnBackend backend(benchmark.kernels);
  state = model.load(backend, benchmark.payload, benchmark.payload_bytes, benchmark.arena,
                     benchmark.arena_bytes, benchmark.state, benchmark.state_bytes);
  const bool fits = model.tensor(0).nbytes == kHopBytes && model.tensor(1).nbytes == kClasses &&
                    model.tensor(2).nbytes == kFeatures && model.data(0) != nullptr;
  state = state == Error::Ok && !fits ? Error::NotSupported : state;
  (void)failed();  // says so
  mlperf_tiny::audio_restart();
}

void th_start_streaming() {
  if (failed()) {
    return;
  }
  if (listens) {
    th_printf("m-[listening already]\r\n");
    return;
  }
  begin();
  mlperf_tiny::audio_restart();
  listens = true;
  th_printf("m-[listening]\r\n");
  mlperf_tiny::audio_set(Pin::kProcessing, true);
  mlperf_tiny::audio_set(Pin::kProcessing, false);
}

void th_stop_streaming() {
  if (!listens) {
    th_printf("m-[not listening]\r\n");
    return;
  }
  listens = false;
  th_printf("m-[listened to %u hops]\r\ntarget activations:\r\n[",
            static_cast<unsigned>(inferences));
  print(wake, inferences < kMaxResults ? inferences : kMaxResults);
  th_printf("]\r\n");
  (void)failed();  // says so
  begin();
}

void th_extract_features_on_chunk() {
  static std::uint8_t sent[kHopBytes];
  if (listens) {
    th_printf("e-[it listens: stop that first]\r\n");
    return;
  }
  const std::size_t came = ee_get_buffer(sent, sizeof(sent));
  if (came != sizeof(sent)) {
    th_printf("e-[the samples have %u bytes, %u are needed]\r\n", static_cast<unsigned>(came),
              static_cast<unsigned>(sizeof(sent)));
    return;
  }
  if (state == Error::Ok) {
    (void)hears(sent);
  }
  if (failed()) {
    return;
  }
  // A line for each, whatever its length: the benchmark's script wants the numbers in one pair of brackets.
  th_printf("m-features-[");
  print(static_cast<const std::int8_t*>(model.data(2)), kFeatures);
  th_printf("]\r\nm-activations-[");
  print(static_cast<const std::int8_t*>(model.data(1)), kClasses);
  th_printf("]\r\n");
}

void mlperf_tiny::idle() {
  alignas(4) static std::int16_t samples[kHop];
  if (!audio_take(samples) || !listens || state != Error::Ok) {
    return;
  }
  audio_set(Pin::kProcessing, true);
  const bool first = inferences == 0;
  if (hears(samples) || first) {
    audio_set(Pin::kDetected, true);
    audio_set(Pin::kDetected, false);
  }
  audio_set(Pin::kProcessing, false);
}
