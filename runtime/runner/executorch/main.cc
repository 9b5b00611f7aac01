// Firmware that runs the job in its mailbox with ExecuTorch's own executor: the job's payload is a
// .pte, read in place.
//
// Memory from __arena_start upwards; the report has the sizes, from which a product can choose its own:
//   regions           of the delegate's payloads beside their arenas, as if they were other memories
//   planned buffers   as the program says
//   outputs           those that the program does not plan
//   method pool       what loading takes; kMethodPoolBytes
//   temp pool         the rest: arenas of delegates, scratch memory of kernels
#include <cstddef>
#include <cstdint>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"
#include "runtime/backend/register.h"
#include "runtime/runner/executorch/delegate_payloads.h"
#include "runtime/runner/executorch/missing_kernels.h"
#include "runtime/runner/job.h"
#include "runtime/runner/regions.h"
#include "runtime/runner/report.h"
#include "runtime/runner/run.h"
#ifdef ET_EVENT_TRACER_ENABLED
#include "runtime/runner/call_tracer.h"
#endif

namespace cmsis_nn_delegate::runner {
namespace {

using executorch::extension::BufferDataLoader;
using executorch::runtime::BackendOptions;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Method;
using executorch::runtime::MethodMeta;
using executorch::runtime::Program;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::TensorInfo;
using executorch::runtime::etensor::Tensor;
using executorch::runtime::etensor::TensorImpl;

constexpr char kMethodName[] = "forward";
constexpr std::uint32_t kMethodPoolBytes = 32 * 1024;
constexpr std::size_t kMaxPlannedBuffers = 8;
#ifdef ET_EVENT_TRACER_ENABLED
constexpr std::size_t kMaxCalls = 256;
#endif

/// Returns the value of `result`, or ends the run.
template <typename T>
const T& value_of(const Result<T>& result, const char* what) {
  if (!result.ok()) {
    fail(result.error(), what);
  }
  return *result;
}

/// A pool that records the most that was ever taken from it.
class TempPool final : public MemoryAllocator {
 public:
  using MemoryAllocator::MemoryAllocator;

  void* allocate(std::size_t size, std::size_t alignment) override {
    void* memory = MemoryAllocator::allocate(size, alignment);
    if (used_size() > most_) {
      most_ = used_size();
    }
    return memory;
  }

  std::size_t most() const { return most_; }

 private:
  std::size_t most_ = 0;
};

/// The planned buffers of a method, taken from `ram`.
class PlannedBuffers {
 public:
  PlannedBuffers(const MethodMeta& meta, MemoryAllocator& ram)
      : count_(meta.num_memory_planned_buffers()) {
    if (count_ > kMaxPlannedBuffers) {
      fail(Error::NotSupported, "the program has more than 8 planned buffers");
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const auto bytes = meta.memory_planned_buffer_size(i);
      const auto size = static_cast<std::size_t>(value_of(bytes, "memory_planned_buffer_size()"));
      auto* data = static_cast<std::uint8_t*>(
          take(ram, size, "the board's RAM is too small for the planned buffers"));
      buffers_[i] = {data, size};
      bytes_ += size;
    }
  }

  Span<Span<std::uint8_t>> span() { return {buffers_, count_}; }
  std::size_t bytes() const { return bytes_; }

 private:
  Span<std::uint8_t> buffers_[kMaxPlannedBuffers];
  std::size_t count_;
  std::size_t bytes_ = 0;
};

/// Returns the bytes of one input set of a job.
std::uint32_t set_bytes(const MethodMeta& meta) {
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < meta.num_inputs(); ++i) {
    const auto info = meta.input_tensor_meta(i);
    bytes += padded(value_of(info, "an input of the program is no tensor").nbytes());
  }
  return bytes;
}

/// Returns the bytes of the outputs that the program does not plan.
std::uint32_t unplanned_output_bytes(const MethodMeta& meta) {
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < meta.num_outputs(); ++i) {
    const auto result = meta.output_tensor_meta(i);
    const TensorInfo& info = value_of(result, "an output of the program is no tensor");
    bytes += info.is_memory_planned() ? 0 : padded(info.nbytes());
  }
  return bytes;
}

/// Gives each output that the program does not plan its part of `memory`.
void place_outputs(Method& method, std::uint8_t* memory) {
  const MethodMeta meta = method.method_meta();
  for (std::size_t i = 0; i < meta.num_outputs(); ++i) {
    const auto info = meta.output_tensor_meta(i);
    if (info->is_memory_planned()) {
      continue;
    }
    const Error error = method.set_output_data_ptr(memory, info->nbytes(), i);
    if (error != Error::Ok) {
      fail(error, "set_output_data_ptr()");
    }
    memory += padded(info->nbytes());
  }
}

/// Copies the inputs in `set` to where the program plans them; the method reads others in place.
void set_inputs(Method& method, const std::uint8_t* set) {
  const MethodMeta meta = method.method_meta();
  for (std::size_t i = 0; i < meta.num_inputs(); ++i) {
    const auto result = meta.input_tensor_meta(i);
    const TensorInfo& info = value_of(result, "an input of the program is no tensor");
    TensorImpl impl(info.scalar_type(), static_cast<ssize_t>(info.sizes().size()),
                    const_cast<std::int32_t*>(info.sizes().data()), const_cast<std::uint8_t*>(set),
                    const_cast<std::uint8_t*>(info.dim_order().data()));
    const Error error = method.set_input(EValue(Tensor(&impl)), i);
    if (error != Error::Ok) {
      fail(error, "set_input()");
    }
    set += padded(info.nbytes());
  }
}

/// Makes the states of all delegates begin anew, in the way that ExecuTorch has for this. A function
/// of its own, so that the options, 300 bytes, are not on the stack while the method runs.
[[gnu::noinline]] void reset_states() {
  BackendOptions<1> options;
  Error error = options.set_option(kResetOption, true);
  if (error == Error::Ok) {
    error = executorch::runtime::set_option(kBackendId, options.view());
  }
  if (error != Error::Ok) {
    fail(error, "set_option()");
  }
}

void print_outputs(const Method& method, std::uint32_t set, bool with_data) {
  for (std::size_t i = 0; i < method.outputs_size(); ++i) {
    const Tensor& tensor = method.get_output(i).toTensor();
    print_output(set, i, tensor.const_data_ptr(), tensor.nbytes(), with_data);
  }
}

#ifdef ET_EVENT_TRACER_ENABLED
/// Prints the calls of one delegate. The program's ETRecord says what each call is.
void print_calls(std::uint32_t set, const CallTracer& tracer) {
  if (tracer.count() > kMaxCalls) {
    fail(Error::NotSupported, "the program has more than 256 calls");
  }
  for (std::size_t call = 0; call < tracer.count(); ++call) {
    Line("CALL").field("set", set).field("call", call).field("ticks", tracer.ticks(call));
  }
}
#endif

[[noreturn]] void fail_to_load(Error error, const Job& job) {
  if (error == Error::OperatorMissing) {
    {
      Line line("ERROR");
      line.field("error", static_cast<std::uint32_t>(error));
      line.text("this image lacks the kernels of");
      name_missing_kernels(job.payload(), kMethodName, line);
    }
    bsp_exit(1);
  }
  fail(error, "load_method() refused the program");
}

/// Returns the regions that the delegates of the job's program need, not placed yet; none if the program cannot be
/// loaded.
Regions regions_of(const Job& job) {
  Regions regions;
  BufferDataLoader loader(job.payload(), job.payload_bytes());
  if (Program::load(&loader).ok()) {
    add_regions_of_delegates(job.payload(), job.payload_bytes(), kMethodName, regions);
  }
  return regions;
}

void run() {
  const Job job(__mailbox_start, static_cast<std::size_t>(__mailbox_end - __mailbox_start));
  Delegate delegate = start(job, "executorch", /*program=*/true);
  if (job.state_bytes() != 0 || job.has(kJobPrintState)) {
    fail(Error::NotSupported, "ExecuTorch's executor hands out no states");
  }
  executorch::runtime::runtime_init();
  Regions regions = regions_of(job);
  std::uint8_t* const memory_start =
      __arena_start +
      regions.place(__arena_start, static_cast<std::size_t>(__arena_end - __arena_start));
  delegate.config.regions = regions.data();
  delegate.config.region_count = regions.count();
  const Error registered = register_cmsis_nn_backend(delegate.kernels, delegate.config);
  if (registered != Error::Ok) {
    fail(registered, "register_backend");
  }

  MemoryAllocator ram = pool(memory_start, __arena_end);
  constexpr char kNoRoom[] = "the board's RAM is too small for the method pool";
  MemoryAllocator method_pool(kMethodPoolBytes,
                              static_cast<std::uint8_t*>(take(ram, kMethodPoolBytes, kNoRoom)));

  std::uint64_t start_ticks = bsp_ticks();
  MARK_BEGIN();
  BufferDataLoader loader(job.payload(), job.payload_bytes());
  const auto program = Program::load(&loader);
  const auto meta =
      value_of(program, "Program::load() refused the program").method_meta(kMethodName);
  PlannedBuffers planned(value_of(meta, "the program has no method forward"), ram);
  auto* outputs = static_cast<std::uint8_t*>(
      take(ram, unplanned_output_bytes(*meta), "the board's RAM is too small for the outputs"));
  TempPool temp_pool(ram.free_size(), __arena_end - ram.free_size());
  HierarchicalAllocator planned_memory(planned.span());
  MemoryManager memory(&method_pool, &planned_memory, &temp_pool);
#ifdef ET_EVENT_TRACER_ENABLED
  static std::uint32_t call_ticks[kMaxCalls];
  CallTracer tracer(call_ticks, kMaxCalls);
  auto method = program->load_method(kMethodName, &memory, &tracer);
#else
  auto method = program->load_method(kMethodName, &memory);
#endif
  MARK_END();
  const std::uint64_t load_ticks = bsp_ticks() - start_ticks;
  Line("INIT")
      .field("error", static_cast<std::uint32_t>(method.error()))
      .field("ticks", load_ticks)
      .field("runtime_bytes", method_pool.used_size())
      .field("arena_bytes", planned.bytes());
  if (!method.ok()) {
    fail_to_load(method.error(), job);
  }
  if (job.set_count() != 0 && job.set_bytes() != set_bytes(*meta)) {
    fail(Error::InvalidArgument, "the job's input sets have another size than the program's");
  }
  place_outputs(*method, outputs);

  for (std::uint32_t set = 0; set < job.set_count(); ++set) {
    set_inputs(*method, job.set(set));
    if (job.has(kJobReset)) {
      reset_states();
    }
#ifdef ET_EVENT_TRACER_ENABLED
    tracer.reset();
#endif
    start_ticks = bsp_ticks();
    MARK_BEGIN();
    const Error error = method->execute();
    MARK_END();
    const std::uint64_t ticks = bsp_ticks() - start_ticks;
    Line("EXEC")
        .field("set", set)
        .field("error", static_cast<std::uint32_t>(error))
        .field("ticks", ticks);
    if (error != Error::Ok) {
      fail(error, "execute()");
    }
#ifdef ET_EVENT_TRACER_ENABLED
    print_calls(set, tracer);
#endif
    print_outputs(*method, set, job.has(kJobPrintOutputs));
  }
  Line("MEMORY")
      .field("method", method_pool.used_size())
      .field("planned", planned.bytes())
      .field("temp", temp_pool.most())
      .field("objects", sizeof(loader) + sizeof(program) + sizeof(method));
  Line("STACK").field("bytes", bsp_stack_high_water());
}

}  // namespace
}  // namespace cmsis_nn_delegate::runner

int main() {
  cmsis_nn_delegate::runner::run();
  return 0;
}
