#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding_int32_float32(const void* args, const Bases& bases) {
  return copy_rows<std::int32_t, float>(
      *static_cast<const payload::EmbeddingInt32Float32Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kEmbeddingInt32Float32> kEmbeddingInt32Float32 =
    Kernel(operators::kEmbeddingInt32Float32, run_embedding_int32_float32);

}  // namespace cmsis_nn_delegate::portable
