#include "runtime/kernels/common/softmax_rows.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

/// The rows of a mask in turn, again and again.
class RepeatedMask {
 public:
  RepeatedMask(const std::int8_t* rows, std::int32_t count, std::int32_t row_size)
      : first_(rows), row_(rows), end_(rows + count * row_size), row_size_(row_size) {}

  bool counts(std::int32_t i) const { return row_[i] == 0; }

  void next_row() {
    row_ += row_size_;
    if (row_ == end_) {
      row_ = first_;
    }
  }

 private:
  const std::int8_t* first_;
  const std::int8_t* row_;
  const std::int8_t* end_;
  std::int32_t row_size_;
};

}  // namespace

Error run_masked_softmax(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaskedSoftmaxArgs*>(args);
  softmax_rows::compute_rows<true>(
      a, bases.resolve<const std::int8_t>(a.input), bases.resolve<std::int8_t>(a.output),
      RepeatedMask(bases.resolve<const std::int8_t>(a.filter), a.mask_rows, a.row_size));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaskedSoftmax> kMaskedSoftmax =
    Kernel(operators::kMaskedSoftmax, run_masked_softmax);

}  // namespace cmsis_nn_delegate::portable
