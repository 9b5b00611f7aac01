#include "runtime/payload/validate.h"

#include <executorch/runtime/platform/log.h>

#include <cinttypes>

#include "runtime/payload/bounds.h"
#include "runtime/payload/call_check.h"
#include "runtime/payload/kernel_names.h"

namespace cmsis_nn_delegate {

using executorch::runtime::Error;
using payload::kOpcodeCount;

Error validate_calls(const PayloadView& view, const KernelTable& kernels) {
  std::uint32_t remaining = view.header().calls_bytes;
  Calls::Iterator next = view.calls().begin();
  const bounds::Regions regions(view.header(), view.tensors());
  // PayloadView has compared their revisions with the table's.
  const std::uint32_t named = view.header().providers;
  CallCheck check(view.data(), regions);
  std::uint32_t index = 0;
  for (; remaining >= sizeof(payload::CallHeader); ++index) {
    const Call& call = *next;
    // A newer compiler has more opcodes.
    const Kernel* const kernel = call.opcode < kOpcodeCount ? kernels.find(call.opcode) : nullptr;
    if (kernel == nullptr) {
      if (call.opcode == 0) {
        ET_LOG(Error, "malformed payload: call %" PRIu32 ": opcode 0", index);
        return Error::InvalidProgram;
      }
      ET_LOG(Error, "call %" PRIu32 ": the table \"%s\" lacks kernel %u (%s): link it", index,
             kernels.provider->name, static_cast<unsigned>(call.opcode),
             call.opcode < kOpcodeCount ? kKernelNames[call.opcode] : "of a later version");
      return Error::DelegateInvalidCompatibility;
    }
    if ((kernel->providers & call.provider & named) == 0) {
      ET_LOG(
          Error,
          "call %" PRIu32
          ": compiled for providers 0x%02x (bits of %s), but the table \"%s\" has a kernel %u (%s) "
          "that does not accept their calls: link theirs, or compile the model for this table",
          index, static_cast<unsigned>(call.provider), payload::kProviders, kernels.provider->name,
          static_cast<unsigned>(call.opcode), kKernelNames[call.opcode]);
      return Error::DelegateInvalidCompatibility;
    }
    if (call.bytes != kernel->call_bytes || call.bytes > remaining) {
      ET_LOG(Error, "malformed payload: call %" PRIu32 ": wrong size, or past the end", index);
      return Error::InvalidProgram;
    }
    check.look_at(*kernel, index, call);
    if (!kernel->check(check, check.args())) {
      return Error::InvalidProgram;
    }
    ++next;
    remaining -= call.bytes;
  }
  // Without a call, nothing would write the outputs.
  if (remaining != 0 || index != view.header().call_count || index == 0) {
    ET_LOG(Error,
           "malformed payload: %" PRIu32 " calls and %" PRIu32
           " trailing bytes; the header says %" PRIu32 " calls, and a payload has at least one",
           index, remaining, view.header().call_count);
    return Error::InvalidProgram;
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate
