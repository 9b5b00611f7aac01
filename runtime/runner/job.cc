#include "runtime/runner/job.h"

namespace cmsis_nn_delegate::runner {
namespace {

const char* check(const JobHeader& header, std::size_t size) {
  if (size < sizeof(JobHeader) || header.magic != kJobMagic) {
    return "no job in the mailbox";
  }
  if (header.version != kJobVersion) {
    return "the job has another version than this image";
  }
  const std::uint64_t inputs_bytes =
      static_cast<std::uint64_t>(header.set_count) * header.set_bytes;
  if (header.payload_offset % kJobAlignment != 0 || header.inputs_offset % kJobAlignment != 0 ||
      header.set_bytes % kJobAlignment != 0 || header.payload_offset > size ||
      header.payload_bytes > size - header.payload_offset || header.inputs_offset > size ||
      inputs_bytes > size - header.inputs_offset || header.state_offset > size ||
      header.state_bytes > size - header.state_offset) {
    return "the job is misaligned or larger than the mailbox";
  }
  return nullptr;
}

}  // namespace

Job::Job(const std::uint8_t* mailbox, std::size_t size)
    : mailbox_(mailbox),
      header_(reinterpret_cast<const JobHeader*>(mailbox)),
      error_(check(*header_, size)) {}

}  // namespace cmsis_nn_delegate::runner
