// A validated payload, used in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/result.h>

#include "runtime/payload/calls.h"
#include "runtime/payload/format.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {

/// The parts of a payload. A view is one pointer; it does not own the payload, which must
/// stay where it is, unchanged, for as long as the view is used.
class PayloadView {
 public:
  /// Checks everything about the `size` bytes at `data` that running `kernels` on them relies
  /// on; validate.h says what is checked of the calls. `size` may exceed the payload's own size.
  ///
  /// Errors, each with one log line that says what is wrong:
  ///   InvalidArgument               `data` is not 16-byte aligned
  ///   DelegateInvalidCompatibility  made for another format version, kernel revision or
  ///                                 instruction set, or needs a kernel that `kernels` lacks
  ///   InvalidProgram                truncated or malformed
  [[nodiscard]] static executorch::runtime::Result<PayloadView> open(const void* data,
                                                                     std::size_t size,
                                                                     const KernelTable& kernels);

  /// Views a payload that open() has accepted.
  explicit PayloadView(const payload::Header& validated) : header_(&validated) {}

  const payload::Header& header() const { return *header_; }

  /// The base of constant references.
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(header_); }

  /// The revisions of the providers that calls were compiled for, one for each bit of
  /// header().providers.
  const std::uint32_t* revisions() const {
    return reinterpret_cast<const std::uint32_t*>(header_ + 1);
  }

  /// The inputs, then the outputs.
  const payload::IoTensor* tensors() const {
    return reinterpret_cast<const payload::IoTensor*>(data() + header_->header_bytes);
  }
  unsigned tensor_count() const { return header_->input_count + header_->output_count; }

  /// The sizes of the regions beside the arena, header().region_count of them.
  const std::uint32_t* region_bytes() const {
    return reinterpret_cast<const std::uint32_t*>(tensors() + tensor_count());
  }

  /// The base of the persistent memory, of the copied constants if there is none, of the regions if there are
  /// neither: these bases follow one another.
  unsigned persistent_base() const { return payload::kBaseIo + tensor_count(); }
  unsigned copies_base() const {
    return persistent_base() + (header_->persistent_bytes == 0 ? 0 : 1);
  }
  /// The base of the first region beside the arena; those of the others follow.
  unsigned region_base() const { return copies_base() + (header_->copied_bytes == 0 ? 0 : 1); }

  /// The calls in the order in which they run.
  Calls calls() const { return {data() + header_->calls_offset, header_->calls_bytes}; }

 private:
  const payload::Header* header_;
};

}  // namespace cmsis_nn_delegate
