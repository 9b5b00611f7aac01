// A model in a firmware that has no ExecuTorch runtime: what ExecuTorch's Method does for one
// delegate call, with all memory in sight.
//
// Link //runtime/standalone:et_shim with it, for what ExecuTorch's headers leave open, and have
// an abort() and operator delete that end the program (//platforms/bsp:abort).
//
//   #include "net.h"                                  // written by `cmsisnn compile`
//   #include "runtime/kernels/selected.h"
//   #include "runtime/standalone/model.h"
//
//   alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];
//   cmsis_nn_delegate::StandaloneModel<NET_INPUT_COUNT + NET_OUTPUT_COUNT> net;
//
//   const CmsisNnBackend backend(selected_kernels());
//   Error error = net.load(backend, net_payload, sizeof(net_payload), arena, sizeof(arena));
//   std::memcpy(net.data(0), image, NET_INPUT0_BYTES);   // inputs first, then outputs
//   error = net.run();
//   const auto* scores = static_cast<const std::int8_t*>(net.data(1));
//
// Inputs and outputs that the payload keeps in its arena lie there. What was written to an
// input is used up by run(): write all inputs before every run, and read the outputs before
// the next. For the others, and to avoid a copy, hand in memory of your own with set_data().
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {

/// The part of StandaloneModel that does not depend on the number of tensors.
class StandaloneModelBase {
 public:
  StandaloneModelBase(const StandaloneModelBase&) = delete;
  StandaloneModelBase& operator=(const StandaloneModelBase&) = delete;

  /// Validates the payload. `backend`, `payload` (16-byte aligned) and `arena` must outlive
  /// the model; the arena is the model's only during run(). It is the only memory, also of a
  /// backend that takes its arena at init (Config::arena_at_init).
  ///
  /// A model that remembers something from one run to the next keeps it in `state`, NET_STATE_BYTES, 16-byte
  /// aligned, which must outlive the model; others need none.
  ///
  /// Errors: those of CmsisNnBackend::init(); InvalidArgument if the payload has more inputs
  /// and outputs than there is room for; MemoryAllocationFailed if the payload needs an arena, or
  /// a state, and that is null, too small or not 16-byte aligned. A model may be
  /// loaded again, also after an error, which leaves it as if nothing had been loaded.
  [[nodiscard]] executorch::runtime::Error load(const CmsisNnBackend& backend, const void* payload,
                                                std::size_t payload_bytes, void* arena,
                                                std::size_t arena_bytes, void* state = nullptr,
                                                std::size_t state_bytes = 0);

  /// Makes the next run the first one again. Errors: InvalidState before load().
  [[nodiscard]] executorch::runtime::Error reset();

  /// Inputs and outputs of the loaded payload; 0 before.
  std::size_t tensor_count() const { return count_; }

  /// What tensor `index` is: inputs first, then outputs. Without such a tensor, as before
  /// load(), one of rank 0 with 0 bytes.
  const payload::IoTensor& tensor(std::size_t index) const;

  /// Its memory; nullptr if there is no such tensor, or if it has no place in the arena and
  /// set_data() was not called.
  void* data(std::size_t index) const {
    return index < count_ ? impls_[index].mutable_data() : nullptr;
  }

  /// Reads tensor `index` from, or writes it to, `data`, which has tensor(index).nbytes bytes,
  /// 4-byte aligned if they are floats, and must outlive run(). Errors: InvalidState before
  /// load(); InvalidArgument if there is no such tensor. What `data` is, run() checks.
  [[nodiscard]] executorch::runtime::Error set_data(std::size_t index, void* data);

  /// Computes the outputs. Errors: those of CmsisNnBackend::execute(); InvalidState before
  /// load(). `tracer` is told of each call if the backend was compiled with event tracer hooks.
  [[nodiscard]] executorch::runtime::Error run(executorch::runtime::EventTracer* tracer = nullptr);

 protected:
  using TensorImpl = executorch::runtime::etensor::TensorImpl;
  using EValue = executorch::runtime::EValue;

  /// `impls`, `values` and `pointers` have room for `capacity` objects and outlive this.
  StandaloneModelBase(void* impls, void* values, EValue** pointers, std::size_t capacity)
      : impls_(static_cast<TensorImpl*>(impls)),
        values_(static_cast<EValue*>(values)),
        pointers_(pointers),
        capacity_(capacity) {}

 private:
  TensorImpl* impls_;
  EValue* values_;
  EValue** pointers_;
  std::size_t capacity_;
  std::size_t count_ = 0;
  const CmsisNnBackend* backend_ = nullptr;
  const payload::IoTensor* tensors_ = nullptr;
  executorch::runtime::DelegateHandle* handle_ = nullptr;
  std::uint8_t* arena_ = nullptr;
  std::uint32_t arena_bytes_ = 0;
  alignas(void*) std::uint8_t handle_memory_[kHandleBytes] = {};
};

/// A model with room for `kTensors` inputs and outputs: 52 bytes each on a Cortex-M.
template <std::size_t kTensors>
class StandaloneModel final : public StandaloneModelBase {
 public:
  static_assert(kTensors >= 2 && kTensors <= payload::kMaxIo, "a payload's inputs and outputs");
  StandaloneModel() : StandaloneModelBase(impls_, values_, pointers_, kTensors) {}

 private:
  alignas(TensorImpl) unsigned char impls_[kTensors * sizeof(TensorImpl)];
  alignas(EValue) unsigned char values_[kTensors * sizeof(EValue)];
  EValue* pointers_[kTensors];
};

}  // namespace cmsis_nn_delegate
