// The smallest useful ExecuTorch EventTracer: it takes the ticks of each delegate call, and sets
// markers around the call for the simulator's instruction count.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/event_tracer.h>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"

namespace cmsis_nn_delegate::runner {

/// Keeps the ticks of calls 0 to capacity - 1 of one execution, and ignores other events.
class CallTracer : public executorch::runtime::EventTracer {
 public:
  /// `ticks` has room for `capacity` calls and outlives the tracer.
  CallTracer(std::uint32_t* ticks, std::size_t capacity) : ticks_(ticks), capacity_(capacity) {}

  std::uint32_t ticks(std::size_t call) const { return ticks_[call]; }

  /// How many calls have ended since the last reset(), including calls that there was no room for.
  std::size_t count() const { return count_; }
  void reset() { count_ = 0; }

  executorch::runtime::EventTracerEntry start_profiling_delegate(
      const char* /*name*/, executorch::runtime::DelegateDebugIntId call) override {
    executorch::runtime::EventTracerEntry entry = {};
    entry.event_id = call;
    entry.delegate_event_id_type = executorch::runtime::DelegateDebugIdType::kInt;
    entry.start_time = bsp_ticks();
    MARK_BEGIN();
    return entry;
  }

  void end_profiling_delegate(executorch::runtime::EventTracerEntry entry, const void* /*metadata*/,
                              std::size_t /*metadata_len*/) override {
    MARK_END();
    const auto call = static_cast<std::uint64_t>(entry.event_id);
    if (call < capacity_) {
      ticks_[call] = static_cast<std::uint32_t>(bsp_ticks() - entry.start_time);
    }
    ++count_;
  }

  void log_profiling_delegate(const char*, executorch::runtime::DelegateDebugIntId, et_timestamp_t,
                              et_timestamp_t, const void*, std::size_t) override {}

  // Events of programs and operators are ignored: only the delegate's calls are timed.
  void create_event_block(const char*) override {}
  executorch::runtime::EventTracerEntry start_profiling(const char*, executorch::runtime::ChainID,
                                                        executorch::runtime::DebugHandle) override {
    return {};
  }
  void end_profiling(executorch::runtime::EventTracerEntry) override {}
  void track_allocation(executorch::runtime::AllocatorID, std::size_t) override {}
  executorch::runtime::AllocatorID track_allocator(const char*) override { return 0; }

  // Values are ignored: this tracer only measures time.
  executorch::runtime::Result<bool> log_evalue(const executorch::runtime::EValue&,
                                               executorch::runtime::LoggedEValueType) override {
    return false;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char*, executorch::runtime::DelegateDebugIntId,
      const executorch::aten::Tensor&) override {
    return false;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char*, executorch::runtime::DelegateDebugIntId,
      const executorch::runtime::ArrayRef<executorch::aten::Tensor>) override {
    return false;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char*, executorch::runtime::DelegateDebugIntId, const int&) override {
    return false;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char*, executorch::runtime::DelegateDebugIntId, const bool&) override {
    return false;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char*, executorch::runtime::DelegateDebugIntId, const double&) override {
    return false;
  }
  void set_delegation_intermediate_output_filter(
      executorch::runtime::EventTracerFilterBase*) override {}

 private:
  std::uint32_t* ticks_;
  std::size_t capacity_;
  std::size_t count_ = 0;
};

}  // namespace cmsis_nn_delegate::runner
