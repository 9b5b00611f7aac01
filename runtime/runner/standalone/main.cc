// Firmware that runs the job in its mailbox with StandaloneModel, the delegate without ExecuTorch's
// executor.
//
// Memory from __arena_start upwards:
//   the state of the payload, and its copied constants
//   the regions of the payload beside its arena, as if they were other memories
//   the payload's arena
//   outputs that the payload does not keep in the arena; in profile images, the times of the calls
// Inputs that the payload keeps in the arena are copied there before each execution; others
// are read in place, from the job.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <executorch/runtime/backend/interface.h>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/payload/crc32.h"
#include "runtime/payload/format.h"
#include "runtime/payload/view.h"
#include "runtime/runner/job.h"
#include "runtime/runner/regions.h"
#include "runtime/runner/report.h"
#include "runtime/runner/run.h"
#include "runtime/standalone/model.h"
#ifdef ET_EVENT_TRACER_ENABLED
#include "runtime/payload/bases.h"
#include "runtime/runner/layer_tracer.h"
#endif

namespace cmsis_nn_delegate::runner {
namespace {

using executorch::runtime::Error;
using executorch::runtime::MemoryAllocator;

/// Measures the delegate without the work that StandaloneModel does around it.
class MeasuredBackend final : public CmsisNnBackend {
 public:
  /// Each init() and execute() sets `ticks` to the ticks that it took.
  MeasuredBackend(const Delegate& delegate, std::uint64_t& ticks)
      : CmsisNnBackend(delegate.kernels, delegate.config), ticks_(ticks) {}

  executorch::runtime::Result<executorch::runtime::DelegateHandle*> init(
      executorch::runtime::BackendInitContext& context,
      executorch::runtime::FreeableBuffer* processed,
      executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> specs) const override {
    const std::uint64_t start = bsp_ticks();
    MARK_BEGIN();
    auto handle = CmsisNnBackend::init(context, processed, specs);
    MARK_END();
    ticks_ = bsp_ticks() - start;
    return handle;
  }

  Error execute(executorch::runtime::BackendExecutionContext& context,
                executorch::runtime::DelegateHandle* handle,
                executorch::runtime::Span<executorch::runtime::EValue*> args) const override {
    const std::uint64_t start = bsp_ticks();
    MARK_BEGIN();
    const Error error = CmsisNnBackend::execute(context, handle, args);
    MARK_END();
    ticks_ = bsp_ticks() - start;
    return error;
  }

 private:
  std::uint64_t& ticks_;
};

StandaloneModel<payload::kMaxIo> model;
Regions regions;

bool in_arena(std::size_t tensor) {
  return model.tensor(tensor).arena_offset != payload::kNoArenaOffset;
}

void set_data(std::size_t tensor, void* data) {
  const Error error = model.set_data(tensor, data);
  if (error != Error::Ok) {
    fail(error, "set_data()");
  }
}

/// Returns the bytes of one input set of a job.
std::uint32_t set_bytes(const payload::Header& header) {
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < header.input_count; ++i) {
    bytes += padded(model.tensor(i).nbytes);
  }
  return bytes;
}

void place_outputs(const payload::Header& header, MemoryAllocator& rest) {
  for (std::size_t i = header.input_count; i < model.tensor_count(); ++i) {
    if (!in_arena(i)) {
      set_data(i,
               take(rest, model.tensor(i).nbytes, "the board's RAM is too small for the outputs"));
    }
  }
}

void set_inputs(const payload::Header& header, const std::uint8_t* set) {
  for (std::size_t i = 0; i < header.input_count; ++i) {
    const std::uint32_t nbytes = model.tensor(i).nbytes;
    if (in_arena(i)) {
      std::memcpy(model.data(i), set, nbytes);
    } else {
      set_data(i, const_cast<std::uint8_t*>(set));
    }
    set += padded(nbytes);
  }
}

void print_outputs(const payload::Header& header, std::uint32_t set, bool with_data) {
  for (std::size_t i = header.input_count; i < model.tensor_count(); ++i) {
    print_output(set, i - header.input_count, model.data(i), model.tensor(i).nbytes, with_data);
  }
}

#ifdef ET_EVENT_TRACER_ENABLED
void print_calls(const payload::Header& header, std::uint32_t set, const CallTracer& tracer) {
  std::uint32_t index = 0;
  for (const Call& call : PayloadView(header).calls()) {
    Line("CALL")
        .field("set", set)
        .field("call", index)
        .field("opcode", call.opcode)
        .field("ticks", tracer.ticks(index));
    ++index;
  }
}

/// The memory of an execution: what references of the payload may name, and how many bytes.
struct Memory {
  Bases bases = {};
  std::uint32_t limits[payload::kBaseCount] = {};

  void set(std::size_t base, void* data, std::uint32_t bytes) {
    bases[base] = static_cast<std::uint8_t*>(data);
    limits[base] = bytes;
  }

  /// Must be called before each execution, as inputs may lie elsewhere.
  void set_tensors() {
    for (std::size_t i = 0; i < model.tensor_count(); ++i) {
      set(payload::kBaseIo + i, model.data(i), model.tensor(i).nbytes);
    }
  }
};
#endif

/// Returns the bytes that load() needs for the state and the copied constants of the job's payload, which is not
/// validated yet; 0 if the payload has neither, or they do not fit into `room` bytes.
std::uint32_t state_bytes_of(const Job& job, std::size_t room) {
  if (job.payload_bytes() < sizeof(payload::Header)) {
    return 0;
  }
  const auto& header = *reinterpret_cast<const payload::Header*>(job.payload());
  const std::uint64_t kept = std::uint64_t{header.persistent_bytes} + header.copied_bytes;
  const bool fits = payload::kStateOffset + kept <= room;
  return kept == 0 || !fits ? 0 : static_cast<std::uint32_t>(payload::kStateOffset + kept);
}

void run() {
  const Job job(__mailbox_start, static_cast<std::size_t>(__mailbox_end - __mailbox_start));
  std::uint64_t ticks = 0;
  Delegate delegate = start(job, "standalone", /*program=*/false);
  const auto ram_bytes = static_cast<std::size_t>(__arena_end - __arena_start);
  const std::uint32_t state_bytes = state_bytes_of(job, ram_bytes);
  regions.add(job.payload(), job.payload_bytes());
  const std::uint32_t regions_bytes =
      regions.place(__arena_start + state_bytes, ram_bytes - state_bytes);
  delegate.config.regions = regions.data();
  delegate.config.region_count = regions.count();
  const MeasuredBackend backend(delegate, ticks);
  std::uint8_t* const arena = __arena_start + state_bytes + regions_bytes;
  const Error loaded =
      model.load(backend, job.payload(), job.payload_bytes(), arena,
                 ram_bytes - state_bytes - regions_bytes, __arena_start, state_bytes);
  // The payload's header may be used only if load() accepted it.
  const auto& header = *reinterpret_cast<const payload::Header*>(job.payload());
  Line("INIT")
      .field("error", static_cast<std::uint32_t>(loaded))
      .field("ticks", ticks)
      .field("runtime_bytes", state_bytes == 0 ? kHandleBytes : state_bytes)
      .field("arena_bytes", loaded == Error::Ok ? header.arena_bytes : 0);
  if (loaded != Error::Ok) {
    fail(loaded, loaded == Error::MemoryAllocationFailed
                     ? "the board's RAM is too small for the arena, the regions and the state"
                     : "init() refused the payload");
  }
  if (job.has(kJobReset)) {
    fail(Error::NotSupported, "the standalone executor resets no states between sets");
  }
  if (job.set_count() != 0 && job.set_bytes() != set_bytes(header)) {
    fail(Error::InvalidArgument, "the job's input sets have another size than the payload's");
  }
  std::uint8_t* const state = __arena_start + payload::kStateOffset;
  if (job.state_bytes() != 0) {
    if (job.state_bytes() != header.persistent_bytes) {
      fail(Error::InvalidArgument, "the job's state has another size than the payload's");
    }
    std::memcpy(state, job.state(), job.state_bytes());
  }
  MemoryAllocator rest = pool(arena + header.arena_bytes, __arena_end);
  place_outputs(header, rest);
#ifdef ET_EVENT_TRACER_ENABLED
  Memory memory;
  memory.set(payload::kBaseArena, arena, header.arena_bytes);
  memory.set_tensors();
  if (header.persistent_bytes != 0) {
    memory.set(PayloadView(header).persistent_base(), state, header.persistent_bytes);
  }
  for (std::size_t i = 0; i < header.region_count; ++i) {
    memory.set(PayloadView(header).region_base() + i, regions.data()[i].data,
               static_cast<std::uint32_t>(regions.data()[i].bytes));
  }
  const JobLayers layers(job, static_cast<std::size_t>(__mailbox_end - __mailbox_start));
  if (!layers.valid(memory.limits)) {
    fail(Error::InvalidArgument, "the job names layers outside of the payload's memory");
  }
  LayerTracer tracer(
      static_cast<std::uint32_t*>(take(rest, header.call_count * sizeof(std::uint32_t),
                                       "the board's RAM is too small to profile")),
      header.call_count, layers, memory.bases);
  executorch::runtime::EventTracer* const observer = &tracer;
#else
  executorch::runtime::EventTracer* const observer = nullptr;
#endif

  for (std::uint32_t set = 0; set < job.set_count(); ++set) {
    set_inputs(header, job.set(set));
#ifdef ET_EVENT_TRACER_ENABLED
    memory.set_tensors();
    tracer.begin(set);
#endif
    const Error error = model.run(observer);
    Line("EXEC")
        .field("set", set)
        .field("error", static_cast<std::uint32_t>(error))
        .field("ticks", ticks);
    if (error != Error::Ok) {
      fail(error, "execute()");
    }
#ifdef ET_EVENT_TRACER_ENABLED
    print_calls(header, set, tracer);
#endif
    print_outputs(header, set, job.has(kJobPrintOutputs));
  }
  if (job.has(kJobPrintState)) {
    Line("STATE")
        .field("bytes", header.persistent_bytes)
        .hex_field("crc", crc32(state, header.persistent_bytes))
        .data_field("data", state, header.persistent_bytes);
  }
  Line("STACK").field("bytes", bsp_stack_high_water());
}

}  // namespace
}  // namespace cmsis_nn_delegate::runner

int main() {
  cmsis_nn_delegate::runner::run();
  return 0;
}
