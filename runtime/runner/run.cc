#include "runtime/runner/run.h"

#include "platforms/bsp/bsp.h"
#include "runtime/kernels/selected.h"
#include "runtime/payload/crc32.h"
#include "runtime/runner/report.h"
#ifndef CMSIS_NN_DELEGATE_NO_NULL_KERNELS
#include "runtime/runner/null_kernels.h"
#endif

namespace cmsis_nn_delegate::runner {

using executorch::runtime::Error;
using executorch::runtime::MemoryAllocator;

void fail(Error error, const char* what) {
  Line("ERROR").field("error", static_cast<std::uint32_t>(error)).text(what);
  bsp_exit(1);
}

namespace {

/// Returns the kernels that `job` asks for.
const KernelTable& kernels_for([[maybe_unused]] const Job& job) {
#ifndef CMSIS_NN_DELEGATE_NO_NULL_KERNELS
  if (job.error() == nullptr && job.has(kJobNullKernels)) {
    return kNullKernels;
  }
#endif
  return selected_kernels();
}

}  // namespace

Delegate start(const Job& job, const char* executor, bool program) {
  const KernelTable& kernels = kernels_for(job);
  Line("RUN")
      .field("core", bsp_core)
      .field("isa", bsp_isa)
      .field("kernels", kernels.provider->name)
      .field("executor", executor)
      .hex_field("revision", payload::kCmsisNnRevision);
  if (job.error() != nullptr) {
    fail(Error::InvalidArgument, job.error());
  }
  if (job.has(kJobProgram) != program) {
    fail(Error::InvalidArgument, program ? "the job holds a payload, this image runs a .pte"
                                         : "the job holds a .pte, this image runs a payload");
  }
#ifdef CMSIS_NN_DELEGATE_NO_NULL_KERNELS
  if (job.has(kJobNullKernels)) {
    fail(Error::NotSupported, "an image for given models has no null kernels");
  }
#endif
  Config config;
  config.verify_crc = job.has(kJobVerifyCrc);
  return {kernels, config};
}

void* take(MemoryAllocator& allocator, std::size_t bytes, const char* what) {
  void* memory = allocator.allocate(bytes, kJobAlignment);
  if (memory == nullptr) {
    fail(Error::MemoryAllocationFailed, what);
  }
  return memory;
}

void print_output(std::uint32_t set, std::size_t index, const void* data, std::uint32_t nbytes,
                  bool with_data) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  Line line("OUT");
  line.field("set", set).field("index", index).field("bytes", nbytes);
  line.hex_field("crc", crc32(bytes, nbytes));
  if (with_data) {
    line.data_field("data", bytes, nbytes);
  }
}

}  // namespace cmsis_nn_delegate::runner
