// A CallTracer that also prints what calls have written, as soon as they have: ##LAYER. For profile
// images: others contain nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/event_tracer.h>

#include "runtime/payload/bases.h"
#include "runtime/payload/crc32.h"
#include "runtime/runner/call_tracer.h"
#include "runtime/runner/job.h"
#include "runtime/runner/report.h"

namespace cmsis_nn_delegate::runner {

/// The tensors that a job wants to be printed.
class JobLayers {
 public:
  /// `job` has no error, and its mailbox has `size` bytes.
  JobLayers(const Job& job, std::size_t size)
      : layers_(reinterpret_cast<const JobLayer*>(job.mailbox() + job.header().layers_offset)),
        count_(job.header().layer_count),
        inside_(job.header().layers_offset % kJobAlignment == 0 &&
                job.header().layers_offset <= size &&
                count_ <= (size - job.header().layers_offset) / sizeof(JobLayer)) {}

  /// Whether all of them lie in the mailbox, and the memory that they name in [0, limits[base]).
  bool valid(const std::uint32_t* limits) const {
    if (!inside_) {
      return false;
    }
    for (const JobLayer& layer : *this) {
      const std::uint32_t limit = limits[layer.ref >> payload::kRefOffsetBits];
      const std::uint32_t offset = layer.ref & payload::kMaxRefOffset;
      if (offset > limit || layer.nbytes > limit - offset) {
        return false;
      }
    }
    return true;
  }

  const JobLayer* begin() const { return layers_; }
  const JobLayer* end() const { return layers_ + count_; }

 private:
  const JobLayer* layers_;
  std::size_t count_;
  bool inside_;
};

class LayerTracer final : public CallTracer {
 public:
  /// `ticks` and `capacity` are those of CallTracer. `bases` are those of the executions, and outlive this.
  LayerTracer(std::uint32_t* ticks, std::size_t capacity, const JobLayers& layers,
              const Bases& bases)
      : CallTracer(ticks, capacity), layers_(layers), bases_(bases) {}

  /// Says which input set is executed next.
  void begin(std::uint32_t set) { set_ = set; }

  void end_profiling_delegate(executorch::runtime::EventTracerEntry entry, const void* metadata,
                              std::size_t metadata_len) override {
    CallTracer::end_profiling_delegate(entry, metadata, metadata_len);
    std::uint32_t index = 0;
    for (const JobLayer& layer : layers_) {
      if (layer.call == static_cast<std::uint64_t>(entry.event_id)) {
        const auto* data = bases_.resolve<const std::uint8_t>(layer.ref);
        Line("LAYER")
            .field("set", set_)
            .field("index", index)
            .field("bytes", layer.nbytes)
            .hex_field("crc", crc32(data, layer.nbytes))
            .data_field("data", data, layer.nbytes);
      }
      ++index;
    }
  }

 private:
  const JobLayers layers_;
  const Bases& bases_;
  std::uint32_t set_ = 0;
};

}  // namespace cmsis_nn_delegate::runner
