#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding(const void* args, const Bases& bases) {
  return copy_rows<std::int64_t>(*static_cast<const payload::EmbeddingArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kEmbedding> kEmbedding =
    Kernel(operators::kEmbedding, run_embedding);

}  // namespace cmsis_nn_delegate::portable
