#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding_int32_int16(const void* args, const Bases& bases) {
  return copy_rows<std::int32_t, std::int16_t>(
      *static_cast<const payload::EmbeddingInt32Int16Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kEmbeddingInt32Int16> kEmbeddingInt32Int16 =
    Kernel(operators::kEmbeddingInt32Int16, run_embedding_int32_int16);

}  // namespace cmsis_nn_delegate::portable
