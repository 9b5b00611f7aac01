// The job in the board's mailbox; aot/cmsis_nn_delegate/runner/job.py describes its layout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/runner/job_format.h"

namespace cmsis_nn_delegate::runner {

/// A job whose parts lie inside the mailbox. The payload itself has not been checked.
class Job {
 public:
  /// Reads the job at `mailbox`, which is 16-byte aligned. If the job can be used, error() is null.
  Job(const std::uint8_t* mailbox, std::size_t size);

  /// What is wrong with the job, or nullptr.
  const char* error() const { return error_; }

  const std::uint8_t* mailbox() const { return mailbox_; }
  const JobHeader& header() const { return *header_; }
  bool has(JobFlag flag) const { return (header_->flags & flag) != 0; }
  const std::uint8_t* payload() const { return mailbox_ + header_->payload_offset; }
  std::size_t payload_bytes() const { return header_->payload_bytes; }
  std::uint32_t set_count() const { return header_->set_count; }
  std::uint32_t set_bytes() const { return header_->set_bytes; }

  /// The persistent memory before the first set; none if state_bytes() is 0.
  const std::uint8_t* state() const { return mailbox_ + header_->state_offset; }
  std::uint32_t state_bytes() const { return header_->state_bytes; }

  /// Returns the first input of set `index` < set_count(). Each following input starts at the next
  /// multiple of kJobAlignment.
  const std::uint8_t* set(std::uint32_t index) const {
    return mailbox_ + header_->inputs_offset + index * header_->set_bytes;
  }

 private:
  const std::uint8_t* mailbox_;
  const JobHeader* header_;
  const char* error_;
};

}  // namespace cmsis_nn_delegate::runner
