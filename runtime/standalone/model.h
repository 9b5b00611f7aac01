// Runs a model in firmware that has no ExecuTorch runtime. It does what ExecuTorch's Method does
// for one delegate call, and the caller provides all memory.
//
// Link //runtime/standalone:et_shim with it, which defines the symbols that ExecuTorch's headers
// only declare, and provide an abort() and operator delete that end the program
// (//platforms/bsp:abort).
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
// If the payload has room for an input or output in its arena, data() points there. run() may
// overwrite inputs: write all of them before every run, and read the outputs before the next
// run. For inputs and outputs without room in the arena, or to avoid a copy, pass memory of your
// own to set_data().
//
// load() checks the payload once, and run() trusts it: no byte of the payload may change while the
// model is used. Flash keeps it so; in RAM, nothing else may write there. Payload, arena, regions,
// state and the memory that set_data() gets must not overlap. Where ET_LOG_ENABLED is set, as on
// the host, load() and set_data() refuse what they can see of that; firmware without a log takes no
// flash for it, which would be 0.4 KB.
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
  /// the model, and the payload must stay as it is: after a change of it, call load() again before
  /// run(). Between runs the caller may use the arena for other things. A backend with
  /// Config::arena_at_init uses the same arena.
  ///
  /// A model that keeps a state from one run to the next keeps it in `state`: NET_STATE_BYTES,
  /// 16-byte aligned, which must outlive the model. Other models need no `state`.
  ///
  /// Errors: those of CmsisNnBackend::init(); InvalidArgument if the payload has more inputs
  /// and outputs than there is room for; MemoryAllocationFailed if the payload needs an arena or
  /// a state and that is null, too small or not 16-byte aligned, or, in builds with a log, if one
  /// of them overlaps the payload, a region that the payload uses, or the other one. After an error
  /// nothing is loaded. load() may be called again, after an error too.
  [[nodiscard]] executorch::runtime::Error load(const CmsisNnBackend& backend, const void* payload,
                                                std::size_t payload_bytes, void* arena,
                                                std::size_t arena_bytes, void* state = nullptr,
                                                std::size_t state_bytes = 0);

  /// Makes the next run the first one again. Errors: InvalidState before load().
  [[nodiscard]] executorch::runtime::Error reset();

  /// The number of inputs and outputs of the loaded payload; 0 before load().
  std::size_t tensor_count() const { return count_; }

  /// Describes tensor `index`: inputs come first, then outputs. If there is no such tensor, or
  /// before load(), returns a tensor of rank 0 with 0 bytes.
  const payload::IoTensor& tensor(std::size_t index) const;

  /// Returns the memory of tensor `index`; nullptr if there is no such tensor, or if it has no
  /// room in the arena and set_data() was not called.
  void* data(std::size_t index) const {
    return index < count_ ? impls_[index].mutable_data() : nullptr;
  }

  /// Makes run() read tensor `index` from `data`, or write it there. `data` has
  /// tensor(index).nbytes bytes, 4-byte aligned for floats and 2-byte aligned for int16, and must outlive run(), which checks
  /// it. The bytes must not be those of another tensor, the payload or the state, nor lie in the
  /// arena, except where the tensor has its room (what data() returned after load()), or in a
  /// region. Errors: InvalidState before load(); InvalidArgument if there is no such tensor, or, in
  /// builds with a log, for memory in the payload, the arena or a region.
  [[nodiscard]] executorch::runtime::Error set_data(std::size_t index, void* data);

  /// Computes the outputs. Errors: those of CmsisNnBackend::execute(), such as InvalidArgument for
  /// an index that is not in its table, with which the outputs are undefined; InvalidState before
  /// load(). If the backend was compiled with event tracer hooks, it reports each call to `tracer`.
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
  const payload::Header* payload_ = nullptr;
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
