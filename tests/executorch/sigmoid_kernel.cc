// Registers ExecuTorch's portable sigmoid before main().
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace torch::executor::native {

// Defined in kernels/portable/cpu/op_sigmoid.cpp: those files have no headers.
executorch::aten::Tensor& sigmoid_out(executorch::runtime::KernelRuntimeContext& context,
                                      const executorch::aten::Tensor& in,
                                      executorch::aten::Tensor& out);

}  // namespace torch::executor::native

EXECUTORCH_LIBRARY(aten, "sigmoid.out", torch::executor::native::sigmoid_out);
