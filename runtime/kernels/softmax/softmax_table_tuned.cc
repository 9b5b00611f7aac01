#include "runtime/kernels/softmax/softmax_table.h"
#include "runtime/kernels/softmax/softmax_table_members.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
std::int32_t cmsis_nn_delegate_softmax_most(const std::int8_t* input, std::int32_t size);
std::int32_t cmsis_nn_delegate_softmax_sum(const portable::SoftmaxRow* row);
void cmsis_nn_delegate_softmax_write(const portable::SoftmaxRow* row);
}

namespace {

struct MveSoftmaxRows {
  static std::int32_t most(const std::int8_t* input, std::int32_t size) {
    return cmsis_nn_delegate_softmax_most(input, size);
  }

  static std::int32_t sum(const portable::SoftmaxRow& row) {
    return cmsis_nn_delegate_softmax_sum(&row);
  }

  static void write(const portable::SoftmaxRow& row) { cmsis_nn_delegate_softmax_write(&row); }
};

}  // namespace

Error run_softmax_table(const void* args, const Bases& bases) {
  return portable::compute_softmax_table<MveOr<MveSoftmaxRows, portable::PlainSoftmaxRows>>(args,
                                                                                            bases);
}

constexpr KernelOf<payload::Opcode::kSoftmaxTable> kSoftmaxTable =
    portable::softmax_table_kernel(run_softmax_table);

}  // namespace cmsis_nn_delegate::tuned
