#include "runtime/kernels/common/convolution_int16.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_wide_large_int16(const void* args, const Bases& bases) {
  return run_convolution_int16<payload::Conv2dWideLargeInt16Args, std::int64_t>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dWideLargeInt16> kConv2dWideLargeInt16 =
    Kernel(operators::kConv2dWideLargeInt16,
           run_convolution_int16<payload::Conv2dWideLargeInt16Args, std::int64_t>);

}  // namespace cmsis_nn_delegate::portable
