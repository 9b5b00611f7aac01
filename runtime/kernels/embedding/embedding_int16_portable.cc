#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding_int16(const void* args, const Bases& bases) {
  return copy_rows<std::int64_t, std::int16_t>(
      *static_cast<const payload::EmbeddingInt16Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kEmbeddingInt16> kEmbeddingInt16 =
    Kernel(operators::kEmbeddingInt16, run_embedding_int16);

}  // namespace cmsis_nn_delegate::portable
