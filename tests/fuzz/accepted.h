// A payload that init() has accepted: what it asks for, and how to execute it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/memory_allocator.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/payload/format.h"
#include "tests/fuzz/operands.h"

namespace cmsis_nn_delegate {
namespace fuzz {

class Accepted {
 public:
  /// `payload` must outlive this.
  explicit Accepted(const std::uint8_t* payload) : payload_(payload) {}

  const payload::Header& header() const {
    return *reinterpret_cast<const payload::Header*>(payload_);
  }
  /// Inputs, then outputs.
  const payload::IoTensor& tensor(unsigned index) const {
    return reinterpret_cast<const payload::IoTensor*>(payload_ + header().tensors_offset)[index];
  }
  unsigned tensor_count() const { return header().input_count + header().output_count; }
  bool is_input(unsigned index) const { return index < header().input_count; }

  /// `visit(opcode, args)` for each call.
  template <typename Visit>
  void for_each_call(Visit visit) const {
    const std::uint8_t* at = payload_ + header().calls_offset;
    for (std::uint32_t i = 0; i < header().call_count; ++i) {
      const auto& call = *reinterpret_cast<const payload::CallHeader*>(at);
      visit(call.opcode, &call + 1);
      at += call.bytes;
    }
  }

  /// Of the arena, inputs and outputs.
  std::uint64_t memory() const {
    std::uint64_t bytes = header().arena_bytes;
    for (unsigned i = 0; i < tensor_count(); ++i) {
      bytes += tensor(i).nbytes;
    }
    return bytes;
  }

  /// A bound of what the calls compute, see operands.h.
  std::uint64_t work() const {
    std::uint64_t sum = 0;
    for_each_call(
        [&](std::uint16_t opcode, const void* args) { sum += operands_of(opcode, args).work; });
    return sum;
  }

  /// Executes with an arena of exactly header().arena_bytes, and tensors at `data`.
  executorch::runtime::Error execute(const CmsisNnBackend& backend,
                                     executorch::runtime::DelegateHandle* handle,
                                     std::uint8_t* arena, std::uint8_t* const* data) const {
    using executorch::runtime::EValue;
    using executorch::runtime::etensor::ScalarType;
    using executorch::runtime::etensor::Tensor;
    using executorch::runtime::etensor::TensorImpl;
    alignas(TensorImpl) unsigned char impls[payload::kMaxIo][sizeof(TensorImpl)];
    EValue values[payload::kMaxIo];
    EValue* pointers[payload::kMaxIo];
    for (unsigned i = 0; i < tensor_count(); ++i) {
      auto* impl =
          new (impls[i]) TensorImpl(static_cast<ScalarType>(tensor(i).dtype), tensor(i).rank,
                                    const_cast<std::int32_t*>(tensor(i).sizes), data[i],
                                    const_cast<std::uint8_t*>(tensor(i).dim_order));
      values[i] = EValue(Tensor(impl));
      pointers[i] = &values[i];
    }
    executorch::runtime::MemoryAllocator temp(header().arena_bytes, arena);
    executorch::runtime::BackendExecutionContext context(nullptr, &temp, "forward");
    return backend.execute(context, handle, {pointers, tensor_count()});
  }

 private:
  const std::uint8_t* payload_;
};

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
