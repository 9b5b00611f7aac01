// A payload that init() has accepted: its memory and work, and how to execute it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/memory_allocator.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/payload/view.h"
#include "tests/fuzz/operands.h"

namespace cmsis_nn_delegate::fuzz {

class Accepted : public PayloadView {
 public:
  /// `payload` must outlive this.
  explicit Accepted(const std::uint8_t* payload)
      : PayloadView(*reinterpret_cast<const payload::Header*>(payload)) {}

  const payload::IoTensor& tensor(unsigned index) const { return tensors()[index]; }
  bool is_input(unsigned index) const { return index < header().input_count; }

  /// Bytes of the arena, the regions beside it, inputs and outputs.
  std::uint64_t memory() const {
    std::uint64_t bytes = header().arena_bytes;
    for (unsigned i = 0; i < header().region_count; ++i) {
      bytes += region_bytes()[i];
    }
    for (unsigned i = 0; i < tensor_count(); ++i) {
      bytes += tensor(i).nbytes;
    }
    return bytes;
  }

  /// An upper bound of the work of all calls, see operands.h.
  std::uint64_t work() const {
    std::uint64_t sum = 0;
    for (const Call& call : calls()) {
      sum += operands_of(call.opcode, call.args()).work;
    }
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
};

}  // namespace cmsis_nn_delegate::fuzz
