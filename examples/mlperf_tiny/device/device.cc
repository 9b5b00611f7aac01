// The device API of MLPerf Tiny for a model of the delegate: see device_api.h.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/device_api.h"
#include "examples/mlperf_tiny/device/harness.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::StandaloneModel;
using executorch::runtime::Error;
using mlperf_tiny::benchmark;
using mlperf_tiny::Sent;

StandaloneModel<2> model;
Error state = Error::InvalidState;
bool has_input;

alignas(4) std::uint8_t sent[mlperf_tiny::kMaxInputBytes];
/// The input after quantization: the arena has it only until an inference overwrites it.
std::int8_t quantized[mlperf_tiny::kMaxInputBytes];

/// Returns how many bytes are sent for an input.
std::size_t sent_bytes() {
  const std::size_t count = model.tensor(0).nbytes;
  return benchmark.sent == Sent::kFloat32 ? 4 * count : count;
}

/// Writes a number from 0 to 4 million with three decimals; what is more, or none, as 4000000.000.
void write(float number) {
  const float bounded = number < 4e6f ? number : 4e6f;
  const auto thousandths = static_cast<unsigned long>(bounded * 1000.0f + 0.5f);
  th_printf("%lu.%lu%lu%lu", thousandths / 1000, thousandths / 100 % 10, thousandths / 10 % 10,
            thousandths % 10);
}

/// Returns number `index` of what was sent, as the network takes it.
float real_input(std::size_t index) {
  float number = 0;
  if (benchmark.sent == Sent::kFloat32) {
    std::memcpy(&number, sent + 4 * index, sizeof(number));
    return benchmark.factor * (number - static_cast<float>(benchmark.zero));
  }
  const std::int32_t byte = benchmark.sent == Sent::kInt8
                                ? std::int32_t{static_cast<std::int8_t>(sent[index])}
                                : std::int32_t{sent[index]};
  return benchmark.factor * static_cast<float>(byte - benchmark.zero);
}

/// Returns the nearest number of `tensor`, halves away from zero; the lowest one for what is no number.
std::int8_t quantize(float real, const cmsis_nn_delegate::payload::IoTensor& tensor) {
  const float steps = real / tensor.scale;
  // Far beyond int8, so that the conversion is defined.
  const float bounded = steps > 1000.0f ? 1000.0f : steps > -1000.0f ? steps : -1000.0f;
  const auto rounded = static_cast<std::int32_t>(bounded < 0 ? bounded - 0.5f : bounded + 0.5f);
  const std::int32_t q = rounded + tensor.zero_point;
  return static_cast<std::int8_t>(q < -128 ? -128 : q > 127 ? 127 : q);
}

float real_output(std::size_t index) {
  const auto& tensor = model.tensor(1);
  const std::int32_t q = static_cast<const std::int8_t*>(model.data(1))[index];
  return tensor.scale * static_cast<float>(q - tensor.zero_point);
}

bool failed() {
  if (state != Error::Ok) {
    th_printf("e-[the model failed with error %d]\r\n", static_cast<int>(state));
  }
  return state != Error::Ok;
}

}  // namespace

void th_final_initialize(void) {
  static const CmsisNnBackend backend(benchmark.kernels);
  state = model.load(backend, benchmark.payload, benchmark.payload_bytes, benchmark.arena,
                     benchmark.arena_bytes);
  const bool fits = sent_bytes() <= sizeof(sent) && model.data(0) != nullptr;
  state = state == Error::Ok && !fits ? Error::NotSupported : state;
  (void)failed();  // says so
}

void th_load_tensor() {
  if (failed()) {
    return;
  }
  const std::size_t came = ee_get_buffer(sent, sizeof(sent));
  has_input = came == sent_bytes();
  if (!has_input) {
    th_printf("e-[the input has %u bytes, %u are needed]\r\n", static_cast<unsigned>(came),
              static_cast<unsigned>(sent_bytes()));
    return;
  }
  for (std::size_t i = 0; i < model.tensor(0).nbytes; ++i) {
    quantized[i] = quantize(real_input(i), model.tensor(0));
  }
}

void th_infer() {
  if (state != Error::Ok || !has_input) {
    return;
  }
  // As a product that takes its input from a sensor: the copy is part of the time.
  std::memcpy(model.data(0), quantized, model.tensor(0).nbytes);
  state = model.run();
}

void th_results() {
  if (failed() || !has_input) {
    return;
  }
  th_printf("m-results-[");
  const std::size_t count = model.tensor(1).nbytes;
  if (benchmark.reconstructs) {
    float sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const float difference = real_input(i) - real_output(i);
      sum += difference * difference;
    }
    write(sum / static_cast<float>(count));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      th_printf(i == 0 ? "" : ",");
      write(real_output(i));
    }
  }
  th_printf("]\r\n");
}

void mlperf_tiny::idle() {}
