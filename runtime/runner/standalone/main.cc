// Firmware that runs the job in its mailbox through the delegate, without ExecuTorch's
// executor: the part of Method that loads and executes a DelegateCall, by hand.
//
// Memory, from __arena_start upwards:
//   method pool   handle, tensors, EValues, call times; kMethodPoolBytes
//   temp pool     exactly the payload's arena; reset before every execution, as Method does
//   the rest      outputs that the payload does not keep in the arena
// Inputs that the payload keeps in the arena are copied there before each execution; others
// are read where the job has them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/evalue.h>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"
#include "runtime/backend/register.h"
#include "runtime/payload/format.h"
#include "runtime/payload/view.h"
#include "runtime/runner/job.h"
#include "runtime/runner/report.h"
#include "runtime/runner/run.h"
#ifdef ET_EVENT_TRACER_ENABLED
#include "runtime/runner/call_tracer.h"
#endif

namespace cmsis_nn_delegate {
namespace runner {
namespace {

using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::BackendInterface;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::Span;
using executorch::runtime::etensor::ScalarType;
using executorch::runtime::etensor::Tensor;
using executorch::runtime::etensor::TensorImpl;

constexpr std::uint32_t kMethodPoolBytes = 8 * 1024;

/// The arguments of a delegate call: one tensor per input and output of the payload.
class Arguments {
 public:
  /// `header` was validated by init(); `arena` is where the delegate's arena will be.
  Arguments(const payload::Header& header, std::uint8_t* arena, MemoryAllocator& method_pool,
            MemoryAllocator& rest)
      : inputs_(header.input_count), count_(inputs_ + header.output_count), arena_(arena) {
    const auto* base = reinterpret_cast<const std::uint8_t*>(&header);
    tensors_ = reinterpret_cast<const payload::IoTensor*>(base + header.tensors_offset);
    constexpr char kNoRoom[] = "the method pool is too small for the tensors";
    impls_ = static_cast<TensorImpl*>(take(method_pool, count_ * sizeof(TensorImpl), kNoRoom));
    auto* values = static_cast<EValue*>(take(method_pool, count_ * sizeof(EValue), kNoRoom));
    values_ = static_cast<EValue**>(take(method_pool, count_ * sizeof(EValue*), kNoRoom));
    for (std::size_t i = 0; i < count_; ++i) {
      const payload::IoTensor& tensor = tensors_[i];
      std::uint8_t* data = nullptr;  // an input of the job: known at execution
      if (tensor.arena_offset != payload::kNoArenaOffset) {
        data = arena + tensor.arena_offset;
      } else if (i >= inputs_) {
        data = static_cast<std::uint8_t*>(
            take(rest, tensor.nbytes, "the board's RAM is too small for the outputs"));
      }
      // The delegate reads sizes and dimension order only; strides follow from them.
      new (&impls_[i]) TensorImpl(static_cast<ScalarType>(tensor.dtype), tensor.rank,
                                  const_cast<std::int32_t*>(tensor.sizes), data,
                                  const_cast<std::uint8_t*>(tensor.dim_order));
      values_[i] = new (&values[i]) EValue(Tensor(&impls_[i]));
    }
  }

  Span<EValue*> span() const { return {values_, count_}; }

  /// Bytes of an input set of a job.
  std::uint32_t set_bytes() const {
    std::uint32_t bytes = 0;
    for (std::size_t i = 0; i < inputs_; ++i) {
      bytes += padded(tensors_[i].nbytes);
    }
    return bytes;
  }

  void set_inputs(const std::uint8_t* set) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (tensors_[i].arena_offset != payload::kNoArenaOffset) {
        std::memcpy(arena_ + tensors_[i].arena_offset, set, tensors_[i].nbytes);
      } else {
        impls_[i].set_data(const_cast<std::uint8_t*>(set));
      }
      set += padded(tensors_[i].nbytes);
    }
  }

  void print_outputs(std::uint32_t set, bool with_data) const {
    for (std::size_t i = inputs_; i < count_; ++i) {
      print_output(set, i - inputs_, impls_[i].data(), tensors_[i].nbytes, with_data);
    }
  }

 private:
  std::size_t inputs_;
  std::size_t count_;
  std::uint8_t* arena_;
  const payload::IoTensor* tensors_;
  TensorImpl* impls_;
  EValue** values_;
};

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
#endif

void run() {
  const Job job(__mailbox_start, static_cast<std::size_t>(__mailbox_end - __mailbox_start));
  start(job, "standalone", /*program=*/false);
  if (__arena_end - __arena_start < static_cast<std::ptrdiff_t>(kMethodPoolBytes)) {
    fail(Error::MemoryAllocationFailed, "the board's RAM is too small for the method pool");
  }

  const BackendInterface& backend = *executorch::runtime::get_backend_class(kBackendId);

  MemoryAllocator method_pool = pool(__arena_start, __arena_start + kMethodPoolBytes);
  FreeableBuffer processed(job.payload(), job.payload_bytes(), nullptr);
  BackendInitContext init_context(&method_pool, nullptr, "forward");
  std::uint64_t start_ticks = bsp_ticks();
  MARK_BEGIN();
  const auto handle = backend.init(init_context, &processed, {});
  MARK_END();
  const std::uint64_t init_ticks = bsp_ticks() - start_ticks;
  // The payload's header may be used only if init() accepted it.
  const auto& header = *reinterpret_cast<const payload::Header*>(job.payload());
  Line("INIT")
      .field("error", static_cast<std::uint32_t>(handle.error()))
      .field("ticks", init_ticks)
      .field("runtime_bytes", method_pool.used_size())
      .field("arena_bytes", handle.ok() ? header.arena_bytes : 0);
  if (!handle.ok()) {
    fail(handle.error(), "init() refused the payload");
  }

  MemoryAllocator rest = pool(__arena_start + kMethodPoolBytes, __arena_end);
  auto* arena = static_cast<std::uint8_t*>(
      take(rest, header.arena_bytes, "the board's RAM is too small for the arena"));
  MemoryAllocator temp_pool(header.arena_bytes, arena);
  Arguments arguments(header, arena, method_pool, rest);
  if (job.set_count() != 0 && job.set_bytes() != arguments.set_bytes()) {
    fail(Error::InvalidArgument, "the job's input sets have another size than the payload's");
  }
#ifdef ET_EVENT_TRACER_ENABLED
  CallTracer tracer(
      static_cast<std::uint32_t*>(take(rest, header.call_count * sizeof(std::uint32_t),
                                       "the board's RAM is too small to profile")),
      header.call_count);
  BackendExecutionContext execution_context(&tracer, &temp_pool, "forward");
#else
  BackendExecutionContext execution_context(nullptr, &temp_pool, "forward");
#endif

  for (std::uint32_t set = 0; set < job.set_count(); ++set) {
    arguments.set_inputs(job.set(set));
    temp_pool.reset();
    start_ticks = bsp_ticks();
    MARK_BEGIN();
    const Error error = backend.execute(execution_context, *handle, arguments.span());
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
    print_calls(header, set, tracer);
#endif
    arguments.print_outputs(set, job.has(kJobPrintOutputs));
  }
  backend.destroy(*handle);
  Line("STACK").field("bytes", bsp_stack_high_water());
}

}  // namespace
}  // namespace runner
}  // namespace cmsis_nn_delegate

int main() {
  cmsis_nn_delegate::runner::run();
  return 0;
}
