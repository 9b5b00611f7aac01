#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding_int32(const void* args, const Bases& bases) {
  return copy_rows<std::int32_t>(*static_cast<const payload::EmbeddingInt32Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kEmbeddingInt32> kEmbeddingInt32 =
    Kernel(operators::kEmbeddingInt32, run_embedding_int32);

}  // namespace cmsis_nn_delegate::portable
